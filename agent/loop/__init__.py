"""The agent loop: first messages, steps, subtasks, and the checks of an answer."""
