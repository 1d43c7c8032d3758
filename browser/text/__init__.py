"""Words, sentences, languages, ranking and cleaning of text, shared by all other packages."""
