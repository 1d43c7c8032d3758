"""A run as a Word document: the answer, the unsupported sentences, the sources with quotes."""

from __future__ import annotations

import io
import re
import zlib
from itertools import groupby
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from agent.errors import requires_extra
from agent.evidence.passages import is_table_rule, split_row
from agent.export import report_view
from agent.export.charts import charts_of, passage_of, to_blocks
from agent.export.finished_run import FinishedRun, to_the_minute
from agent.files import xml_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from agent.export.charts import Chart
    from agent.types import Report, ReportSource

_RELATIONSHIPS_NAMESPACE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_HYPERLINK_RELATION, _FOOTNOTES_RELATION = (
    f"{_RELATIONSHIPS_NAMESPACE}/hyperlink",
    f"{_RELATIONSHIPS_NAMESPACE}/footnotes",
)
_WORD_NAMESPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_FOOTNOTES_MIME_TYPE = (
    "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
)
_BOLD_RE = re.compile(r"\*\*(.+?)\*\*")
# An address, or a citation with its page if it has one.
_ADDRESS_OR_CITATION_RE = re.compile(
    r"(\[\d{1,3}(?:,[^\]]{1,40})?\]|https?://[^\s<>\"]*[^\s<>\".,;:!?)\]])"
)


def render_docx(folder: Path) -> bytes:
    """Write the run as a Word document; raises `UsageError` if python-docx is missing."""
    with requires_extra("docx"):
        import docx  # noqa: PLC0415 - an extra, needed only to write such a file
    record = FinishedRun.read(folder)
    report = record.report
    document = docx.Document()
    document.core_properties.title = _text(report.question)[:255]
    document.core_properties.author = "Urchin"
    document.add_heading(_text(report.question), level=0)
    for line in report_view.head_lines(report):
        document.add_paragraph().add_run(_text(line)).bold = True
    notes = _Footnotes(document, {source.n: source for source in report.sources})
    _add_answer(document, _text(report_view.annotated_answer(report)), notes, report)
    notes.add()
    if report.closest:
        document.add_heading(_text(report_view.closest_title(report)), level=1)
    for passage in report.closest:
        place = f"[{passage.source}] {report_view.closest_place(passage)}"
        document.add_paragraph(_text(" ".join(passage.text.split())), style="Quote")
        document.add_paragraph(_text(place))
    unsupported = report_view.other_unsupported(report)
    if unsupported:
        document.add_heading("Not supported", level=1)
    for sentence in unsupported:
        reason = f": {sentence.reason}" if sentence.reason else ""
        label = report_view.verdict_label(sentence, report)
        document.add_paragraph(_text(f"{sentence.text} — {label}{reason}"), style="List Bullet")
    if report.sources:
        document.add_heading("Sources", level=1)
    for source in report.sources:
        _add_source(document, source)
    facts = ", ".join([f"Status {report.badge}", *report_view.confidence_facts(report)])
    asked = to_the_minute(record.events[0].at)
    document.add_paragraph(_text(f"{facts}. Asked {asked}. Run {report.run}."))
    written = io.BytesIO()
    document.save(written)
    return _reset_part_times(written)


def _add_source(document: Any, source: ReportSource) -> None:
    """Write a source: its title and address as links, the time of reading, and its quotes."""
    head = document.add_paragraph(f"[{source.n}] ")
    head.paragraph_format.keep_with_next = True
    if source.url.startswith(("http://", "https://")):
        _add_link(head, _text(source.title or source.url), _text(source.url))
        if source.title:
            head.add_run("  ")
            _add_link(head, _text(source.url), _text(source.url))
    else:
        head.add_run(_text(f"{source.title}  {report_view.shown_address(source.url)}"))
    head.add_run(f"  {report_view.source_note(source, to_the_minute(source.fetched_at))}")
    _add_bookmark(head, f"source-{source.n}")
    for number, quote in enumerate(report_view.paged_quotes(source), 1):
        quoted = document.add_paragraph(_text(" ".join(quote.split())), style="Quote")
        _add_bookmark(quoted, f"quote-{source.n}-{number}")


def _reset_part_times(written: io.BytesIO) -> bytes:
    """Repack a document without the timestamps of its parts."""
    out = io.BytesIO()
    with ZipFile(written) as parts, ZipFile(out, "w") as packed:
        for name in parts.namelist():
            packed.writestr(ZipInfo(name), parts.read(name), ZIP_DEFLATED)
    return out.getvalue()


def _add_answer(document: Any, answer: str, notes: _Footnotes, report: Report) -> None:
    """Write the answer's Markdown: headings, lists, tables with their charts, bold text."""
    charts = charts_of(report)
    lines = (line.strip() for line in answer.split("\n"))
    number = 0
    for is_table, block in groupby(lines, key=lambda line: line.startswith("|")):
        if not is_table:
            for line in filter(None, block):
                _add_line(document, line, notes)
            continue
        rows = [split_row(line) for line in block if not is_table_rule(line)]
        _add_table(document, rows, notes)
        for chart in charts:
            if chart.table == number:
                _add_chart(document, chart, report)
        number += 1


def _add_line(document: Any, line: str, notes: _Footnotes) -> None:
    marks = len(line) - len(line.lstrip("#"))
    if 0 < marks <= 6 and line[marks : marks + 1] == " ":
        document.add_heading(line[marks + 1 :], level=min(marks, 4))
        return
    listed = line[:2] in ("- ", "* ")
    paragraph = document.add_paragraph(style="List Bullet" if listed else None)
    for n, part in enumerate(_BOLD_RE.split(line[2:] if listed else line)):
        _add_cited(paragraph, part, notes, bold=bool(n % 2))


def _add_table(document: Any, rows: list[list[str]], notes: _Footnotes) -> None:
    table = document.add_table(rows=0, cols=max(map(len, rows)), style="Table Grid")
    for number, cells in enumerate(rows):
        for cell, text in zip(table.add_row().cells, cells, strict=False):
            plain = _BOLD_RE.sub(r"\1", text)
            _add_cited(cell.paragraphs[0], plain, notes, bold=not number)
    document.add_paragraph()


def _add_cited(paragraph: Any, text: str, notes: _Footnotes, *, bold: bool) -> None:
    """Write text, with addresses as links and citations as footnotes."""
    for piece in filter(None, _ADDRESS_OR_CITATION_RE.split(text)):
        if piece.startswith("http"):
            _add_link(paragraph, piece, piece)
            continue
        run = paragraph.add_run(piece)
        run.bold = bold
        if _ADDRESS_OR_CITATION_RE.fullmatch(piece):
            notes.refer(run)


class _Footnotes:
    """A document's footnotes, which python-docx cannot write: one for each citation.

    The citation itself (`[1]`) serves as the footnote mark.
    """

    def __init__(self, document: Any, sources: Mapping[int, ReportSource]) -> None:
        self._document = document
        self._sources = sources
        self._cited: list[tuple[str, ReportSource]] = []

    def refer(self, run: Any) -> None:
        """Turn a citation's text run into a footnote mark."""
        from docx.oxml import OxmlElement  # noqa: PLC0415 - as above
        from docx.oxml.ns import qn  # noqa: PLC0415 - as above

        source = self._sources.get(int(re.findall(r"\d+", run.text)[0]))
        if source is None:
            return
        self._cited.append((run.text, source))
        reference = OxmlElement("w:footnoteReference")
        reference.set(qn("w:customMarkFollows"), "1")
        reference.set(qn("w:id"), str(len(self._cited)))
        run.font.superscript = True
        run._r.insert_element_before(reference, "w:t")  # noqa: SLF001 - the run's own element

    def add(self) -> None:
        """Add the document part that contains the footnotes, if there are any."""
        from docx.opc.packuri import PackURI  # noqa: PLC0415 - as above
        from docx.opc.part import Part  # noqa: PLC0415 - as above

        if not self._cited:
            return
        package = self._document.part.package
        part = Part(PackURI("/word/footnotes.xml"), _FOOTNOTES_MIME_TYPE, b"", package)
        self._document.part.relate_to(part, _FOOTNOTES_RELATION)
        rules = (("separator", -1), ("continuationSeparator", 0))
        notes = "".join(
            f'<w:footnote w:type="{kind}" w:id="{number}"><w:p><w:r><w:{kind}/></w:r></w:p>'
            "</w:footnote>"
            for kind, number in rules
        )
        for number, (mark, source) in enumerate(self._cited, 1):
            notes += f'<w:footnote w:id="{number}"><w:p>{self._note(part, mark, source)}</w:p>'
            notes += "</w:footnote>"
        spaces = f'xmlns:w="{_WORD_NAMESPACE}" xmlns:r="{_RELATIONSHIPS_NAMESPACE}"'
        xml = f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?><w:footnotes {spaces}>'
        part._blob = f"{xml}{notes}</w:footnotes>".encode()  # noqa: SLF001 - the part was created empty, for its relations

    @staticmethod
    def _note(part: Any, mark: str, source: ReportSource) -> str:
        title = _footnote_run(source.title or report_view.shown_address(source.url))
        if source.url.startswith(("http://", "https://")):
            relation = part.relate_to(_text(source.url), _HYPERLINK_RELATION, is_external=True)
            title = f'<w:hyperlink r:id="{relation}">{title}</w:hyperlink>'
        quote = next(iter(report_view.paged_quotes(source)), "")
        said = f": “{' '.join(quote.split())}”" if quote else ""
        return f"{_footnote_run(f'{mark} ')}{title}{_footnote_run(said)}"


def _footnote_run(text: str) -> str:
    """Return a footnote's text run, in a small size (9 points)."""
    words = escape(_text(text))
    size = '<w:rPr><w:sz w:val="18"/></w:rPr>'
    return f'<w:r>{size}<w:t xml:space="preserve">{words}</w:t></w:r>'


def _add_chart(document: Any, chart: Chart, report: Report) -> None:
    """Write a chart as a table of labels, bars and values; each bar links to its passage."""
    document.add_paragraph().add_run(_text(chart.title)).bold = True
    table = document.add_table(rows=0, cols=2)
    for bar in chart.bars:
        label, drawn = table.add_row().cells
        label.text = _text(bar.label)
        paragraph, blocks = drawn.paragraphs[0], to_blocks(chart, bar)
        passage = passage_of(report, bar)
        if passage:
            _add_link(paragraph, blocks, anchor=passage)
        else:
            paragraph.add_run(blocks)
        paragraph.add_run(_text(f" {bar.shown}{'' if bar.holds else ' (not supported)'}"))
    document.add_paragraph()


def _add_bookmark(paragraph: Any, name: str) -> None:
    """Add a bookmark at the beginning of a paragraph, which python-docx cannot do."""
    from docx.oxml import OxmlElement  # noqa: PLC0415 - as above
    from docx.oxml.ns import qn  # noqa: PLC0415 - as above

    for kind in ("end", "start"):
        mark = OxmlElement(f"w:bookmark{kind.capitalize()}")
        mark.set(qn("w:id"), str(zlib.crc32(name.encode())))
        if kind == "start":
            mark.set(qn("w:name"), name)
        paragraph._p.insert(0, mark)  # noqa: SLF001 - as below


def _add_link(paragraph: Any, text: str, url: str = "", *, anchor: str = "") -> None:
    """Add a hyperlink to a URL or a bookmark, which python-docx reads but does not write."""
    from docx.oxml import OxmlElement  # noqa: PLC0415 - as above
    from docx.oxml.ns import qn  # noqa: PLC0415 - as above

    link = OxmlElement("w:hyperlink")
    if anchor:
        link.set(qn("w:anchor"), anchor)
    else:
        link.set(qn("r:id"), paragraph.part.relate_to(url, _HYPERLINK_RELATION, is_external=True))
    run = paragraph.add_run(text)
    run.underline = not anchor  # an underline would look like part of the bar
    link.append(run._r)  # noqa: SLF001 - the element itself is moved into the link
    paragraph._p.append(link)  # noqa: SLF001 - as above


def _text(text: str) -> str:
    return xml_text(text, " ")
