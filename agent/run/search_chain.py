"""The search of a run: its providers in the order asked, with keys, addresses and a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.errors import UsageError
from browser.errors import SearchError
from browser.plugins import PluginBroken
from browser.search.chain import Chain
from browser.search.engines import build_providers, engine_name, keys_from
from browser.search.provider import declared
from browser.search.state import SearchCache

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
    from pathlib import Path

    from agent.config import Options
    from browser.net.http import HttpClient
    from browser.search.corpus import Corpus
    from browser.search.search_results import SearchSource

    Renderer = Callable[[str, float], Awaitable[tuple[str, str]]]

_QUERY = "{query}"
"""In the address of a search provider, it says that the provider is one's own."""


def search_chain(
    options: Options,
    environ: Mapping[str, str],
    http: HttpClient,
    render: Renderer,
) -> Chain:
    """Build the chain; `render` draws an engine's page in the browser.

    Raises `UsageError` for a provider or a corpus that cannot be used.
    """
    folder = options.data
    return Chain(
        _providers(options, folder, environ, render),
        http,
        folder / "search-rests.db",
        cache=SearchCache(folder / "search-cache.db"),
    )


def _providers(
    options: Options,
    folder: Path,
    environ: Mapping[str, str],
    render: Renderer,
) -> list[SearchSource]:
    named = dict(_named_url(value) for value in options.search_url)
    urls = {name: url for name, url in named.items() if _QUERY not in url}
    if options.searxng_url:
        urls["searxng"] = options.searxng_url
    try:
        own = [declared(name, url) for name, url in named.items() if _QUERY in url]
        # The key of an engine of one's own stands where those of the others do.
        keys = {one.name: environ.get(f"{one.name.upper()}_API_KEY", "") for one in own}
        return build_providers(
            options.search or None,
            urls=urls,
            keys={**keys_from(environ, _brought(options.search, named)), **keys},
            corpus=_corpus(options, folder),
            declared=own,
            render=render,
        )
    except (SearchError, PluginBroken) as error:
        raise UsageError(str(error), hint=error.hint) from error


def _brought(names: Sequence[str], declared: Container[str]) -> list[str]:
    """Leave out what the person declared, and engines drawn in the browser."""
    plain = (name for name in names if name not in declared and not name.endswith("_browser"))
    return [engine_name(name) for name in plain]


def _named_url(value: str) -> tuple[str, str]:
    name, sign, url = value.partition("=")
    if not sign or not url:
        raise UsageError(f"--search-url {value!r} is not NAME=URL")
    return name, url


def _corpus(options: Options, folder: Path) -> Corpus | None:
    if options.corpus is None:
        return None
    # Most runs have no folder, and reading files loads what reads pages.
    from browser.extract import extract_body  # noqa: PLC0415
    from browser.search.corpus import Corpus  # noqa: PLC0415

    return Corpus(options.corpus, folder / "corpus", extract_body)


def search_defaults(options: Options) -> dict[str, object]:
    """Give the filters that every search of the run has."""
    named = {
        "site": options.site,
        "since": options.since,
        "lang": options.lang,
        "region": options.region,
    }
    return {key: value for key, value in named.items() if value}
