"""Bar charts of the tables in an answer: SVG for HTML and PDF, block characters for Word.

A column becomes a chart if each of its cells contains one number and all the numbers are
comparable: they have the same unit, or units that can be converted into each other. Dates, years,
ranges and ranks are not charted. Each bar links to the passage of its row.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from markdown_it import MarkdownIt
from markupsafe import Markup

from agent.evidence.facts import extract_facts
from agent.export.report_view import CITATION_RE, nearest_quote
from browser.text.words import truncate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token

    from agent.evidence.facts import Figure
    from agent.types import Report

MIN_BARS: Final = 2  # a single bar compares nothing
MAX_BARS: Final = 30
"""Maximum number of bars in a chart: more do not fit on a printed page."""
MAX_LABEL_CHARS: Final = 30
"""Maximum length of a label in characters: longer ones do not fit next to the bars."""
BLOCKS: Final = 24
"""Number of characters in the longest bar of a text chart."""
# In pixels.
_ROW_HEIGHT, _LABEL_WIDTH, _BAR_WIDTH, _CHART_WIDTH = 26, 220, 300, 640
_MARKS = re.compile(r"\*\*|__|`")
_RANK_HEADER = re.compile(r"#|no\.?|nr\.?|n°|№|rank|place|position|id", re.IGNORECASE)
_EIGHTHS: Final = " ▏▎▍▌▋▊▉"


@dataclass(frozen=True, slots=True)
class Bar:
    """A table row: its label, its number, and the number as shown in the cell.

    `sources` contains the source numbers that the row cites; `holds` says whether they support it.
    """

    label: str
    value: float
    shown: str
    row: str
    sources: tuple[int, ...] = ()
    holds: bool = True


@dataclass(frozen=True, slots=True)
class Chart:
    """A table column as bars; `table` is the table's index in the answer, from 0."""

    table: int
    title: str
    bars: tuple[Bar, ...]

    @property
    def span(self) -> tuple[float, float]:
        """The lowest and the highest value, extended to include 0."""
        values = [bar.value for bar in self.bars]
        return min(0.0, *values), max(0.0, *values)


def charts_of(report: Report) -> list[Chart]:
    """Return the charts of an answer's tables, in order."""
    tables = _tables(report.answer)
    return [
        chart
        for number, (head, rows) in enumerate(tables)
        for chart in _charts_of_table(number, head, rows, report)
    ]


def _tables(markdown: str) -> list[tuple[list[str], list[list[str]]]]:
    """Read the tables in Markdown text: the cells of the header and of each row."""
    tokens: Sequence[Token] = MarkdownIt("commonmark").enable("table").parse(markdown)
    found: list[tuple[list[str], list[list[str]]]] = []
    for at, token in enumerate(tokens):
        if token.type == "table_open":
            found.append(([], []))
        elif token.type == "th_open":
            found[-1][0].append(tokens[at + 1].content)
        elif token.type == "tr_open":
            found[-1][1].append([])
        elif token.type == "td_open":
            found[-1][1][-1].append(tokens[at + 1].content)
    return [(head, [row for row in rows if row]) for head, rows in found]


def _charts_of_table(
    number: int, head: list[str], rows: list[list[str]], report: Report
) -> Iterator[Chart]:
    if not MIN_BARS <= len(rows) <= MAX_BARS:
        return
    labels = [_plain(row[0]) for row in rows]
    for column in range(1, len(head)):
        cells = [_plain(row[column]) for row in rows]
        values = None if _RANK_HEADER.fullmatch(head[column].strip()) else comparable(cells)
        if values is None or not all(labels):
            continue
        of_row = zip(labels, values, cells, rows, strict=True)
        bars = tuple(_bar(report, *fields) for fields in of_row)
        yield Chart(number, _plain(head[column]) or _plain(head[0]), bars)


def comparable(cells: Sequence[str]) -> list[float] | None:
    """Return the cells' numbers in the unit of the first; None if they cannot be compared."""
    figures = [_figure(cell) for cell in cells]
    first = figures[0]
    if first is None:
        return None
    values: list[float] = []
    for cell, figure in zip(cells, figures, strict=True):
        if figure is None or (figure.unit is None) != (first.unit is None):
            return None
        if figure.unit is None or first.unit is None:
            if figure.adjacent_word != first.adjacent_word:
                return None
            value: float | None = figure.value
        else:
            value = figure.unit.convert(figure.value, first.unit)
        if value is None:
            return None
        negative = re.match(r"\W*[-−–]\W*\d", cell)
        values.append(-abs(value) if negative else value)
    in_order = values == [float(n) for n in range(1, len(values) + 1)]
    return None if len(set(values)) < MIN_BARS or in_order else values


def _figure(cell: str) -> Figure | None:
    """Return the number in a cell; None if it has several, a date, or a number in a sentence."""
    facts = extract_facts(cell)
    if len(facts.figures) != 1 or facts.dates or len(cell.split()) > MAX_CELL_WORDS:
        return None
    return facts.figures[0]


MAX_CELL_WORDS: Final = 5
"""Maximum number of words in a cell with a number: `about 5 million square metres`."""


def _bar(report: Report, label: str, value: float, shown: str, row: list[str]) -> Bar:
    text = " | ".join(row)
    cited = tuple(dict.fromkeys(map(int, CITATION_RE.findall(text))))
    words = _without_spaces_or_bars(text)
    sentence = next((s for s in report.sentences if _without_spaces_or_bars(s.text) in words), None)
    known = {source.n for source in report.sources}
    return Bar(
        label,
        value,
        shown,
        _plain(text),
        tuple(n for n in cited if n in known),
        holds=sentence is None or sentence.holds,
    )


def _without_spaces_or_bars(text: str) -> str:
    return re.sub(r"[\s|]+", "", CITATION_RE.sub("", text))


def _plain(cell: str) -> str:
    return " ".join(_MARKS.sub("", CITATION_RE.sub("", cell)).split())


def passage_of(report: Report, bar: Bar) -> str:
    """Return the id of the quote that supports a bar, as in the HTML report; "" without one."""
    for source in report.sources:
        if source.n in bar.sources:
            quoted = nearest_quote(source, bar.row) + 1
            return f"quote-{source.n}-{quoted}" if source.quotes else f"source-{source.n}"
    return ""


def to_svg(chart: Chart, report: Report) -> Markup:
    """Draw a chart as a figure with an SVG that inherits the page's colours."""
    low, high = chart.span
    place = partial(_x_position, low=low, high=high)
    rows = [_svg_row(bar, n, place, passage_of(report, bar)) for n, bar in enumerate(chart.bars)]
    height = _ROW_HEIGHT * len(chart.bars)
    axis = Markup('<line class="axis" x1="{0}" x2="{0}" y1="0" y2="{1}"/>').format(
        place(0.0), height
    )
    figure = Markup(
        '<figure class="chart"><figcaption>{}</figcaption><svg role="group" aria-label="{}" '
        'viewBox="0 0 {} {}" width="100%">{}</svg></figure>'
    )
    drawn = Markup("").join([*rows, axis])
    return figure.format(chart.title, f"Chart: {chart.title}", _CHART_WIDTH, height, drawn)


def _x_position(value: float, low: float, high: float) -> float:
    """Return the position of a value, in pixels from the left."""
    return round(_LABEL_WIDTH + _BAR_WIDTH * (value - low) / (high - low), 1)


def _svg_row(bar: Bar, number: int, place: partial[float], passage: str) -> Markup:
    start, end = sorted((place(0.0), place(bar.value)))
    top = number * _ROW_HEIGHT
    kind = "bar" if bar.holds else "bar unsure"
    shown = bar.shown if bar.holds else f"{bar.shown} (not supported)"
    row = Markup(
        '<title>{}</title><text class="label" x="{}" y="{}" text-anchor="end">{}</text>'
        '<rect class="{}" x="{}" y="{}" width="{}" height="{}" rx="2"/>'
        '<text class="value" x="{}" y="{}">{}</text>'
    ).format(
        f"{bar.label}: {shown}",
        *(_LABEL_WIDTH - 10, top + 18, truncate(bar.label, MAX_LABEL_CHARS)),
        *(kind, start, top + 4, round(max(end - start, 1.0), 1), _ROW_HEIGHT - 8),
        *(end + 8, top + 18, shown),
    )
    return Markup('<a href="#{}">{}</a>').format(passage, row) if passage else row


def to_blocks(chart: Chart, bar: Bar) -> str:
    """Draw a bar of block characters, to an eighth of a character; negatives get a minus sign."""
    low, high = chart.span
    eighths = round(8 * BLOCKS * abs(bar.value) / max(high, -low))
    drawn = "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
    return f"−{drawn}" if bar.value < 0 else drawn or _EIGHTHS[1]
