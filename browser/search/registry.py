"""Which engines there are, in which order they are asked, and how one is made.

An engine's module is loaded when it is first needed: most need lxml, and few are asked in a run.
"""

from __future__ import annotations

import difflib
import os
from importlib import import_module
from typing import TYPE_CHECKING

from browser.errors import SearchError
from browser.search.base import decode
from browser.types import Outcome, SearchPage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from browser.search.base import Provider
    from browser.search.chain import Source

# The default order: those with keys, one's own instance, then the keyless by how well they hold.
ENGINES: dict[str, str] = {
    "serper": "serper:Serper",
    "searxng": "searxng:SearXNG",
    "duckduckgo": "duckduckgo:DuckDuckGo",
    "wikipedia": "wikipedia:Wikipedia",
}
ALIASES = {"ddg": "duckduckgo", "wiki": "wikipedia", "searx": "searxng"}
KEYS = {"serper": "SERPER_API_KEY"}
NEEDS_ADDRESS = ("searxng",)


def engine_name(name: str) -> str:
    """Resolve an alias; raise `SearchError` with the nearest names for one that is unknown."""
    plain = name.strip().lower().replace("-", "_")
    known = ALIASES.get(plain, plain)
    if known in ENGINES or known == "corpus":
        return known
    near = difflib.get_close_matches(plain, [*ENGINES, *ALIASES], n=2)
    hint = f"Did you mean {' or '.join(near)}?" if near else f"There are: {', '.join(ENGINES)}."
    raise SearchError(f"no search provider is called {name!r}", hint=hint)


def load(name: str) -> type[Provider]:
    """Give an engine's class by its name or alias."""
    module, _, attribute = ENGINES[engine_name(name)].partition(":")
    loaded: type[Provider] = getattr(import_module(f"browser.search.providers.{module}"), attribute)
    return loaded


def build_providers(
    names: Sequence[str] | None = None,
    *,
    urls: Mapping[str, str] | None = None,
    keys: Mapping[str, str] | None = None,
    corpus: Source | None = None,
) -> list[Source]:
    """Make the providers of a chain, in order.

    `names` is the chosen order; None is the default one: the corpus, those with a key, SearXNG
    where its address is known, then the keyless. `urls` and `keys` map names (or aliases) to an
    address and a key; keys not given come from the environment. Raises `SearchError` for a name
    that is unknown, or `corpus` without one.
    """
    where = {engine_name(name): url for name, url in (urls or {}).items()}
    secrets = {engine_name(name): key for name, key in (keys or {}).items()}
    secrets = {n: secrets.get(n) or os.environ.get(env, "") for n, env in KEYS.items()}
    wanted = [engine_name(name) for name in names] if names else _default(where, secrets)
    if corpus is not None and "corpus" not in wanted:
        wanted.insert(0, "corpus")
    return [_make(name, where, secrets, corpus) for name in dict.fromkeys(wanted)]


def parse_results(engine: str, body: str | bytes, status: int = 200) -> SearchPage:
    """Read an engine's answer: results, an honest `empty`, `blocked`, `error` for a new layout."""
    if engine_name(engine) == "corpus":
        return SearchPage(Outcome.ERROR, detail="the corpus has no page to parse")
    return load(engine)().read(decode(body), status)


def _default(urls: Mapping[str, str], keys: Mapping[str, str]) -> list[str]:
    keyed = [name for name in ENGINES if keys.get(name)]
    keyless = [
        name
        for name in ENGINES
        if name not in KEYS and (name not in NEEDS_ADDRESS or urls.get(name))
    ]
    return keyed + keyless


def _make(
    name: str, urls: Mapping[str, str], keys: Mapping[str, str], corpus: Source | None
) -> Source:
    if name != "corpus":
        return load(name)(url=urls.get(name), key=keys.get(name))
    if corpus is None:
        raise SearchError("the corpus provider has no folder", hint="Give one with --corpus DIR.")
    return corpus
