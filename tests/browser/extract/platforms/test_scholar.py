"""Google Scholar: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

from browser.types import Link
from tests.browser.extract.platforms.reading import parse_record


def test_search_results_yield_all_fields() -> None:
    page = """<div class=gs_r><div class=gs_ggs><a href="https://e.org/t.pdf">PDF</a></div><div class=gs_ri><h3 class=gs_rt><span class=gs_ct1>[BOOK]</span> <a href="https://e.org/t">On tides</a></h3>
    <div class=gs_a>A Rower, J Mole… - Journal of Water, 2021 - e.org</div><div class=gs_rs>Tides rise.</div><div class=gs_fl><a href="/scholar?cites=77&amp;hl=en">Cited by 1,409</a></div></div></div>"""
    listing = parse_record("https://scholar.google.co.uk/scholar?q=tides", page)
    paper = listing.items[0]
    assert (paper.id, paper.title, paper.url, paper.text) == (
        "77",
        "On tides",
        "https://e.org/t",
        "Tides rise.",
    )
    assert (paper.author, paper.published, paper.counts) == (
        "A Rower, J Mole…",
        "2021",
        {"citations": 1409},
    )
    assert paper.fields == {"venue": "Journal of Water", "site": "e.org", "type": "book"}
    assert paper.links == (Link("https://e.org/t.pdf", "PDF"),)


def test_german_citation_entry_without_link_is_parsed() -> None:
    page = """<div class=gs_r><div class=gs_ri><h3 class=gs_rt><span class=gs_ctu>[ZITATION]</span> Über Gezeiten</h3><div class=gs_a>A Rower - 1998</div><div class=gs_fl><a href="/scholar?cites=7&amp;hl=de">Zitiert von: 12</a></div></div></div>"""
    (paper,) = parse_record("https://scholar.google.de/scholar?q=gezeiten", page).items
    assert (paper.title, paper.url, paper.published) == ("Über Gezeiten", "", "1998")
    assert (paper.counts, paper.id) == ({"citations": 12}, "7")
