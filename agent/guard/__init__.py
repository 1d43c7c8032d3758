"""Guard rails: what a run may spend and send, how its context may grow, when it goes in circles."""
