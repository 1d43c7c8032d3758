"""A run as a Word document: the answer, what is not supported, the sources with their quotes."""

from __future__ import annotations

import io
import re
import zlib
from itertools import groupby
from typing import TYPE_CHECKING, Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from agent.errors import from_extra
from agent.evidence.passages import is_table_rule, split_row
from agent.export import report_view
from agent.export.charts import charts_of, passage_of, to_blocks
from agent.export.run_record import FinishedRun, to_the_minute
from agent.files import xml_text

if TYPE_CHECKING:
    from pathlib import Path

    from agent.export.charts import Chart
    from agent.types import Report

_LINK = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink"
_BOLD = re.compile(r"\*\*(.+?)\*\*")


def render_docx(folder: Path) -> bytes:
    """Write the run as a Word document; raises `UsageError` where python-docx is missing."""
    with from_extra("docx"):
        import docx  # noqa: PLC0415 - an extra: only who writes such a file needs it
    record = FinishedRun.read(folder)
    report = record.report
    document = docx.Document()
    document.core_properties.title = _text(report.question)[:255]
    document.core_properties.author = "Urchin"
    document.add_heading(_text(report.question), level=0)
    for line in report_view.head_lines(report):
        document.add_paragraph().add_run(_text(line)).bold = True
    _add_answer(document, _text(report_view.annotated_answer(report)), report)
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
        head = document.add_paragraph(f"[{source.n}] ")
        head.paragraph_format.keep_with_next = True
        if source.url.startswith(("http://", "https://")):
            _add_link(head, _text(source.title or source.url), _text(source.url))
            head.add_run(_text(f"  {source.url}"))
        else:
            head.add_run(_text(f"{source.title}  {report_view.shown_address(source.url)}"))
        head.add_run(f"  {report_view.source_note(source, to_the_minute(source.fetched_at))}")
        _add_bookmark(head, f"source-{source.n}")
        for number, quote in enumerate(report_view.paged_quotes(source), 1):
            quoted = document.add_paragraph(_text(" ".join(quote.split())), style="Quote")
            _add_bookmark(quoted, f"quote-{source.n}-{number}")
    facts = ", ".join([f"Status {report.badge}", *report_view.confidence_facts(report)])
    asked = to_the_minute(record.events[0].at)
    document.add_paragraph(_text(f"{facts}. Asked {asked}. Run {report.run}."))
    written = io.BytesIO()
    document.save(written)
    return _without_times(written)


def _without_times(written: io.BytesIO) -> bytes:
    """Pack a document again without the time at which its parts were written."""
    out = io.BytesIO()
    with ZipFile(written) as parts, ZipFile(out, "w") as packed:
        for name in parts.namelist():
            packed.writestr(ZipInfo(name), parts.read(name), ZIP_DEFLATED)
    return out.getvalue()


def _add_answer(document: Any, answer: str, report: Report) -> None:
    """Write the answer's Markdown: headings, lists, tables with their charts, bold words."""
    charts = charts_of(report)
    lines = (line.strip() for line in answer.split("\n"))
    number = 0
    for is_table, block in groupby(lines, key=lambda line: line.startswith("|")):
        if not is_table:
            for line in filter(None, block):
                _add_line(document, line)
            continue
        _add_table(document, [split_row(line) for line in block if not is_table_rule(line)])
        for chart in charts:
            if chart.table == number:
                _add_chart(document, chart, report)
        number += 1


def _add_line(document: Any, line: str) -> None:
    marks = len(line) - len(line.lstrip("#"))
    if 0 < marks <= 6 and line[marks : marks + 1] == " ":
        document.add_heading(line[marks + 1 :], level=min(marks, 4))
        return
    listed = line[:2] in ("- ", "* ")
    paragraph = document.add_paragraph(style="List Bullet" if listed else None)
    for n, part in enumerate(_BOLD.split(line[2:] if listed else line)):
        if part:
            paragraph.add_run(part).bold = bool(n % 2)


def _add_table(document: Any, rows: list[list[str]]) -> None:
    table = document.add_table(rows=0, cols=max(map(len, rows)), style="Table Grid")
    for number, cells in enumerate(rows):
        for cell, text in zip(table.add_row().cells, cells, strict=False):
            cell.paragraphs[0].add_run(_BOLD.sub(r"\1", text)).bold = not number
    document.add_paragraph()


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
    """Add a bookmark at the beginning of a paragraph, which python-docx cannot."""
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
        link.set(qn("r:id"), paragraph.part.relate_to(url, _LINK, is_external=True))
    run = paragraph.add_run(text)
    run.underline = not anchor  # a line below a bar would be part of its drawing
    link.append(run._r)  # noqa: SLF001 - the element itself is what is put into the link
    paragraph._p.append(link)  # noqa: SLF001 - as above


def _text(text: str) -> str:
    return xml_text(text, " ")
