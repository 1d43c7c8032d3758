"""Sessions: in our own browser, or in one that the user has open."""
