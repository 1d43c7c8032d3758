"""Charts: which table columns become bars, and that each bar links to its passage."""

from __future__ import annotations

import io
import re
from xml.etree import ElementTree as ET

import docx
import pytest
from docx.oxml.ns import qn

from agent.export.charts import charts_of, comparable, to_svg
from agent.export.markup import answer_html
from agent.export.report_docx import render_docx
from agent.types import Report, ReportSource, Sentence, VerdictState

ANSWER = """The ferries differ in size.

| Ship | Cars | In service | Length |
|---|---|---|---|
| **Heron** & Co | 24 | 1998 | 61 m [1] |
| Kittiwake | 36 | 2004 | 0.07 km [2] |
| <b>Wren</b> | 12 | 2011 | 40 m |

| Route | Boats |
|---|---|
| Brack | 3 of 4 [1] |
| Orlenn | two or 3 [1] |
"""


def sentence(text, citations=(), verdict=VerdictState.SUPPORTED):
    return Sentence(text=text, citations=list(citations), verdict=verdict)


@pytest.fixture
def report():
    def source(n, *quotes):
        fields = {"fetched_at": "2026-11-28T08:00:00Z", "sha256": "0" * 64, "via": "http"}
        return ReportSource(n=n, url=f"https://s{n}.example/", quotes=list(quotes), **fields)

    return Report(
        run="20261128-080000-aaaa",
        question="Which ferries are there?",
        status="answered",
        answer=ANSWER,
        sentences=[
            sentence("| **Heron** & Co | 24 | 1998 | 61 m |", [1]),
            sentence("| Kittiwake | 36 | 2004 | 0.07 km |", [2]),
            sentence("| <b>Wren</b> | 12 | 2011 | 40 m |", verdict=VerdictState.UNCITED),
        ],
        sources=[
            source(1, "They run all year.", "Heron: 24 cars, 61 m, since 1998"),
            source(2, "Kittiwake: 36 cars, 70 m, since 2004"),
        ],
    )


def test_comparable_columns_become_charts_with_bars_linked_to_passages(report):
    cars, length = charts_of(report)  # neither the years nor the second table
    assert [(cars.table, cars.title), (length.table, length.title)] == [(0, "Cars"), (0, "Length")]
    assert [bar.value for bar in length.bars] == [61.0, pytest.approx(70.0), 40.0]
    svg = ET.fromstring(to_svg(length, report))
    links = [a.get("href") for a in svg.iter("a")]
    assert links == [
        "#quote-1-2",
        "#quote-2-1",
    ]  # the passage of the row, not the first of the page
    widths = [float(rect.get("width")) for rect in svg.iter("rect")]
    assert widths[1] == max(widths)
    assert widths[0] / widths[1] == pytest.approx(61 / 70, abs=0.01)
    unsupported = list(svg.iter("rect"))[2]
    assert unsupported.get("class") == "bar unsure"
    assert "40 m (not supported)" in "".join(svg.itertext())


def test_charts_follow_their_table_without_cell_markup(report):
    html = answer_html(report)
    first, second = html.split("</table>")[:2]
    assert ("<svg" in first, second.count("<svg")) == (False, 2)
    assert html.rindex("</svg>") < html.rindex("<table>")
    assert "<b>" not in second
    assert "Heron &amp; Co" in second


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["184 m", "1.2 km"], [184.0, 1200.0]),
        (["$5 million", "$12.5 million"], [5e6, 12.5e6]),
        (["-3.5", "2"], [-3.5, 2.0]),
        (["12 %", "30%", "7 %"], [12.0, 30.0, 7.0]),
        (["24 cars", "30 ships"], None),
        (["12 m", "30"], None),
        (["$5", "€6"], None),
        (["1829", "1851"], None),
        (["1 November 1829", "2 May 1830"], None),
        (["12–15", "3"], None),
        (["1", "2", "3"], None),  # ranks
        (["10", "10"], None),
        (["7", "n/a"], None),
    ],
)
def test_comparable_accepts_only_values_of_one_unit(cells, values):
    assert comparable(cells) == values


def test_docx_contains_tables_and_chart_bars_linked_to_quotes(report, finished, monkeypatch):
    (finished.path / "report.json").write_text(report.to_json())
    document = docx.Document(io.BytesIO(render_docx(finished.path)))
    table, cars, length = document.tables[:3]
    assert [cell.text for cell in table.rows[0].cells] == ["Ship", "Cars", "In service", "Length"]
    bars = [row.cells[1].text for row in length.rows]
    assert [bar.count("█") for bar in bars] == [20, 24, 13]
    anchors = [link.get(qn("w:anchor")) for link in length._tbl.iter(qn("w:hyperlink"))]
    assert anchors == ["quote-1-2", "quote-2-1"]
    marks = {m.get(qn("w:name")) for m in document.element.iter(qn("w:bookmarkStart"))}
    assert set(anchors) <= marks
    assert not re.search(r"\*\*|\[1\]", cars.rows[0].cells[0].text)
