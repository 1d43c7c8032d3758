"""Sessions: our own browser, or one that a user has open."""
