"""Answering a question: in one loop, or in parts whose results are put together."""
