"""Search results as evidence: they have their own numbers, and pages take precedence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agent.errors import ToolError
from agent.evidence import Evidence, check_answer
from agent.types import Verdict, VerdictState
from browser.types import SearchResult

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from agent.types import Passage
    from browser.types import Page

URL = "https://harbour.test/light"
SAID = "The light of Tern Point was designed by Ada Renwick."
RESULT = SearchResult(URL, "Tern Point", SAID)


def test_search_results_have_separate_numbers(
    make_page: Callable[..., Page], read_at: datetime
) -> None:
    evidence = Evidence()
    names = [evidence.add_snippet(RESULT, read_at).name, evidence.add(make_page(SAID)).name]
    part = evidence.for_loop(2)
    other = SearchResult("https://other.test/", "Other", "Another light.")
    names += [part.add_snippet(other, read_at).name, part.add_snippet(RESULT, read_at).name]
    assert names == ["S501", "S1", "S2501", "S501"]
    assert [source.n for source in evidence.sources] == [1]
    assert [source.n for source in evidence.snippets] == [501, 2501]


def test_page_skips_number_taken_by_search_result(
    make_page: Callable[..., Page], read_at: datetime
) -> None:
    evidence = Evidence()
    evidence.add_snippet(RESULT, read_at)
    pages = [evidence.add(make_page(f"Page {n}.")).n for n in range(502)]
    assert pages[-2:] == [502, 503]


def test_search_results_are_limited_to_their_number_range(read_at: datetime) -> None:
    evidence = Evidence()
    for n in range(499):
        evidence.add_snippet(SearchResult(f"https://x.test/{n}", "T", f"Said {n}."), read_at)
    with pytest.raises(ToolError, match="reached its limit"):
        evidence.add_snippet(RESULT, read_at)


def test_by_url_returns_page_not_search_result(
    make_page: Callable[..., Page], read_at: datetime
) -> None:
    evidence = Evidence()
    evidence.add_snippet(RESULT, read_at)
    page = evidence.add(make_page("Something else.", url=URL))
    evidence.add_snippet(SearchResult(URL, "Tern Point", "Said anew."), read_at)
    assert evidence.by_url(URL) is page


def test_page_with_same_text_as_result_is_a_separate_source(
    make_page: Callable[..., Page], read_at: datetime
) -> None:
    evidence = Evidence()
    result = evidence.add_snippet(RESULT, read_at)
    page = evidence.add(make_page(result.text, url=URL))
    assert (page.via, page.n, page.sha256) == ("http", 1, result.sha256)


def test_supporting_page_is_cited_in_place_of_search_result(
    make_page: Callable[..., Page], read_at: datetime
) -> None:
    evidence = Evidence()
    result = evidence.add_snippet(RESULT, read_at)
    evidence.add(make_page(f"Some history. {SAID}", url="https://other.test/"))
    checked = check_answer(f"{SAID} [{result.name}]", evidence)
    assert [source.url for source in checked.sources] == ["https://other.test/"]
    assert not checked.sentences[0].weak


def test_snippet_text_missing_from_its_page_is_noted(
    make_page: Callable[..., Page], read_at: datetime
) -> None:
    evidence = Evidence()
    result = evidence.add_snippet(RESULT, read_at)
    evidence.add(make_page("The tower is painted white.", url=URL))
    (sentence,) = check_answer(f"{SAID} [{result.name}]", evidence).sentences
    assert sentence.weak
    assert sentence.reason.endswith("its page was read but does not contain this wording")


def test_search_result_can_contradict_a_figure(read_at: datetime) -> None:
    evidence = Evidence()
    result = evidence.add_snippet(SearchResult(URL, "Tower", "The tower is 31 m high."), read_at)
    (sentence,) = check_answer(f"The tower is 41 m high. [{result.name}]", evidence).sentences
    assert (sentence.verdict, sentence.weak) == (VerdictState.CONTRADICTED, False)


def test_judge_is_not_asked_about_claims_cited_to_search_results(
    make_page: Callable[..., Page], read_at: datetime
) -> None:
    asked: list[tuple[str, ...]] = []

    def judge(_claim: str, passages: Sequence[Passage]) -> Verdict:
        asked.append(tuple(p.id for p in passages))
        return Verdict(VerdictState.SUPPORTED, decided_by="judge")

    evidence = Evidence()
    result = evidence.add_snippet(RESULT, read_at)
    evidence.add(make_page("The tower is painted white.", url=URL))
    paraphrase = f"It was Renwick who drew the plans of that lighthouse. [{result.name}]"
    (sentence,) = check_answer(paraphrase, evidence, judge).sentences
    assert asked == []
    assert (sentence.verdict, sentence.weak) == (VerdictState.UNDECIDED, False)
