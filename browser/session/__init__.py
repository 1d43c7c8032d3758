"""Sessions: a browser of our own, or one that a user has open."""
