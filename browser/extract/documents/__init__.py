"""Readers of documents that are not HTML: Office files, PDF, e-books, mail, archives."""
