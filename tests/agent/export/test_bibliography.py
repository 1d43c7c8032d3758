"""Bibliographies, read by the libraries of others."""

from __future__ import annotations

import io
import json
import warnings

import bibtexparser
import pytest
import rispy
from hypothesis import given
from hypothesis import strategies as st

from agent.export import bibtex, csl, reference, ris
from agent.export.reference import Reference

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of modules that are imported in ways that will end
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
    quotes=("It was } lit.", "TY  - JOUR"),
)


def whatever(text):
    """A source of which everything that others say is this text, as it is read from a run."""
    line = reference._line(text)
    return Reference("a-1", line or "t", line, line, (), (2026,), (line,))


@given(st.text())
def test_bibtex_is_one_entry_with_braces_that_match_whatever_a_title_says(text):
    entry = bibtex._entry(whatever(text))
    assert entry.count("{") == entry.count("}")
    library = bibtexparser.parse_string(entry)
    assert not library.failed_blocks
    assert len(library.entries) == 1


@given(st.text())
def test_ris_is_one_entry_whatever_a_title_says(text):
    rows = "".join(f"{tag}  - {value}\n" for tag, value in ris._entry(whatever(text)) if tag)
    (entry,) = rispy.load(io.StringIO(rows))
    assert entry["type_of_reference"] == "ELEC"


def test_the_source_of_an_answer_stands_in_bibtex(written, site):
    library = bibtexparser.parse_string(written("a.bib").decode())
    assert not library.failed_blocks
    (entry,) = library.entries
    assert entry.entry_type == "online"
    assert entry["url"] == f"{site.url}/hesk-light"
    assert "1829" in entry["annote"]


def test_bibtex_holds_what_latex_would_take_for_commands():
    library = bibtexparser.parse_string(bibtex._entry(HOSTILE))
    assert not library.failed_blocks
    (entry,) = library.entries
    assert entry["date"] == "2024-05"
    assert "\\$dollars\\$" in entry["title"]
    assert entry["url"] == "https://example.org/a_b?x=1&y=%7Bz%7D%20#top"


def test_ris_is_read_field_by_field(written, site):
    (entry,) = rispy.load(io.StringIO(written("a.ris").decode()))
    assert entry["type_of_reference"] == "ELEC"
    assert entry["urls"] == [f"{site.url}/hesk-light"]
    assert "Hesk Light" in entry["title"]


def test_a_quote_that_looks_like_a_field_of_ris_stays_a_quote():
    text = "".join(f"{tag}  - {value}\n" for tag, value in ris._entry(HOSTILE) if tag)
    (entry,) = rispy.load(io.StringIO(text))
    assert entry["type_of_reference"] == "ELEC"
    assert entry["notes"] == ["It was } lit.", "TY  - JOUR"]


def test_a_citation_processor_writes_a_bibliography_of_csl_json(written):
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


def test_csl_json_gives_dates_as_far_as_they_are_known():
    item = csl._item(HOSTILE)
    assert item["issued"] == {"date-parts": [[2024, 5]]}
    assert item["accessed"] == {"date-parts": [[2026, 11, 21]]}


@pytest.mark.parametrize(
    ("date", "parts"),
    [("2024-05-01T10:00:00Z", (2024, 5, 1)), ("2024", (2024,)), ("May 2024", ()), ("", ())],
)
def test_dates_are_read_as_far_as_they_are_known(date, parts):
    assert reference.parts(date) == parts
