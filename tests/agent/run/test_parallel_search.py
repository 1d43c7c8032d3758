"""A hard question reaches several engines at once in a real run, and the record has each."""

# ruff: noqa: E501 - addresses read best on one line

from __future__ import annotations

import pytest

from tests.browser.search.pages import results_page
from tests.browser.search.stand_in import Reply, StandIn

HARD = "Which river flows past the lighthouse that Ann Rower and Jo Mole drew before the war?"


@pytest.fixture
def engines():
    with StandIn() as server:
        server.replies["/search"] = Reply(results_page("searxng"))
        server.replies["/mojeek"] = Reply(results_page("mojeek"))
        yield server


@pytest.mark.parametrize(
    ("depth", "query", "asked"),
    [
        ("standard", HARD, ["searxng", "mojeek"]),
        ("quick", HARD, ["searxng"]),
        ("deep", "tides", ["searxng"]),
    ],
)
async def test_search_engines_depend_on_depth_and_question(
    ask, script, engines, depth, query, asked
):
    report = await ask(
        query,
        model=script(f"<<TOOL:WEB_SEARCH:{query}>>", "NOT_FOUND"),
        search=["searxng", "mojeek"],
        searxng_url=engines.url(),
        search_url=[f"mojeek={engines.url('/mojeek')}"],
        depth=depth,
    )
    trail = [(search.provider, search.outcome) for search in report.searches]
    assert trail == [(name, "ok") for name in asked]


async def test_custom_engine_is_declared_in_settings(ask, script, engines):
    engines.replies["/api"] = Reply(
        '{"data": {"hits": [{"link": "https://elm.example/", "name": "Port Elm", "text": "Boats."}]}}'
    )
    own = f"mine={engines.url('/api')}?q={{query}}&n={{limit}}#rows=data.hits&url=link&title=name&snippet=text"
    seen = []
    report = await ask(
        "Which boats are there?",
        model=script("<<TOOL:WEB_SEARCH:boats>>", "NOT_FOUND"),
        search=["mine"],
        search_url=[own],
        on_event=lambda e: seen.append(e.data) if e.type == "tool.result" else None,
    )
    assert [(s.provider, s.outcome, s.results) for s in report.searches] == [("mine", "ok", 1)]
    assert engines.asked["/api"][0].query == {"q": ["boats"], "n": ["10"]}
    assert "Port Elm — https://elm.example/\n   Boats." in seen[0]["web"]
