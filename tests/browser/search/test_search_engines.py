"""Which engines exist, in which order, and how they are queried."""

from __future__ import annotations

import subprocess
import sys

import pytest

from browser.errors import SearchError
from browser.search import html_engines, json_engines, parse_results
from browser.search.declared import Declaration
from browser.search.engines import build_providers, engine_name, keys_from, load
from browser.search.provider import SearchProvider
from browser.types import SearchQuery
from tests.browser.search.pages import ENGINES


def test_unknown_engine_error_suggests_nearest_name() -> None:
    with pytest.raises(SearchError, match="'dukduckgo'") as failure:
        build_providers(["dukduckgo"])
    assert "duckduckgo" in failure.value.hint
    assert engine_name("DDG") == "duckduckgo"
    with pytest.raises(SearchError):
        parse_results("corpus", "")


def test_default_order_is_keyed_then_custom_then_keyless() -> None:
    own = Declaration("mine", "https://mine.example/?q={query}")
    order = [
        source.name
        for source in build_providers(
            keys={"tavily": "k"}, urls={"searxng": "http://s.example"}, declared=[own]
        )
    ]

    assert order[:4] == ["tavily", "mine", "searxng", "duckduckgo"]
    assert order[-1] == "wikipedia"
    assert "serper" not in order
    assert "arxiv" not in order
    assert "searxng" not in [source.name for source in build_providers(keys={})]


def test_keys_from_reads_environment_variables() -> None:
    assert keys_from({"BRAVE_SEARCH_API_KEY": "b", "SERPER_API_KEY": ""}) == {"brave_api": "b"}


@pytest.mark.parametrize("name", ENGINES)
def test_listed_engines_load_class_of_same_name(name: str) -> None:
    assert load(name).name == name


@pytest.mark.parametrize("name", ENGINES)
def test_engines_accept_all_filters(name: str) -> None:
    url = "http://searx.example" if name == "searxng" else None
    engine = load(name)(url=url, key="k")
    query = SearchQuery(
        "tides at Port Elm", site="elm.example", since="2026-01-02", lang="de", region="at",
        limit=7, page=3,
    )  # fmt: skip

    for request in engine.requests(query):
        assert request.url.startswith(("http://", "https://"))
        said = f"{request.url} {request.params} {request.form} {request.json}"
        assert "Elm" in said
        assert "k" not in (request.params or {})


def test_declared_engine_quotes_template_values() -> None:
    own = Declaration(
        "mine", "https://mine.example/s?q={query}&p={page}", rows="", headers={"X-Key": "{key}"}
    )
    (engine,) = build_providers(["mine"], declared=[own], keys={"mine": "s3"})

    request = engine.request(SearchQuery("a&b=c d", page=2))  # type: ignore[attr-defined]

    assert request.url == "https://mine.example/s?q=a%26b%3Dc%20d&p=2"
    assert request.headers == {"X-Key": "s3"}
    with pytest.raises(SearchError):
        Declaration("bad", "file:///etc/passwd?{query}")


def test_importing_search_loads_no_parser_or_http_client() -> None:
    code = (
        "import sys, browser.search as s; s.build_providers(['serper', 'wikipedia'], keys={});"
        "print([m for m in sys.modules if m.startswith(('lxml', 'httpx2', 'playwright'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_every_implemented_engine_is_registered() -> None:
    written = {
        value.name
        for module in (json_engines, html_engines)
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, SearchProvider)
        and value.__module__ == module.__name__
        and getattr(value, "name", "")
    }
    assert written <= set(ENGINES)
