"""arXiv: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

from browser.types import Link
from tests.browser.extract.platforms.reading import parsed


def test_arxiv_paper() -> None:
    page = """<meta name=citation_title content="On Tides"><meta name=citation_author content="Rower, Ann"><meta name=citation_author content="Mole, Jo">
    <meta name=citation_date content="2024/05/03"><meta name=citation_arxiv_id content="2405.00001"><meta name=citation_pdf_url content="https://arxiv.org/pdf/2405.00001">
    <div class=dateline>[Submitted on 3 May 2024 (v1), last revised 9 Jun 2024 (this version, v2)]</div><blockquote class=abstract><span>Abstract:</span>Tides rise.</blockquote>
    <td class="tablecell subjects">Oceans (phys.oc); Waves (phys.wa)"""
    paper = parsed("https://arxiv.org/abs/2405.00001v2", page.replace("<td", "<table><tr><td"))
    assert (paper.id, paper.title, paper.text) == ("2405.00001", "On Tides", "Tides rise.")
    assert (paper.author, paper.published, paper.modified) == (
        "Ann Rower, Jo Mole",
        "2024-05-03",
        "2024-06-09",
    )
    assert paper.tags == ("phys.oc", "phys.wa")
    assert paper.fields["version"] == "2"
    assert paper.links == (Link("https://arxiv.org/pdf/2405.00001", "PDF"),)
