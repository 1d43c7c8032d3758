"""Search: web search engines and a local corpus behind one chain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.search.chain import Chain, ChainResult
from browser.search.engines import build_providers, parse_results
from browser.search.state import SearchCache

if TYPE_CHECKING:
    from browser.search.corpus import Corpus

__all__ = ["Chain", "ChainResult", "Corpus", "SearchCache", "build_providers", "parse_results"]


def __getattr__(name: str) -> object:
    """Import the local corpus only when needed: most runs have none."""
    if name == "Corpus":
        from browser.search.corpus import Corpus  # noqa: PLC0415 - see above

        return Corpus
    raise AttributeError(name)
