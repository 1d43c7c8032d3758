"""Result pages that changed: results stay results, advertisements and panels never become any."""

from __future__ import annotations

import pytest

from browser.search import parse_results
from browser.types import Outcome
from tests.browser.search.mutations import MUTATIONS, mutant
from tests.browser.search.pages import ROWS, empty_page, results_page

PAGES = ("google", "bing", "brave", "duckduckgo", "duckduckgo_lite", "mojeek", "startpage")
# If all names change, a layout that is recognised by its names may fail, but must report that.
GENTLE = [name for name in MUTATIONS if name != "renamed_all"]
WALL = (
    "<html><head><title>Just a moment...</title></head>"
    '<body><form id="challenge-form"></form></body></html>'
)
CONSENT = (
    "<html><head><title>Before you continue</title></head>"
    '<body><form action="https://consent.search.example/save"></form></body></html>'
)


@pytest.mark.parametrize("engine", PAGES)
@pytest.mark.parametrize("mutation", GENTLE)
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.sample(42)
def test_changed_markup_still_yields_all_results(engine: str, mutation: str, seed: int) -> None:
    page = parse_results(engine, mutant(results_page(engine), mutation, seed))
    assert page.outcome is Outcome.OK
    assert [(hit.url, hit.title) for hit in page.results] == [(r.url, r.title) for r in ROWS]
    assert [hit.snippet for hit in page.results] == [row.snippet for row in ROWS]


@pytest.mark.parametrize("engine", PAGES)
def test_fully_renamed_markup_yields_correct_results_or_error(
    engine: str,
) -> None:
    page = parse_results(engine, mutant(results_page(engine), "renamed_all"))
    read = [(hit.url, hit.title) for hit in page.results]
    assert page.outcome in (Outcome.OK, Outcome.ERROR)
    assert read in ([], [(row.url, row.title) for row in ROWS])


@pytest.mark.parametrize("engine", PAGES)
@pytest.mark.parametrize("mutation", MUTATIONS)
@pytest.mark.parametrize("wall", [WALL, CONSENT])
@pytest.mark.sample(33)
def test_changed_block_page_is_still_blocked(engine: str, mutation: str, wall: str) -> None:
    assert parse_results(engine, mutant(wall, mutation)).outcome is Outcome.BLOCKED


@pytest.mark.parametrize("engine", PAGES)
@pytest.mark.parametrize("mutation", ["renamed", "unwrapped", "boxed", "shuffled"])
def test_changed_empty_page_is_still_empty(engine: str, mutation: str) -> None:
    assert parse_results(engine, mutant(empty_page(engine), mutation)).outcome is Outcome.EMPTY
