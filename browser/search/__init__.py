"""Search: web search engines and a local corpus behind one chain."""

from browser.search.chain import Chain, ChainResult
from browser.search.corpus import Corpus
from browser.search.engines import build_providers, parse_results
from browser.search.state import SearchCache

__all__ = ["Chain", "ChainResult", "Corpus", "SearchCache", "build_providers", "parse_results"]
