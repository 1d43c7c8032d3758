"""Sessions: a browser of our own, or one that a person has open."""
