"""A hard question reaches several engines at once in a real run, and the record has each."""

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
async def test_engines_by_depth_and_question(ask, script, engines, depth, query, asked):
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
