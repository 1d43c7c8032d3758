"""A folder of files as a search provider."""

from browser.search.corpus.provider import Corpus

__all__ = ["Corpus"]
