"""Text utilities that all packages share: words, sentences, languages, ranking, cleaning."""
