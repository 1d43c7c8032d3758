"""The language of claims and pages: words, figures, dates, names and clauses, read from text."""
