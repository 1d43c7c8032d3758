"""Runs: setting up, answering the question, resuming and replaying, and post-run tasks."""
