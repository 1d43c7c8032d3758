"""The agent loop: opening messages, steps, subtasks, and answer checks."""
