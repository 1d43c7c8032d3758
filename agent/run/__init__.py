"""Runs: setting one up, answering its question, resuming and replaying it, post-run tasks."""
