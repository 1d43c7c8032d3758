"""The registry of search engines, their default order, and the providers of a chain.

To add one, write its class in `json_engines.py`, or in `html_engines.py` and add its name here; or
provide it in a package (docs/plugins.md).
"""

from __future__ import annotations

import difflib
import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from browser.errors import SearchError
from browser.plugins import IN_EXTRAS, extras_hint, load_plugin, plugins
from browser.search.json_engines import JSON_PROVIDERS, DeclaredJsonEngine
from browser.search.provider import decode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from browser.search.declared import Declaration
    from browser.search.provider import Render, SearchProvider, SearchSource
    from browser.types import SearchPage

# General engines in the default order: those with keys, the user's own SearXNG, then those without
# keys, ordered by how long they tolerate occasional queries. Wikipedia never blocks, so it is last.
GENERAL_ENGINES = (
    "serper", "tavily", "brave_api", "searxng", "duckduckgo", "brave", "mojeek", "startpage",
    "bing", "google", "wikipedia",
)  # fmt: skip
# Used only if named: engines for one type of source, or variants of another engine.
_HTML_IF_NAMED = ("duckduckgo_lite", "yandex", "arxiv")  # their module is slow to load
ENGINES_IF_NAMED = (
    *_HTML_IF_NAMED,
    *(name for name in JSON_PROVIDERS if name not in GENERAL_ENGINES),
)
ENGINES = (*GENERAL_ENGINES, *ENGINES_IF_NAMED)
# Engines that can also be queried through the real browser, as NAME_browser.
BROWSER_ENGINES = ("google", "bing", "duckduckgo", "brave", "startpage")
ALIASES = {
    "ddg": "duckduckgo",
    "ddg_lite": "duckduckgo_lite",
    "hn": "hackernews",
    "searx": "searxng",
    "stackoverflow": "stackexchange",
    "wiki": "wikipedia",
}
_BROWSER_SUFFIX = "_browser"


def engine_name(name: str, declared: Sequence[str] = ()) -> str:
    """Resolve an alias; for an unknown name, raises `SearchError` with the closest names."""
    if name in declared:
        return name
    plain = name.strip().lower().replace("-", "_")
    known = ALIASES.get(plain, plain)
    if known in (*ENGINES, "corpus", *(f"{engine}{_BROWSER_SUFFIX}" for engine in BROWSER_ENGINES)):
        return known
    for plugin in (name, known):
        if plugins("search", plugin):
            return plugin
    near = difflib.get_close_matches(
        plain, [*ENGINES, *IN_EXTRAS["search"], *ALIASES, *declared], n=2
    )
    hint = f"Did you mean {' or '.join(near)}?" if near else f"Available: {', '.join(ENGINES)}."
    if known in IN_EXTRAS["search"]:
        hint = extras_hint("search")
    raise SearchError(f"no search provider named {name!r}", hint=hint)


def load(name: str) -> type[SearchProvider]:
    """Return an engine's class by its name or alias; only HTML engines import a parser."""
    name = engine_name(name)
    if name in JSON_PROVIDERS:
        return JSON_PROVIDERS[name]
    engine: type[SearchProvider] = (
        _html_engines().HTML_PROVIDERS[name] if name in ENGINES else load_plugin("search", name)
    )
    return engine


def _html_engines() -> Any:
    """The HTML engine module, imported on demand: it needs lxml."""
    return import_module("browser.search.html_engines")


def keys_from(environment: Mapping[str, str], named: Sequence[str] = ()) -> dict[str, str]:
    """Find the engines' keys in environment variables; returns them by engine.

    Of the built-in engines, only those with JSON responses take keys; `named` may include plug-ins.
    """
    engines: dict[str, type[SearchProvider]] = dict(JSON_PROVIDERS)
    for name in (ALIASES.get(name, name) for name in named):
        if name not in (*ENGINES, "corpus"):
            engines[name] = load(name)
    keys: dict[str, str] = {}
    for name, engine in engines.items():
        for variable in engine.key_variables:
            if key := environment.get(variable):
                keys[name] = key
                break
    return keys


def build_providers(
    names: Sequence[str] | None = None,
    *,
    urls: Mapping[str, str] | None = None,
    keys: Mapping[str, str] | None = None,
    corpus: SearchSource | None = None,
    declared: Sequence[Declaration] = (),
    render: Render | None = None,
) -> list[SearchSource]:
    """Create a chain's providers, in order.

    `names` is the order; None means the default: the corpus, engines with a key, declared engines,
    SearXNG if its address is known, then engines without a key. `urls` and `keys` map names (or
    aliases) to an address and a key; without `keys`, they are read from the environment. `render`
    opens a page in the real browser, for engines such as `google_browser`. Raises `SearchError` for
    an unknown name, or for `corpus` if there is no corpus.
    """
    declarations = {declaration.name: declaration for declaration in declared}
    known = tuple(declarations)
    addresses = {engine_name(name, known): url for name, url in (urls or {}).items()}
    named_keys = keys_from(os.environ) if keys is None else keys
    secrets = {engine_name(name, known): key for name, key in named_keys.items()}
    order = [engine_name(name, known) for name in names or ()]
    if not order:
        order = [name for name in GENERAL_ENGINES if secrets.get(name)] + list(declarations)
        order += [name for name in GENERAL_ENGINES if _is_keyless(load(name), addresses.get(name))]
    if corpus is not None and "corpus" not in order:
        order.insert(0, "corpus")
    if "corpus" in order and corpus is None:
        raise SearchError(
            "the corpus provider has no folder", hint="Specify a folder with --corpus DIR."
        )

    def make(name: str) -> SearchSource:
        url, key = addresses.get(name), secrets.get(name)
        if name == "corpus" and corpus is not None:
            return corpus
        if declaration := declarations.get(name):
            kind = _html_engines().DeclaredPage if declaration.item else DeclaredJsonEngine
            source: SearchSource = kind(declaration, url=url, key=key)
            return source
        plain = name.removesuffix(_BROWSER_SUFFIX)
        if plain == name or plain not in BROWSER_ENGINES:
            return load(name)(url=url, key=key)
        engine = load(plain)(url=url or addresses.get(plain), key=key)
        engine.use_browser(render)
        return engine

    return [make(name) for name in dict.fromkeys(order)]


def _is_keyless(engine: type[SearchProvider], url: str | None) -> bool:
    return not (engine.key_variables and engine.needs_key) and bool(engine.url or url)


def parse_results(engine: str, body: str | bytes, status: int = 200) -> SearchPage:
    """Parse an engine's answer: results, `empty`, `blocked`, or `error` for an unknown layout.

    Raises `SearchError` for an unknown engine, or for one whose answers cannot be parsed.
    """
    name = engine_name(engine)
    if name == "corpus":
        raise SearchError("the corpus has no result page", hint="Use Corpus(...).search(query).")
    return load(name.removesuffix(_BROWSER_SUFFIX))().read(decode(body), status)
