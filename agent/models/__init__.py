"""Models: scripted, local, and behind an API."""
