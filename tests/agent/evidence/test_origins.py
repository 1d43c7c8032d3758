"""Copies of one text count as one origin; independent reports of one event do not."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import pytest

from agent.evidence import Evidence, assess_answer, check_answer
from agent.evidence.origins import Origins
from tests.agent.evidence.twice_told import REPORTS

AGENCY = "OSLO, 3 April (News Agency). "


def syndicated(text):
    return f"{AGENCY}{text}\n\nSign up for our letter to get the best stories every morning."


def cut(text):
    """Return two thirds of a text, as printed by a paper with less space."""
    return text[: text.rindex(". ", 0, len(text) * 2 // 3) + 1]


def scraped(text):
    return f"Home\n\n{text.replace('—', '-').replace('”', chr(34))}\n\nAdvertisement\n\nSource: web"


def edited(text):
    return text.replace(" said", " stated").replace(" also", " too").replace(" The ", " That ")


def quoted(text):
    return f"I found this today and want to share it with you:\n\n{cut(text)}\n\nWhat do you think?"


@pytest.fixture
def origins_of(make_page):
    """Count the origins of some texts, each on its own site."""

    def count(*texts, **dates):
        evidence = Evidence()
        for number, text in enumerate(texts):
            evidence.add(make_page(text, url=f"https://site{number}.test/page"))
        origins = Origins(evidence.sources)
        return len({origins.origin_site(source) for source in evidence.sources})

    return count


@pytest.mark.parametrize("copy", [syndicated, cut, scraped, edited, quoted])
def test_copies_share_one_origin(origins_of, copy):
    texts = [f"{one[n]} {other[n]}" for one, other in pairwise(REPORTS) for n in (0, 1)]
    assert [origins_of(text, copy(text)) for text in texts] == [1] * len(texts)


def test_reports_of_one_event_with_shared_quotes_are_independent(origins_of):
    assert [origins_of(*pair) for pair in REPORTS] == [2] * len(REPORTS)


def test_excerpts_share_origin_of_their_common_text(origins_of):
    first, second = REPORTS[0][0], REPORTS[1][0]
    assert origins_of(first, second) == 2
    assert origins_of(f"{first} {second}", first, second) == 1


def test_identical_single_sentence_pages_are_independent(origins_of):
    line = "The Heron line opened on 4 May 1898 with horse-drawn cars."
    assert origins_of(line, line) == 2


@pytest.fixture
def assess_pages(make_page):
    """Assess an answer whose sentence is on pages with these texts and dates."""
    claim = "Twelve members were for it, seven against."

    def weigh(*pages, canonical=None):
        evidence = Evidence("Who voted for it?")
        for number, (text, published) in enumerate(pages):
            page = make_page(text, url=f"https://site{number}.test/page")
            dated = dataclasses.replace(page.document, published=published)
            evidence.add(dataclasses.replace(page, document=dated))
        cited = "".join(f"[S{n}]" for n in range(1, len(pages) + 1))
        checked = check_answer(f"{claim} {cited}", evidence)
        return assess_answer(checked, evidence, evidence.question, answers="fully")

    return weigh


def test_confidence_counts_origins_and_copies_name_earliest(assess_pages):
    report = REPORTS[0][0]
    one = assess_pages((report, None))
    copies = assess_pages(
        (syndicated(report), "2026-05-04"), (report, "2026-05-03"), (report, None)
    )
    other = "A reader writes: Twelve members were for it, seven against. I was there and saw it."
    two = assess_pages((report, None), (other, None))
    assert (copies.parts.pages, copies.parts.sites, copies.parts.origins) == (3, 3, 1)
    assert copies.confidence == one.confidence < two.confidence
    assert [source.copy_of for source in copies.sources] == [2, None, 2]


def test_urls_with_one_canonical_url_are_one_source(make_page):
    evidence = Evidence("Who voted for it?")
    text, home = REPORTS[0][0], "https://paper.test/ferry"
    for url, canonical in ((home, None), (f"{home}?print=1", home), ("https://other.test/", home)):
        page = make_page(text, url=url)
        named = dataclasses.replace(page.document, canonical_url=canonical)
        evidence.add(dataclasses.replace(page, document=named))
    checked = check_answer("Twelve members were for it, seven against. [S1][S2][S3]", evidence)
    assert [source.url for source in checked.sources] == [home, "https://other.test/"]
    assert checked.answer.endswith("[1][2]")
