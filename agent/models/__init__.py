"""Models: a scripted one, a judge in a folder, and those behind an API."""
