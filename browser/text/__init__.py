"""Text utilities shared by all other packages: words, sentences, languages, ranking, cleaning."""
