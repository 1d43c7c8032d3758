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


def test_a_withdrawn_paper_with_its_versions() -> None:
    page = """<meta name=citation_title content="On Moons"><meta name=citation_arxiv_id content="hep-th/9901001"><meta name=citation_date content="1999/01/02">
    <div class=dateline>[Submitted on 2 Jan 1999 (v1), last revised 5 Feb 1999 (this version, v3)]</div><div class=submission-history><strong>[v1]</strong> Sat <strong>[v2]</strong> Sun <strong>[v3]</strong> Mon</div>
    <div class=abs-license><a href="http://creativecommons.org/licenses/by/4.0/"></a></div><table><tr><td class="tablecell comments">This paper has been withdrawn by the author</td><tr><td class="tablecell jref">J. Moons 1 (1999)</td><tr><td class="tablecell report-number">R-7</td></table>"""
    paper = parsed("https://arxiv.org/abs/hep-th/9901001v3", page)
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


def test_new_papers_of_a_subject_and_results_of_a_search() -> None:
    listing = """<h1>Oceans</h1><dl id=articles><dt><a name=item1>[1]</a> <a href="/abs/2405.00001" title=Abstract>arXiv:2405.00001</a><dd><div class="list-title mathjax"><span class=descriptor>Title:</span> On Tides: a study</div><div class=list-authors><a>Ann Rower</a>, <a>Jo Mole</a></div>
    <div class="list-comments"><span class=descriptor>Comments:</span> 9 pages</div><div class=list-subjects><span class=descriptor>Subjects:</span> Oceans (phys.oc); Waves (phys.wa)</div><p class=mathjax>Tides rise.</p></dl>"""
    (paper,) = parsed("https://arxiv.org/list/phys.oc/new", listing).items
    assert (paper.id, paper.title, paper.author) == (
        "2405.00001",
        "On Tides: a study",
        "Ann Rower, Jo Mole",
    )
    assert (paper.text, paper.tags, paper.fields) == (
        "Tides rise.",
        ("phys.oc", "phys.wa"),
        {"comments": "9 pages"},
    )
    results = """<h1>Results</h1><ol><li class=arxiv-result><p class=list-title><a href="https://arxiv.org/abs/2405.00001">arXiv:2405.00001</a></p><div class=tags><span class=tag data-tooltip=Oceans>phys.oc</span></div><p class=title>On Tides</p>
    <p class=authors><span>Authors:</span> <a>Ann Rower</a></p><p class=abstract><span class=abstract-full>Tides rise. △ Less</span></p><p class=is-size-7><span class=has-text-weight-semibold>Submitted</span> 3 May, 2024; originally announced May 2024.</p></li></ol>"""
    (paper,) = parsed("https://arxiv.org/search/?query=tides", results).items
    assert (paper.id, paper.title, paper.author, paper.text) == (
        "2405.00001",
        "On Tides",
        "Ann Rower",
        "Tides rise.",
    )
    assert (paper.published, paper.tags) == ("2024-05-03", ("phys.oc",))
