"""Bibliographies, read by third-party libraries."""

from __future__ import annotations

import io
import json
import warnings
from dataclasses import replace

import bibtexparser
import pytest
import rispy
from bibtexparser import middlewares
from hypothesis import given
from hypothesis import strategies as st
from pybtex import PybtexEngine
from pybtex.database import parse_string

from agent.export import bibliography, export
from agent.export.bibliography import Author, Reference, authors
from browser.text.words import one_line
from browser.types import Publication

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # citeproc uses deprecated imports
    from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle
    from citeproc import formatter as citeproc_formatter
    from citeproc.source.json import CiteProcJSON

HOSTILE = Reference(
    key="example2024-1",
    title="100 % of {braces}, \\commands & $dollars$ — Größe_1 #2 ~^",
    url="https://example.org/a_b?x=1&y={z}%20#top",
    site="example.org",
    published=(2024, 5),
    accessed=(2026, 11, 21),
    notes=("It was } lit.", "TY  - JOUR"),
    authors=(
        Author("van der Größe", "Jörg & Söhne"),
        Author("Council of {Isles}, Lights and Bells"),
        Author("山田太郎"),
    ),
)


PAPER = Publication(
    venue="Harbour Letters", volume="7", issue="2", pages="11-19", doi="10.1234/a_b.5"
)


def test_journal_article_keeps_doi_and_pages_in_all_formats():
    paper = replace(HOSTILE, publication=PAPER)
    (entry,) = bibtexparser.parse_string(bibliography.bibtex_entry(paper)).entries
    assert entry.entry_type == "article"
    assert (entry["journal"], entry["pages"]) == ("Harbour Letters", "11--19")
    assert entry["doi"] == r"10.1234/a\_b.5"
    (row,) = rispy.load(io.StringIO(bibliography.ris_entry(paper)))
    assert (row["type_of_reference"], row["secondary_title"]) == ("JOUR", "Harbour Letters")
    assert (row["doi"], row["start_page"], row["end_page"]) == ("10.1234/a_b.5", "11", "19")
    item = bibliography.csl_item(paper)
    assert (item["type"], item["container-title"]) == ("article-journal", "Harbour Letters")
    assert (item["DOI"], item["volume"], item["page"]) == ("10.1234/a_b.5", "7", "11-19")


def test_conference_paper_is_inproceedings():
    paper = replace(HOSTILE, publication=replace(PAPER, in_proceedings=True))
    assert bibliography.bibtex_entry(paper).startswith("@inproceedings{")
    assert bibliography.biblatex_entry(paper).startswith("@inproceedings{")
    assert bibliography.csl_item(paper)["type"] == "paper-conference"


def test_local_file_reference_has_no_url():
    local = replace(HOSTILE, url="", site="")
    written = (bibliography.bibtex_entry(local), bibliography.biblatex_entry(local),
               bibliography.ris_entry(local), json.dumps(bibliography.csl_item(local)))  # fmt: skip
    assert not any("http" in text or "file:" in text or "UR  -" in text for text in written)


def reference_with_text(text):
    """A source whose third-party fields all contain this text, as read from a run."""
    line = one_line(text)
    named = (Author(line, line), Author(line))
    return Reference("a-1", line or "t", line, line, (), (2026,), (line,), named)


@given(st.text())
def test_any_title_yields_one_balanced_bibtex_entry(text):
    entry = bibliography.bibtex_entry(reference_with_text(text))
    assert entry.count("{") == entry.count("}")
    library = bibtexparser.parse_string(entry)
    assert not library.failed_blocks
    assert len(library.entries) == 1


@given(st.text())
def test_any_title_yields_one_ris_entry(text):
    (entry,) = rispy.load(io.StringIO(bibliography.ris_entry(reference_with_text(text))))
    assert entry["type_of_reference"] == "ELEC"


def test_bibtex_plain_style_prints_url_and_access_date(written, site):
    formatted = PybtexEngine().format_from_string(
        written("a.bib").decode(), style="plain", output_backend="plaintext"
    )
    assert "Hesk Light" in formatted
    assert f"{site.url}/hesk-light" in formatted
    assert "Accessed 20" in formatted


def test_bibtex_escapes_latex_commands():
    library = bibtexparser.parse_string(bibliography.bibtex_entry(HOSTILE))
    assert not library.failed_blocks
    (entry,) = library.entries
    assert (entry["year"], entry["month"]) == ("2024", "may")
    assert entry["howpublished"] == r"\url{https://example.org/a_b?x=1&y=%7Bz%7D%20#top}"


def test_biblatex_export_contains_cited_source(written, site):
    library = bibtexparser.parse_string(written("a.biblatex.bib").decode())
    assert not library.failed_blocks
    (entry,) = library.entries
    assert entry.entry_type == "online"
    assert entry["url"] == f"{site.url}/hesk-light"
    assert "1829" in entry["annote"]


def test_biblatex_escapes_latex_commands():
    library = bibtexparser.parse_string(bibliography.biblatex_entry(HOSTILE))
    assert not library.failed_blocks
    (entry,) = library.entries
    assert entry["date"] == "2024-05"
    assert "\\$dollars\\$" in entry["title"]
    assert entry["url"] == "https://example.org/a_b?x=1&y=%7Bz%7D%20#top"


def test_ris_export_is_parsed_by_rispy(written, site):
    (entry,) = rispy.load(io.StringIO(written("a.ris").decode()))
    assert entry["type_of_reference"] == "ELEC"
    assert entry["urls"] == [f"{site.url}/hesk-light"]
    assert "Hesk Light" in entry["title"]


def test_quote_resembling_ris_field_stays_a_note():
    (entry,) = rispy.load(io.StringIO(bibliography.ris_entry(HOSTILE)))
    assert entry["type_of_reference"] == "ELEC"
    assert entry["notes"] == ["It was } lit.", "TY  - JOUR"]


def test_citeproc_renders_csl_json_export(written):
    items = json.loads(written("a.csl.json"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        style = CitationStylesStyle("harvard-cite-them-right", validate=False)
        source = CiteProcJSON(items)
        made = CitationStylesBibliography(style, source, citeproc_formatter.plain)
        made.register(Citation([CitationItem(items[0]["id"])]))
        (line,) = made.bibliography()
    assert "Hesk Light" in str(line)
    assert items[0]["URL"] in str(line)


def test_csl_json_keeps_partial_dates():
    item = bibliography.csl_item(HOSTILE)
    assert item["issued"] == {"date-parts": [[2024, 5]]}
    assert item["accessed"] == {"date-parts": [[2026, 11, 21]]}


@pytest.mark.parametrize(
    ("date", "parts"),
    [
        ("2024-13-01", (2024,)),
        ("2024-02-00", (2024, 2)),
        ("0000", ()),
        ("2024-05-01T10:00:00Z", (2024, 5, 1)),
        ("2024", (2024,)),
        ("May 2024", ()),
        ("", ()),
    ],
)
def test_date_parts_stop_at_first_invalid_part(date, parts):
    assert bibliography.date_parts(date) == parts


@pytest.mark.parametrize(
    ("line", "known"),
    [
        ("Jane Doe", [("Doe", "Jane")]),
        ("Doe, Jane", [("Doe", "Jane")]),
        ("by Jane Doe and John Q. Smith", [("Doe", "Jane"), ("Smith", "John Q.")]),
        ("Jane Doe, John Smith", [("Doe", "Jane"), ("Smith", "John")]),
        ("Smith, J., Doe, K. L.", [("Smith", "J."), ("Doe", "K. L.")]),
        ("Ludwig van Beethoven", [("van Beethoven", "Ludwig")]),
        ("van der Berg, Anna", [("van der Berg", "Anna")]),
        ("Sandee LaMotte, CNN", [("LaMotte", "Sandee"), ("CNN", "")]),
        ("Jane Doe, Devon Gorry", [("Doe", "Jane"), ("Gorry", "Devon")]),
        ("Jörg Müller; Ñandú Ibáñez", [("Müller", "Jörg"), ("Ibáñez", "Ñandú")]),
        ("Orlenn Isles Council", [("Orlenn Isles Council", "")]),
        ("Society of Lights, Inc.", [("Society of Lights, Inc.", "")]),
        ("山田太郎", [("山田太郎", "")]),
        ("admin", [("admin", "")]),
        ("", []),
    ],
)
def test_author_lines_are_split_into_persons_and_organisations(line, known):
    assert [(author.family, author.given) for author in authors(line)] == known


def test_authors_are_parsed_by_bibtexparser_and_rispy():
    library = bibtexparser.parse_string(
        bibliography.bibtex_entry(HOSTILE),
        append_middleware=[middlewares.SeparateCoAuthors(), middlewares.SplitNameParts()],
    )
    [first, second, third] = library.entries[0]["author"]
    assert (first.von, first.last, first.first) == (
        ["van", "der"],
        ["Größe"],
        ["Jörg", r"\&", "Söhne"],
    )
    assert second.last == [r"{Council of \textbraceleft{}Isles\textbraceright{}, Lights and Bells}"]
    assert third.last == ["{山田太郎}"]
    (entry,) = rispy.load(io.StringIO(bibliography.ris_entry(HOSTILE)))
    assert entry["authors"][0] == "van der Größe, Jörg & Söhne"
    assert bibliography.csl_item(HOSTILE)["author"][1:] == [
        {"literal": "Council of {Isles}, Lights and Bells"},
        {"literal": "山田太郎"},
    ]


def test_pybtex_parses_bibtex_authors():
    data = parse_string(bibliography.bibtex_entry(HOSTILE), "bibtex")
    persons = data.entries["example2024-1"].persons["author"]
    assert [" ".join(p.last_names) for p in persons][1:] == [
        r"{Council of \textbraceleft{}Isles\textbraceright{}, Lights and Bells}",
        "{山田太郎}",
    ]
    assert persons[0].prelast_names == ["van", "der"]


async def test_author_meta_tag_appears_in_bibliography(ask, script, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(
        '<title>Bells</title><meta name="author" content="Ana de la Cruz">'
        "<article><p>The bell was cast in 1846 at Skarholm by a founder.</p></article>"
    )
    answer = "The bell was cast in 1846 at Skarholm by a founder. [S1]"
    report = await ask(model=script(answer), file=[page])
    export(tmp_path / "data" / "runs" / report.run, tmp_path / "a.bib")
    assert "author = {de la Cruz, Ana}" in (tmp_path / "a.bib").read_text()
