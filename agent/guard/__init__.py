"""Limits what a run may spend and send, and the size of its context."""
