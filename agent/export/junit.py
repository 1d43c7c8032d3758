"""A run as a test suite: each sentence of the answer a case that passes when it is supported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.export.record import Record
from agent.export.xunit import TestCase, to_xml
from agent.types import VerdictState

if TYPE_CHECKING:
    from pathlib import Path

    from agent.types import Report, Sentence


def render(folder: Path, _ending: str) -> bytes:
    """Write the run as JUnit's XML."""
    report = Record.read(folder).report
    cases = [_status(report), *(_sentence(report, sentence) for sentence in report.sentences)]
    return to_xml(report.question, cases)


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
