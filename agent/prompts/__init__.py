"""Prompts: Markdown files, readable as prose, assembled by need."""
