"""The extractive model: code that searches, reads, follows up on what it finds, and quotes."""
