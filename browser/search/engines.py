"""Which search engines there are, in which order they are asked, and how a chain's are made.

To add one, write its class in `json_engines.py` or `html_engines.py`, list it at the end of that
file, and put its name here; or bring it in a package (docs/plugins.md).
"""

from __future__ import annotations

import difflib
import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from browser.errors import SearchError
from browser.plugins import load_plugin, plugins
from browser.search.json_engines import JSON_PROVIDERS, Declared
from browser.search.provider import RenderedProvider, decode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from browser.search.declared import Declaration
    from browser.search.provider import Render, SearchProvider, SearchSource
    from browser.types import SearchPage

# Engines that search the whole web, or an encyclopaedia of it, in the default order: those with
# keys, one's own instance, then the keyless by how well they hold for people who ask little.
# Wikipedia turns nobody away: last.
GENERAL = (
    "serper", "tavily", "brave_api", "searxng", "duckduckgo", "brave", "mojeek", "startpage",
    "bing", "google", "wikipedia",
)  # fmt: skip
# Those that are asked only when they are named: for one kind of source, or a second form.
NAMED = ("duckduckgo_lite", "yandex", "arxiv", "openalex")
ENGINES = (*GENERAL, *NAMED)
# Engines that can also be asked in the real browser, as NAME_browser.
IN_BROWSER = ("google", "bing", "duckduckgo", "brave", "startpage")
# Those of the package of plug-ins `urchin-extras`.
EXTRAS = ("github", "hackernews", "reddit", "stackexchange")
ALIASES = {
    "ddg": "duckduckgo",
    "ddg_lite": "duckduckgo_lite",
    "hn": "hackernews",
    "searx": "searxng",
    "stackoverflow": "stackexchange",
    "wiki": "wikipedia",
}
_BROWSER = "_browser"


def engine_name(name: str, declared: Sequence[str] = ()) -> str:
    """Resolve an alias; raise `SearchError` with the nearest names for one that is unknown."""
    if name in declared:
        return name
    plain = name.strip().lower().replace("-", "_")
    known = ALIASES.get(plain, plain)
    if known in (*ENGINES, "corpus", *(f"{engine}{_BROWSER}" for engine in IN_BROWSER)):
        return known
    for brought in (name, known):
        if plugins("search", brought):
            return brought
    near = difflib.get_close_matches(plain, [*ENGINES, *EXTRAS, *ALIASES, *declared], n=2)
    hint = f"Did you mean {' or '.join(near)}?" if near else f"There are: {', '.join(ENGINES)}."
    if known in EXTRAS:
        hint = "`pip install urchin-extras` brings it."
    raise SearchError(f"no search provider is called {name!r}", hint=hint)


def load(name: str) -> type[SearchProvider]:
    """Give an engine's class by its name or alias; only those read from markup load a parser."""
    name = engine_name(name)
    if name in JSON_PROVIDERS:
        return JSON_PROVIDERS[name]
    loaded: type[SearchProvider] = (
        _markup().HTML_PROVIDERS[name] if name in ENGINES else load_plugin("search", name)
    )
    return loaded


def _markup() -> Any:
    """The module that needs BeautifulSoup and lxml, loaded when one of its engines is asked."""
    return import_module("browser.search.html_engines")


def keys_from(environment: Mapping[str, str], named: Sequence[str] = ()) -> dict[str, str]:
    """Find the keys of engines among environment variables, by engine.

    Of those built in only JSON ones have any; `named` may be plug-ins.
    """
    plain = (ALIASES.get(name, name) for name in named)
    others = {name: load(name) for name in plain if name not in (*ENGINES, "corpus")}
    found = {
        name: next(filter(None, map(environment.get, engine.key_variables)), "")
        for name, engine in {**JSON_PROVIDERS, **others}.items()
    }
    return {name: key for name, key in found.items() if key}


def build_providers(
    names: Sequence[str] | None = None,
    *,
    urls: Mapping[str, str] | None = None,
    keys: Mapping[str, str] | None = None,
    corpus: SearchSource | None = None,
    declared: Sequence[Declaration] = (),
    render: Render | None = None,
) -> list[SearchSource]:
    """Make the providers of a chain, in order.

    `names` is the chosen order; None is the default one: the corpus, those with a key, what is
    declared, SearXNG where its address is known, then the keyless. `urls` and `keys` map names
    (or aliases) to an address and a key; without `keys` the environment has them. `render` opens
    a page in the real browser, for `google_browser` and the like. Raises `SearchError` for a name
    that is unknown, or `corpus` without one.
    """
    own = {declaration.name: declaration for declaration in declared}
    known = tuple(own)
    where = {engine_name(name, known): url for name, url in (urls or {}).items()}
    given = keys_from(os.environ) if keys is None else keys
    secrets = {engine_name(name, known): key for name, key in given.items()}
    wanted = [engine_name(name, known) for name in names or ()]
    if not wanted:
        wanted = [name for name in GENERAL if secrets.get(name)] + list(own)
        wanted += [name for name in GENERAL if _is_keyless(load(name), where.get(name))]
    if corpus is not None and "corpus" not in wanted:
        wanted.insert(0, "corpus")
    if "corpus" in wanted and corpus is None:
        raise SearchError("the corpus provider has no folder", hint="Give one with --corpus DIR.")

    def make(name: str) -> SearchSource:
        url, key = where.get(name), secrets.get(name)
        if name == "corpus" and corpus is not None:
            return corpus
        if name in own:
            declared_as = _markup().DeclaredPage if own[name].item else Declared
            source: SearchSource = declared_as(own[name], url=url, key=key)
            return source
        plain = name.removesuffix(_BROWSER)
        if plain == name or plain not in IN_BROWSER:
            return load(name)(url=url, key=key)
        return RenderedProvider(load(plain)(url=url or where.get(plain), key=key), render)

    return [make(name) for name in dict.fromkeys(wanted)]


def _is_keyless(engine: type[SearchProvider], url: str | None) -> bool:
    return not (engine.key_variables and engine.needs_key) and bool(engine.url or url)


def parse_results(engine: str, body: str | bytes, status: int = 200) -> SearchPage:
    """Read an engine's answer: results, an honest `empty`, `blocked`, `error` for a new layout.

    Raises `SearchError` for an engine that is unknown or has no answer to parse.
    """
    name = engine_name(engine)
    if name == "corpus":
        raise SearchError("the corpus has no result page", hint="Use Corpus(...).search(query).")
    return load(name.removesuffix(_BROWSER))().read(decode(body), status)
