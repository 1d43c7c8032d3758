"""Google Scholar: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

from browser.types import Link
from tests.browser.extract.platforms.reading import parsed


def test_google_scholar_results() -> None:
    page = """<div class=gs_r><div class=gs_ggs><a href="https://e.org/t.pdf">PDF</a></div><div class=gs_ri><h3 class=gs_rt><span class=gs_ct1>[BOOK]</span> <a href="https://e.org/t">On tides</a></h3>
    <div class=gs_a>A Rower, J Mole… - Journal of Water, 2021 - e.org</div><div class=gs_rs>Tides rise.</div><div class=gs_fl><a href="/scholar?cites=77&amp;hl=en">Cited by 1,409</a></div></div></div>"""
    listing = parsed("https://scholar.google.co.uk/scholar?q=tides", page)
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


def test_entries_without_a_link_and_in_another_language() -> None:
    page = """<div class=gs_r><div class=gs_ri><h3 class=gs_rt><span class=gs_ctu>[ZITATION]</span> Über Gezeiten</h3><div class=gs_a>A Rower - 1998</div><div class=gs_fl><a href="/scholar?cites=7&amp;hl=de">Zitiert von: 12</a></div></div></div>"""
    (paper,) = parsed("https://scholar.google.de/scholar?q=gezeiten", page).items
    assert (paper.title, paper.url, paper.published) == ("Über Gezeiten", "", "1998")
    assert (paper.counts, paper.id) == ({"citations": 12}, "7")


def test_a_persons_profile() -> None:
    page = """<div id=gsc_prf_in>Ann Rower</div><div class=gsc_prf_il>Port Institute</div><div id=gsc_prf_int><a>tides</a><a>eels</a></div><table id=gsc_rsb_st><tr><td class=gsc_rsb_sc1>Citations<td class=gsc_rsb_std>1,234<td class=gsc_rsb_std>56<tr><td>h-index<td class=gsc_rsb_std>9<td class=gsc_rsb_std>4</table>
    <table><tr class=gsc_a_tr><td class=gsc_a_t><a class=gsc_a_at href="/citations?view_op=view_citation">On tides</a><div class=gs_gray>A Rower, J Mole</div><div class=gs_gray>Journal of Water 7</div><td class=gsc_a_c><a class=gsc_a_ac>77</a><td class=gsc_a_y><span class=gsc_a_h>2021</span></table>"""
    profile = parsed("https://scholar.google.com/citations?user=AbC", page)
    assert (profile.kind, profile.id, profile.author) == ("profile", "AbC", "Ann Rower")
    assert profile.counts == {
        "citations": 1234,
        "citations_recent": 56,
        "h_index": 9,
        "h_index_recent": 4,
    }
    assert profile.tags == ("tides", "eels")
    (work,) = profile.items
    assert (work.title, work.author, work.published) == ("On tides", "A Rower, J Mole", "2021")
    assert (work.counts, work.fields) == ({"citations": 77}, {"venue": "Journal of Water 7"})
