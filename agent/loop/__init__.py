"""The loop of a question, what it begins with, its subtasks and reports, and guided mode."""
