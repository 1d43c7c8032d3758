"""A run: the question, what it needs, its way to a report, and going on with one on record."""
