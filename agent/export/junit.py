"""Renders a run as JUnit XML for continuous integration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from agent.export.finished_run import FinishedRun
from agent.export.report_view import (
    faults,
    recheck_cells,
    sentence_note,
    shown_address,
    text_parts,
)
from agent.files import xml_text
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from agent.types import Report


@dataclass(frozen=True, slots=True)
class TestCase:
    """One test case, which passed if `kind` is empty; otherwise `kind` is the type of failure."""

    __test__ = False  # otherwise pytest would collect this class

    suite: str
    name: str
    kind: str = ""
    message: str = ""
    details: str = ""
    seconds: float = 0.0


def to_xml(name: str, cases: Sequence[TestCase]) -> bytes:
    """Render test cases as one test suite."""
    suite = ET.Element(
        "testsuite",
        name=_xml_text(name),
        tests=str(len(cases)),
        failures=str(sum(bool(case.kind) for case in cases)),
        errors="0",
        skipped="0",
        time=f"{sum(case.seconds for case in cases):.3f}",
    )
    for case in cases:
        element = ET.SubElement(
            suite,
            "testcase",
            classname=_xml_text(case.suite),
            name=_xml_text(case.name),
            time=f"{case.seconds:.3f}",
        )
        if case.kind:
            message = _xml_text(case.message)
            failure = ET.SubElement(element, "failure", type=case.kind, message=message)
            failure.text = _xml_text(case.details)
    ET.indent(suite)
    document: bytes = ET.tostring(suite, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _xml_text(text: str) -> str:
    return xml_text(clean(text), "\ufffd")


def render_junit(folder: Path) -> bytes:
    """Render the run as JUnit XML; in an audit, faulty claims and references are failures."""
    report = FinishedRun.read(folder).report
    if report.rechecked:
        cases = _recheck_cases(report)
    else:
        cases = _audit_cases(report) if report.references else _answer_cases(report)
    return to_xml(report.question, list(cases))


def _audit_cases(report: Report) -> Iterator[TestCase]:
    wrong = dict(faults(report))
    names = [sentence.text for sentence in report.sentences]
    names += [r.url or r.doi or r.text for r in report.references]
    for name in dict.fromkeys(names):
        kind = "does not hold" if name in wrong else ""
        yield TestCase(report.run, name, kind, wrong.get(name, ""))


def _recheck_cases(report: Report) -> Iterator[TestCase]:
    for row in report.rechecked:
        text, label, found = recheck_cells(row)
        yield TestCase(report.run, text, label if row.holds is False else "", found)


def _answer_cases(report: Report) -> Iterator[TestCase]:
    kind: str = "" if report.status == "answered" else report.status
    if not kind and report.standing != "supported":
        kind = report.standing
    yield TestCase(
        report.run,
        "The question is answered",
        kind=kind,
        message=f"{report.badge}{f': {report.doubt}' if report.doubt else ''}",
        details="\n\n".join(text_parts(report)),
        seconds=report.elapsed_s,
    )
    for sentence in report.claims:
        cited = [source for source in report.sources if source.n in sentence.citations]
        quotes = [f"[{s.n}] {shown_address(s.url)}\n“{quote}”" for s in cited for quote in s.quotes]
        note = sentence_note(sentence, report)
        failed = "disputed" if note and sentence.holds else sentence.verdict.value
        yield TestCase(
            report.run,
            sentence.text,
            kind="" if sentence.holds and not note else failed,
            message=note or sentence.reason or f"the sentence is {sentence.verdict.value}",
            details="\n".join(quotes),
        )
