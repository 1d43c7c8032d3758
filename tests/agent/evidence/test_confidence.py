"""Confidence reflects everything that was read: sources that agree, and sources that disagree."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from agent.evidence import Evidence, assess_answer, check_answer
from agent.evidence.confidence import MIN_EXTRACTIVE_CONFIDENCE
from agent.types import Fit

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent.evidence import Assessment
    from agent.types import Answers
    from browser.types import Page

LIT = "Hesk Light was completed on 1 November 1829."
CONFLICTING = "Hesk Light was completed on 4 March 1831 by its keeper."
QUESTION = "When was Hesk Light completed?"


@pytest.fixture
def assess_pages(make_page: Callable[..., Page]) -> Callable[..., Assessment]:
    """Assess an answer that cites the first of some pages, each on its own site."""

    def give(
        *texts: str,
        answer: str = f"{LIT} [S1]",
        question: str = QUESTION,
        where: str = "https://site{}.test/page",
        answers: Answers | None = "fully",
        fit: Fit | None = None,
    ) -> Assessment:
        evidence = Evidence(QUESTION)
        for number, text in enumerate(texts):
            page = make_page(text, url=where.format(number))
            assert page.document is not None
            titled = dataclasses.replace(page.document, title="Hesk Light")
            evidence.add(dataclasses.replace(page, document=titled))
        checked = check_answer(answer, evidence)
        return assess_answer(checked, evidence, question, answers=answers, fit=fit)

    return give


def test_source_with_different_date_is_a_conflict(assess_pages: Callable[..., Assessment]) -> None:
    found = assess_pages(LIT, CONFLICTING)
    [conflict] = found.conflicts
    assert conflict.text == LIT
    assert conflict.citations == [1]
    assert conflict.quote == CONFLICTING
    assert [source.n for source in found.sources] == [1, 2]
    assert found.sources[conflict.source - 1].quotes == [CONFLICTING]


@pytest.mark.parametrize(
    ("dates", "newer"),
    [
        (("2015-06-01", "2021-03-04T10:00:00Z"), [2]),
        (("2021-03-04", "2015-06-01"), [1]),
        (("2021-03-04", "2021-03-04"), []),
        ((None, "2021-03-04"), []),
        (("2021", "2022"), []),
    ],
)
def test_conflict_names_newer_side(
    make_page: Callable[..., Page], dates: tuple[str | None, str], newer: list[int]
) -> None:
    evidence = Evidence(QUESTION)
    for number, (text, published) in enumerate(zip((LIT, CONFLICTING), dates, strict=True)):
        page = make_page(text, url=f"https://site{number}.test/page")
        assert page.document is not None
        dated = dataclasses.replace(page.document, published=published)
        evidence.add(dataclasses.replace(page, document=dated))
    found = assess_answer(check_answer(f"{LIT} [S1]", evidence), evidence, QUESTION)
    [conflict] = found.conflicts
    assert conflict.newer == newer
    assert [source.published for source in found.sources] == list(dates)


@pytest.mark.parametrize(
    "question",
    [
        QUESTION,
        "When was Hesk Light completed? http://127.0.0.1:8201/index.php?title=Hesk",
        "When was Hesk Light (http://wiki.example/, user admin, password geheim1) completed?",
        "When was Hesk Light completed, by `grep -r lit /srv/notes` on notes.example.org?",
    ],
)
def test_coverage_leaves_out_addresses_logins_and_commands(
    assess_pages: Callable[..., Assessment], question: str
) -> None:
    assert assess_pages(LIT, question=question).parts.coverage == 1


def test_agreeing_source_raises_confidence(assess_pages: Callable[..., Assessment]) -> None:
    alone = assess_pages(LIT)
    together = assess_pages(LIT, f"The guide says more. {LIT}")
    assert together.conflicts == ()
    assert (alone.parts.sites, together.parts.sites) == (1, 2)
    assert together.confidence > alone.confidence


@pytest.mark.parametrize("where", ["file:///notes/{}.txt", "https://page{}.example.org/"])
def test_own_files_and_pages_of_one_site_are_not_independent(
    assess_pages: Callable[..., Assessment], where: str
) -> None:
    assert assess_pages(LIT, f"The guide says more. {LIT}", where=where).parts.sites == 1
    assert assess_pages(LIT, CONFLICTING, where=where).parts.agreement == 0.5


def test_conflict_lowers_confidence(assess_pages: Callable[..., Assessment]) -> None:
    assert assess_pages(LIT, CONFLICTING).confidence < assess_pages(LIT).confidence
    assert assess_pages(LIT, CONFLICTING).parts.agreement == 0.5


@pytest.mark.parametrize(
    "other",
    [
        "Vale Light was completed on 4 March 1831.",
        "The lamp shop opened on 4 March 1831.",
        "In 1902 Hesk Light had 3 keepers.",
    ],
)
def test_statement_about_another_subject_is_not_a_conflict(
    assess_pages: Callable[..., Assessment], other: str
) -> None:
    assert assess_pages(LIT, other).conflicts == ()


def test_figures_for_different_years_are_not_a_conflict(
    assess_pages: Callable[..., Assessment],
) -> None:
    answer = "In 1921 Hesk Light had 188 visitors a day. [S1]"
    found = assess_pages("In 1921 Hesk Light had 188 visitors a day.",
                    "In 2011 Hesk Light had 64 visitors a day.", answer=answer)  # fmt: skip
    assert found.conflicts == ()


def test_confidence_follows_judged_answer_fit(assess_pages: Callable[..., Assessment]) -> None:
    by_word = [assess_pages(LIT, answers=word).confidence for word in ("fully", "in part", "no")]
    assert by_word[0] > 0.6 > 0.4 > by_word[2]
    assert by_word == sorted(by_word, reverse=True)


def test_extractive_confidence_depends_on_coverage_margin_and_value(
    assess_pages: Callable[..., Assessment],
) -> None:
    def confidence(**fit: object) -> float:
        best = {"covered": 1.0, "margin": 2.5, "stated": 12.0, "has_value": True}
        found = assess_pages(LIT, answers=None, fit=Fit.model_validate({**best, **fit})).confidence
        assert found is not None
        return found

    best = confidence()
    weaker = [
        confidence(covered=0.5),
        confidence(margin=0.2),
        confidence(stated=2.0),
        confidence(has_value=None),
        confidence(has_value=False),
    ]
    assert best >= MIN_EXTRACTIVE_CONFIDENCE
    assert best > max(weaker)
    assert confidence(has_value=False) < confidence(has_value=None)
    assert confidence(covered=0.0, margin=0.0, stated=0) < 0.4  # a part is not answered


def test_heading_above_quote_counts_toward_coverage(
    assess_pages: Callable[..., Assessment],
) -> None:
    text = "## How do I reset the winch?\n\nHold the red button down.\n\n## Hiring\n\nAsk Ida."
    asked = "How do I reset the winch?"
    assert (
        assess_pages(text, answer="Hold the red button down. [S1]", question=asked).parts.coverage
        == 1
    )
    assert assess_pages(text, answer="Ask Ida. [S1]", question=asked).parts.coverage == 0


def test_unjudged_literal_sentences_have_no_confidence(
    assess_pages: Callable[..., Assessment],
) -> None:
    assert assess_pages(LIT, answers=None).confidence is None


def test_unsupported_sentence_lowers_confidence(assess_pages: Callable[..., Assessment]) -> None:
    mixed = f"{LIT} [S1] Gulls admire it greatly. [S1]"
    assert assess_pages(LIT, answer=mixed).confidence < assess_pages(LIT).confidence


def test_unjudged_undecided_claims_have_no_confidence(
    assess_pages: Callable[..., Assessment],
) -> None:
    assert (
        assess_pages(LIT, answer="Gulls admire it greatly. [S1]", answers=None).confidence is None
    )


def test_contradicted_sentence_caps_confidence(assess_pages: Callable[..., Assessment]) -> None:
    wrong = "Hesk Light was completed on 1 November 1839. [S1]"
    assert assess_pages(LIT, answer=wrong).confidence <= 0.35


def test_statement_about_search_does_not_lower_confidence(
    assess_pages: Callable[..., Assessment],
) -> None:
    told = assess_pages(LIT, answer=f"{LIT} [S1] I found no figure for its height.")
    assert told.confidence == assess_pages(LIT).confidence


def test_answer_without_sources_has_zero_confidence(
    assess_pages: Callable[..., Assessment],
) -> None:
    assert assess_pages(LIT, answer="Whales sing at night.").confidence == 0


def test_freshness_is_age_of_newest_dated_source(make_page: Callable[..., Page]) -> None:
    evidence = Evidence()
    evidence.add(make_page(LIT, published="2026-02-27"))
    found = assess_answer(check_answer(f"{LIT} [S1]", evidence), evidence, QUESTION)
    assert found.parts.freshness == 2
