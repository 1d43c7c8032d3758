"""Runs: setup, answering the question, resuming, replaying, and post-run tasks."""
