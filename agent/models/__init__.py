"""Models: a scripted one, the local ones, and those behind an API."""
