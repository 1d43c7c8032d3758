"""PubMed: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

import pytest

from browser.extract.platforms.citations import partial_date
from browser.types import Link
from tests.browser.extract.platforms.reading import parsed

ARTICLE = """<html><head><link rel=canonical href="https://pubmed.ncbi.nlm.nih.gov/31415926/">
<meta name=citation_title content="Tidal rhythms in eels."><meta name=citation_authors content="Ann Rower;Jo Mole;"><meta name=citation_date content="05/03/2024">
<meta name=citation_journal_title content="Journal of Water"><meta name=citation_pmid content="31415926"><meta name=citation_doi content="10.1000/eel.7"></head><body>
<div class=article-source><span class=cit>2024 May 3;12(4):1-9.</span></div><h1 class=heading-title>Tidal rhythms in eels</h1>
<div class=authors-list><span class=authors-list-item><a class=full-name>Ann Rower</a><sup><a class=affiliation-link>1</a></sup></span><span class=authors-list-item><a class=full-name>Jo Mole</a></span></div>
<div class=affiliations><ul class=item-list><li><sup>1</sup> Port Institute.</li></ul></div>
<ul class=identifiers><li><span class="identifier pubmed"><strong class=current-id>31415926</strong></span><li><span class="identifier pmc"><a class=id-link>PMC7777</a></span></ul>
<div id=abstract class=abstract><div id=eng-abstract class=abstract-content><p><strong class=sub-title>Background:</strong> Eels move.</p><p><strong class=sub-title>Results:</strong> With tides.</p></div><p><strong class=sub-title>Keywords: </strong>eel; tide; moon.</p></div>
<div id=publication-types><ul><li><button class=keyword-actions-trigger>Review</button><li><button class=keyword-actions-trigger>Clinical Trial</button></ul></div>
<div id=mesh-terms><ul><li><button class=keyword-actions-trigger>Eels / physiology*</button></ul></div>
<div id=references><ol class=references-list><li class=skip-numbering>Mole J. Moons. 2001. doi: 10.1000/moon.1. <a class=reference-link href="https://doi.org/10.1000/moon.1">DOI</a></li></ol></div></body></html>"""


def test_an_article_with_abstract_keywords_and_references() -> None:
    paper = parsed("https://pubmed.ncbi.nlm.nih.gov/31415926/", ARTICLE)

    assert (paper.platform, paper.kind, paper.id) == ("pubmed", "paper", "31415926")
    assert (paper.title, paper.author) == ("Tidal rhythms in eels", "Ann Rower, Jo Mole")
    assert paper.published == "2024-05-03"
    assert paper.text == "Background: Eels move.\n\nResults: With tides."
    assert paper.tags == ("eel", "tide", "moon")
    assert paper.fields == {
        "journal": "Journal of Water",
        "doi": "10.1000/eel.7",
        "pmc": "PMC7777",
        "citation": "2024 May 3;12(4):1-9.",
        "types": "Review; Clinical Trial",
        "mesh": "Eels / physiology*",
        "affiliation": "1 Port Institute.",
    }
    assert [(r.url, r.fields) for r in paper.items] == [
        ("https://doi.org/10.1000/moon.1", {"doi": "10.1000/moon.1"})
    ]


def test_an_article_without_abstract_that_was_retracted() -> None:
    page = """<meta name=citation_title content="Wrong eels"><meta name=citation_pmid content=7><span class=cit>2019 Nov;3(1)</span><div class=retraction-banner>Retracted article</div>"""
    paper = parsed("https://pubmed.ncbi.nlm.nih.gov/7/", page)

    assert (paper.text, paper.author, paper.published) == ("", None, "2019-11")
    assert paper.fields["retracted"] == "true"


def test_results_of_a_search() -> None:
    page = """<input name=term value="eel tide"><article class=full-docsum><a class=docsum-title data-article-id=9 href="/9/">Eels at <b>night</b></a>
    <span class="docsum-authors full-authors">Rower A, Mole J.</span><span class="docsum-journal-citation full-journal-citation">J Water. 2020 Jan 2;1(1):1.</span><span class=docsum-pmid>9</span><div class=full-view-snippet>Eels <b>move</b>.</div></article>"""
    listing = parsed("https://pubmed.ncbi.nlm.nih.gov/?term=eel+tide", page)

    assert (listing.kind, listing.title) == ("listing", "eel tide")
    found = listing.items[0]
    assert (found.id, found.url, found.title) == (
        "9",
        "https://pubmed.ncbi.nlm.nih.gov/9/",
        "Eels at night",
    )
    assert (found.author, found.published, found.text) == (
        "Rower A, Mole J",
        "2020-01-02",
        "Eels move.",
    )


def test_an_article_of_the_full_text_archive() -> None:
    page = """<link rel=canonical href="https://pmc.ncbi.nlm.nih.gov/articles/PMC7777/"><meta name=citation_title content="Tidal rhythms"><meta name=citation_author content="Ann Rower">
    <meta name=citation_publication_date content="2024 May"><meta name=citation_pdf_url content="https://pmc.ncbi.nlm.nih.gov/articles/PMC7777/pdf/1.pdf"><section class=abstract><p>Eels move.</p></section>"""
    paper = parsed("https://pmc.ncbi.nlm.nih.gov/articles/PMC7777/", page)

    assert (paper.id, paper.published, paper.text) == ("PMC7777", "2024-05", "Eels move.")
    assert paper.fields == {"pmc": "PMC7777"}
    assert paper.links == (Link("https://pmc.ncbi.nlm.nih.gov/articles/PMC7777/pdf/1.pdf", "PDF"),)


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("05/21/2020", "2020-05-21"),
        ("2020/05/21", "2020-05-21"),
        ("2020 May 21", "2020-05-21"),
        ("2020 May", "2020-05"),
        ("2012 Nov 26", "2012-11-26"),
        ("2020/5", "2020-05"),
        ("2020", "2020"),
        ("soon", None),
    ],
)
def test_a_date_is_as_exact_as_it_is_given(written: str, date: str | None) -> None:
    assert partial_date(written) == date
