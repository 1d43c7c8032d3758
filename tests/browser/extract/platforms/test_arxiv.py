"""arXiv: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

from browser.types import Link
from tests.browser.extract.platforms.reading import parse_record


def test_arxiv_paper_page_yields_all_fields() -> None:
    page = """<meta name=citation_title content="On Tides"><meta name=citation_author content="Rower, Ann"><meta name=citation_author content="Mole, Jo">
    <meta name=citation_date content="2024/05/03"><meta name=citation_arxiv_id content="2405.00001"><meta name=citation_pdf_url content="https://arxiv.org/pdf/2405.00001">
    <div class=dateline>[Submitted on 3 May 2024 (v1), last revised 9 Jun 2024 (this version, v2)]</div><blockquote class=abstract><span>Abstract:</span>Tides rise.</blockquote>
    <td class="tablecell subjects">Oceans (phys.oc); Waves (phys.wa)"""
    paper = parse_record(
        "https://arxiv.org/abs/2405.00001v2", page.replace("<td", "<table><tr><td")
    )
    assert (paper.id, paper.title, paper.text) == ("2405.00001", "On Tides", "Tides rise.")
    assert (paper.author, paper.published, paper.modified) == (
        "Ann Rower, Jo Mole",
        "2024-05-03",
        "2024-06-09",
    )
    assert paper.tags == ("phys.oc", "phys.wa")
    assert paper.fields["version"] == "2"
    assert paper.links == (Link("https://arxiv.org/pdf/2405.00001", "PDF"),)


def test_withdrawn_paper_with_version_history() -> None:
    page = """<meta name=citation_title content="On Moons"><meta name=citation_arxiv_id content="hep-th/9901001"><meta name=citation_date content="1999/01/02">
    <div class=dateline>[Submitted on 2 Jan 1999 (v1), last revised 5 Feb 1999 (this version, v3)]</div><div class=submission-history><strong>[v1]</strong> Sat <strong>[v2]</strong> Sun <strong>[v3]</strong> Mon</div>
    <div class=abs-license><a href="http://creativecommons.org/licenses/by/4.0/"></a></div><table><tr><td class="tablecell comments">This paper has been withdrawn by the author</td><tr><td class="tablecell jref">J. Moons 1 (1999)</td><tr><td class="tablecell report-number">R-7</td></table>"""
    paper = parse_record("https://arxiv.org/abs/hep-th/9901001v3", page)
    assert (paper.id, paper.published, paper.modified) == (
        "hep-th/9901001",
        "1999-01-02",
        "1999-02-05",
    )
    assert paper.fields["withdrawn"] == "true"
    assert (paper.fields["version"], paper.fields["versions"]) == ("3", "3")
    assert (paper.fields["journal"], paper.fields["report"]) == ("J. Moons 1 (1999)", "R-7")
    assert paper.fields["license"] == "http://creativecommons.org/licenses/by/4.0/"
    assert (paper.text, paper.author) == ("", None)
