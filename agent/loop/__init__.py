"""The agent loop: first messages, steps, subtasks, and answer checks."""
