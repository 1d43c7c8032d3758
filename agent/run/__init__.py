"""Runs: wiring one together, answering its question, resuming and replaying it, jobs after it."""
