"""The loop: what it begins with, its turns, and the guided way for models that cannot drive it."""
