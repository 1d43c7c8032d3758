"""The loop of a question: what it begins with, its steps and subtasks, the gate of its answer."""
