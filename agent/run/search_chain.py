"""Builds a run's chain of search providers from its settings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agent.errors import UsageError
from browser.errors import SearchError
from browser.plugins import PluginBroken
from browser.search.chain import Chain
from browser.search.declared import Declaration
from browser.search.engines import build_providers, engine_name, keys_from
from browser.search.state import SearchCache

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from agent.options import Options
    from agent.tools.context import Record
    from browser.net.http import HttpClient
    from browser.search.provider import SearchSource

_QUERY_PLACEHOLDER: Final = "{query}"
"""A `--search-url` that contains this defines a custom provider; any other sets the address of a
built-in one.
"""


def make_search_chain(
    options: Options,
    environ: Mapping[str, str],
    http: HttpClient,
    render: Callable[[str, float], Awaitable[tuple[str, str]]],
) -> Chain:
    """Build the chain of search providers; some render a search engine's page in the browser."""
    addresses: dict[str, str] = {}
    for value in options.search_url:
        name, _, url = value.partition("=")
        if not url:
            raise UsageError(f"--search-url {value!r} does not have the form NAME=URL")
        addresses[name] = url
    urls = {name: url for name, url in addresses.items() if _QUERY_PLACEHOLDER not in url}
    if options.searxng_url:
        urls["searxng"] = options.searxng_url
    corpus: SearchSource | None = None
    try:
        if options.corpus is not None:
            # Imported here because most runs have no folder, and extraction loads large libraries.
            from browser.extract import extract_for_index  # noqa: PLC0415
            from browser.search.corpus import Corpus  # noqa: PLC0415
            from browser.search.zotero import zotero_collection  # noqa: PLC0415

            collection = zotero_collection(options.corpus, os.environ)
            if collection:
                collection.files()  # report a missing library or collection immediately
            corpus = Corpus(
                collection.folder if collection else options.corpus,
                options.data / "corpus",
                extract_for_index,
                only=collection.files if collection else None,
                part=f" {collection.name}" if collection else "",
            )
        declared = [
            Declaration.parse(name, url)
            for name, url in addresses.items()
            if _QUERY_PLACEHOLDER in url
        ]
        # Engines rendered in the browser do not need keys; for user-defined engines, keys are
        # optional.
        keyed = [n for n in options.search if n not in addresses and not n.endswith("_browser")]
        keys = keys_from(environ, [engine_name(name) for name in keyed])
        keys |= {d.name: environ.get(f"{d.name.upper()}_API_KEY", "") for d in declared}
        providers = build_providers(
            options.search or None,
            urls=urls,
            keys=keys,
            corpus=corpus,
            declared=declared,
            render=render,
        )
    except (SearchError, PluginBroken) as error:
        raise UsageError(str(error), hint=error.hint) from error
    cache = SearchCache(options.data / "search-cache.db")
    return Chain(providers, http, options.data / "search-cooldowns.db", cache=cache)


async def report_indexing(chain: Chain, record: Record) -> None:
    """Index the user's folder in the background, starting with the run, and record progress."""
    if not any(provider.local for provider in chain.providers):
        return
    from browser.search.corpus import Corpus  # noqa: PLC0415 - loaded by the chain

    for provider in chain.providers:
        if not isinstance(provider, Corpus):
            continue
        async for state in provider.follow():
            unread = () if state.left else state.unread
            record(
                "corpus.indexed",
                files=state.files,
                left=state.left,
                unread=[
                    {"path": str(Path(path).relative_to(provider.folder)), "reason": reason}
                    for path, reason in unread
                ],
            )
