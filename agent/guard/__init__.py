"""Limits on what a run may spend and send, and on the size of its context."""
