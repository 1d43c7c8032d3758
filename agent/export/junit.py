"""JUnit's XML, as continuous integration reads it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from agent.export.report_view import faults
from agent.export.run_record import FinishedRun
from agent.types import VerdictState
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from agent.types import Report, Sentence


_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class TestCase:
    """One case: it passed where `kind` is empty; else `kind` names the sort of failure.

    `seconds` is how long it took, `details` what a person reads to find out why.
    """

    __test__ = False  # pytest collects classes by this name

    suite: str
    name: str
    kind: str = ""
    message: str = ""
    details: str = ""
    seconds: float = 0.0


def to_xml(name: str, cases: Sequence[TestCase]) -> bytes:
    """Write cases as one suite."""
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
        _add(suite, case)
    ET.indent(suite)
    document: bytes = ET.tostring(suite, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _add(suite: ET.Element, case: TestCase) -> None:
    element = ET.SubElement(
        suite,
        "testcase",
        classname=_xml_text(case.suite),
        name=_xml_text(case.name),
        time=f"{case.seconds:.3f}",
    )
    if case.kind:
        failure = ET.SubElement(element, "failure", type=case.kind, message=_xml_text(case.message))
        failure.text = _xml_text(case.details)


def _xml_text(text: str) -> str:
    """Leave out what XML cannot hold, escaped or not."""
    return _NO_XML.sub("\ufffd", clean(text))


def render_junit(folder: Path) -> bytes:
    """Write the run as JUnit's XML."""
    report = FinishedRun.read(folder).report
    cases = [_status(report), *(_sentence(report, sentence) for sentence in report.sentences)]
    if report.references:
        cases = _audited(report)
    return to_xml(report.question, cases)


def _audited(report: Report) -> list[TestCase]:
    """Write a case for each sentence and each reference of a draft; what does not hold fails."""
    wrong = dict(faults(report))
    names = [one.text for one in report.sentences]
    names += [one.url or one.doi or one.text for one in report.references]
    return [
        TestCase(report.run, name, "does not hold" if name in wrong else "", wrong.get(name, ""))
        for name in dict.fromkeys(names)
    ]


def _status(report: Report) -> TestCase:
    kind = "" if report.status == "answered" else report.status
    error = report.error
    told = f"{error.message} {error.hint}" if error else report.answer
    message = f"the run ended as {report.status.replace('_', ' ')}"
    return TestCase(
        report.run, "The question is answered", kind, message, told, seconds=report.elapsed_s
    )


def _sentence(report: Report, sentence: Sentence) -> TestCase:
    supported = sentence.verdict is VerdictState.SUPPORTED
    cited = [source for source in report.sources if source.n in sentence.citations]
    quotes = [f"[{s.n}] {s.url}\n“{quote}”" for s in cited for quote in s.quotes]
    kind = "" if supported else sentence.verdict.value
    reason = sentence.reason or f"the sentence is {sentence.verdict.value}"
    return TestCase(report.run, sentence.text, kind, reason, "\n".join(quotes))
