"""The extractive model: code that searches, reads, follows a hop, ranks and quotes."""
