"""Words, sentences, ranking and hygiene of text: what FIND, READ, the corpus and memory share."""
