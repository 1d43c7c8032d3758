"""Filters in each engine's own form."""

from __future__ import annotations

from dataclasses import replace

import pytest

from browser.errors import SearchError
from browser.search.declared import Declaration
from browser.search.engines import load
from browser.search.json_engines import DeclaredJsonEngine
from browser.types import Outcome, SearchQuery

PLAIN = SearchQuery("tides")


def test_mojeek_omits_offset_for_first_page() -> None:
    mojeek = load("mojeek")()
    assert "s" not in (mojeek.request(PLAIN).params or {})
    assert (mojeek.request(replace(PLAIN, page=3)).params or {})["s"] == "21"


def test_startpage_sends_region_and_detects_captcha() -> None:
    startpage = load("startpage")()
    request = startpage.request(replace(PLAIN, lang="de", region="at"))
    assert request.headers["Cookie"] == "preferences=search_results_regionEEEde_AT"
    assert (request.form or {})["language"] == "deutsch"
    page = startpage.read("<p>Please wait.</p>", url="https://www.startpage.com/sp/captcha?x=1")
    assert page.outcome is Outcome.BLOCKED


@pytest.mark.parametrize(("region", "country"), [("de", "germany"), ("XX", None), (None, None)])
def test_tavily_sends_country_names(region: str | None, country: str | None) -> None:
    asked = load("tavily")(key="k").request(replace(PLAIN, region=region)).json or {}
    assert asked.get("country") == country


def test_wikipedia_uses_query_language() -> None:
    request = load("wikipedia")().request(replace(PLAIN, lang="de"))
    assert request.url.startswith("https://de.wikipedia.org/")


def test_custom_engine_is_declared_in_one_line() -> None:
    line = "https://s.example/api?q={query}#rows=hits&url=u&header=X-Key: {key}"
    mine = DeclaredJsonEngine(Declaration.parse("mine", line), key="k")
    request = mine.request(replace(PLAIN, text="high & low"))
    assert request.url == "https://s.example/api?q=high%20%26%20low"
    assert request.headers == {"X-Key": "k"}
    page = mine.read('{"hits": [{"u": "https://e.example/", "title": "E"}]}')
    assert [(hit.url, hit.title) for hit in page.results] == [("https://e.example/", "E")]
    with pytest.raises(SearchError, match="rovs"):
        Declaration.parse("mine", "https://s.example/?q={query}#rovs=hits")
