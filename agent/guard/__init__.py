"""Guard rails: what a run may spend and send, and how its context may grow."""
