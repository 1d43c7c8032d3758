"""The extractive model: code that searches, reads, follows a second hop, ranks and quotes."""
