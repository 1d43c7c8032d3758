"""Which engines there are, in which order they are asked, and how one is made.

An engine's module is loaded when it is first needed: most need lxml, and few are asked in a run.
"""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from browser.errors import SearchError
from browser.search.base import decode
from browser.search.rendered import Rendered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from browser.search.base import Provider
    from browser.search.chain import Source
    from browser.search.providers.declared import Declaration
    from browser.search.rendered import Render
    from browser.types import SearchPage


@dataclass(frozen=True, slots=True)
class Engine:
    """Where an engine's class is, and when it is asked without being named.

    `keys` are environment variables that may hold its key; `general` engines search the whole
    web or an encyclopaedia of it, the others one kind of source.
    """

    place: str
    keys: tuple[str, ...] = ()
    general: bool = True
    needs_key: bool = False
    needs_address: bool = False


# In the default order: those with keys, one's own instance, then the keyless by how well they
# hold for people who ask little. Wikipedia turns nobody away: last among the general ones.
ENGINES: dict[str, Engine] = {
    "serper": Engine("serper:Serper", ("SERPER_API_KEY",), needs_key=True),
    "tavily": Engine("tavily:Tavily", ("TAVILY_API_KEY",), needs_key=True),
    "brave_api": Engine(
        "brave_api:BraveApi", ("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"), needs_key=True
    ),
    "searxng": Engine("searxng:SearXNG", needs_address=True),
    "duckduckgo": Engine("duckduckgo:DuckDuckGo"),
    "brave": Engine("brave:Brave"),
    "mojeek": Engine("mojeek:Mojeek"),
    "startpage": Engine("startpage:Startpage"),
    "bing": Engine("bing:Bing"),
    "google": Engine("google:Google"),
    "wikipedia": Engine("wikipedia:Wikipedia"),
    "duckduckgo_lite": Engine("duckduckgo_lite:DuckDuckGoLite", general=False),
    "arxiv": Engine("arxiv:Arxiv", general=False),
    "openalex": Engine("openalex:OpenAlex", ("OPENALEX_API_KEY",), general=False),
    "github": Engine("github:GitHub", ("GITHUB_TOKEN",), general=False),
    "hackernews": Engine("hackernews:HackerNews", general=False),
    "stackexchange": Engine("stackexchange:StackExchange", ("STACKEXCHANGE_KEY",), general=False),
    "reddit": Engine("reddit:Reddit", general=False),
}
# Engines that can also be asked in the real browser, as NAME_browser.
IN_BROWSER = ("google", "bing", "duckduckgo", "brave", "startpage")
ALIASES = {
    "ddg": "duckduckgo",
    "ddg_lite": "duckduckgo_lite",
    "hn": "hackernews",
    "searx": "searxng",
    "stackoverflow": "stackexchange",
    "wiki": "wikipedia",
}


def engine_name(name: str, declared: Sequence[str] = ()) -> str:
    """Resolve an alias; raise `SearchError` with the nearest names for one that is unknown."""
    if name in declared:
        return name
    plain = name.strip().lower().replace("-", "_")
    known = ALIASES.get(plain, plain)
    if known in ENGINES or known == "corpus" or _plain(known) in IN_BROWSER:
        return known
    near = difflib.get_close_matches(plain, [*ENGINES, *ALIASES, *declared], n=2)
    hint = f"Did you mean {' or '.join(near)}?" if near else f"There are: {', '.join(ENGINES)}."
    raise SearchError(f"no search provider is called {name!r}", hint=hint)


def load(name: str) -> type[Provider]:
    """Give an engine's class by its name or alias."""
    loaded: type[Provider] = _class_at(ENGINES[engine_name(name)].place)
    return loaded


def _class_at(place: str) -> Any:
    module, _, attribute = place.partition(":")
    return getattr(import_module(f"browser.search.providers.{module}"), attribute)


def keys_from(environment: Mapping[str, str]) -> dict[str, str]:
    """Find the keys of engines among environment variables, by engine."""
    found = {
        name: next((environment[key] for key in engine.keys if environment.get(key)), "")
        for name, engine in ENGINES.items()
    }
    return {name: key for name, key in found.items() if key}


def build_providers(
    names: Sequence[str] | None = None,
    *,
    urls: Mapping[str, str] | None = None,
    keys: Mapping[str, str] | None = None,
    corpus: Source | None = None,
    declared: Sequence[Declaration] = (),
    render: Render | None = None,
) -> list[Source]:
    """Make the providers of a chain, in order.

    `names` is the chosen order; None is the default one: the corpus, those with a key, what is
    declared, SearXNG where its address is known, then the keyless. `urls` and `keys` map names
    (or aliases) to an address and a key; without `keys` the environment has them. `render` opens
    a page in the real browser, for `google_browser` and the like. Raises `SearchError` for a name
    that is unknown, or `corpus` without one.
    """
    own = {declaration.name: declaration for declaration in declared}
    where = {engine_name(name, tuple(own)): url for name, url in (urls or {}).items()}
    given = keys_from(os.environ) if keys is None else keys
    secrets = {engine_name(name, tuple(own)): key for name, key in given.items()}
    wanted = [engine_name(name, tuple(own)) for name in names or ()]
    wanted = wanted or _default(where, secrets, tuple(own))
    if corpus is not None and "corpus" not in wanted:
        wanted.insert(0, "corpus")
    order = dict.fromkeys(wanted)
    if "corpus" in order and corpus is None:
        raise SearchError("the corpus provider has no folder", hint="Give one with --corpus DIR.")
    return [
        corpus if name == "corpus" and corpus else _make(name, where, secrets, own, render)
        for name in order
    ]


def parse_results(engine: str, body: str | bytes, status: int = 200) -> SearchPage:
    """Read an engine's answer: results, an honest `empty`, `blocked`, `error` for a new layout.

    Raises `SearchError` for an engine that is unknown or has no answer to parse.
    """
    name = engine_name(engine)
    if name == "corpus":
        raise SearchError("the corpus has no result page", hint="Use Corpus(...).search(query).")
    return load(_plain(name) or name)().read(decode(body), status)


def _default(
    urls: Mapping[str, str], keys: Mapping[str, str], declared: Sequence[str]
) -> list[str]:
    general = [name for name, engine in ENGINES.items() if engine.general]
    keyed = [name for name in general if keys.get(name)]
    keyless = [
        name
        for name in general
        if not ENGINES[name].needs_key and (urls.get(name) or not ENGINES[name].needs_address)
    ]
    return [*keyed, *declared, *keyless]


def _make(
    name: str,
    urls: Mapping[str, str],
    keys: Mapping[str, str],
    declared: Mapping[str, Declaration],
    render: Render | None,
) -> Source:
    url, key = urls.get(name), keys.get(name)
    if name in declared:
        place = "declared_page:DeclaredPage" if declared[name].item else "declared:Declared"
        own: Source = _class_at(place)(declared[name], url=url, key=key)
        return own
    if name in ENGINES:
        return load(name)(url=url, key=key)
    return Rendered(load(_plain(name))(url=url or urls.get(_plain(name)), key=key), render)


def _plain(name: str) -> str:
    """Give the engine of `google_browser`; other names give ''."""
    return name.removesuffix("_browser") if name.endswith("_browser") else ""
