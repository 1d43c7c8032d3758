"""Finding memories: which rows may answer, and how well each does."""
