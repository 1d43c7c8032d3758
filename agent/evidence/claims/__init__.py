"""Claims held against passages in code: one check a file, and what the checks share."""
