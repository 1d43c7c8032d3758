"""`research check`: run questions with expected answers as a test suite."""

from __future__ import annotations

import asyncio
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from agent.cli.flags import PATH, drop_unset, option, run_flags
from agent.cli.terminal import print_error, print_text
from agent.config import load_options
from agent.errors import CHECK_FAILED, ResearchError
from agent.export.junit import TestCase, to_xml
from agent.export.report_view import head_lines, sentence_note, text_parts
from agent.export.run_archive import is_archive, open_run
from agent.files import write_file
from agent.journal.runs import Runs
from agent.run.expectations import read_suite
from agent.run.record import RunRecord
from agent.run.replay import replay
from agent.run.research import research
from agent.types import format_usd
from browser.text.words import one_line, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from agent.run.expectations import Check, Suite
    from agent.types import Report

_PATH_OPTIONS = frozenset({"corpus", "file", "storage_state"})
_SUITE_DEFAULTS = {"memory": False}
"""Defaults that the file can override. Memory is off so that checks do not influence each other."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check: its failures, and the report if there is one."""

    check: Check
    failures: tuple[str, ...]
    seconds: float
    report: Report | None = None


@click.command()
@click.argument("checks", type=PATH, metavar="FILE")
@option("--junit", "FILE", "Write the results as JUnit XML.", type=PATH)
@option("--summary", "FILE", "Write a Markdown summary.", type=PATH)
@run_flags("--model", "--judge", "--search", "--corpus", "--depth", "--budget", "--data-dir")
def check(checks: Path, junit: Path | None, summary: Path | None, **flags: Any) -> int:
    """Run the checks in FILE (YAML): questions or recorded runs with expected results.

    Accepts all options listed by `research ask --help`; they override those in the file. Exits with
    code 8 if any check fails.
    """
    suite = read_suite(checks)
    runs = Runs(load_options({"data_dir": flags["data_dir"]}, config=True).data)
    results = asyncio.run(_run_suite(suite, runs, drop_unset(flags)))
    failed = sum(bool(result.failures) for result in results)
    print(f"{len(results) - failed} of {len(results)} checks passed")
    if junit:
        write_file(junit, _junit(checks.stem, results))
    if summary:
        write_file(summary, _summary(checks.stem, results).encode())
    if failed:
        print_error(f"{failed} of {len(results)} checks failed")
    return CHECK_FAILED if failed else 0


_MAX_ANSWER_CHARS = 400
"""Maximum length of the answer printed below a failed check, in characters."""


async def _run_suite(suite: Suite, runs: Runs, flags: dict[str, Any]) -> list[CheckResult]:
    """Run the checks one after another, and print each result immediately."""
    results = []
    for one in suite.checks:
        result = await _run_check(one, suite, runs, flags)
        results.append(result)
        print_text(f"{'FAIL' if result.failures else 'ok  '}  {one.title}")
        for failure in result.failures:
            print_text(f"      {failure}")
        if result.report and (shown := _format_notes(result)):
            print_text(f"      {shown}")
        sys.stdout.flush()  # a suite takes minutes, and CI shows output as it arrives
    return results


async def _run_check(one: Check, suite: Suite, runs: Runs, flags: dict[str, Any]) -> CheckResult:
    started = time.monotonic()
    try:
        if one.run is not None:
            name = str(suite.folder / one.run) if is_archive(one.run) else one.run
            with open_run(name, runs) as folder:
                report = await replay(RunRecord.read(folder))
        else:
            settings = {**_SUITE_DEFAULTS, **_suite_settings(one, suite), **flags}
            report = await research(str(one.question), config=True, **settings)
    except ResearchError as error:
        failure = " ".join(part for part in (str(error), error.hint) if part)
        return CheckResult(one, (failure,), time.monotonic() - started)
    failures = tuple(one.expect.failures(report))
    return CheckResult(one, failures, time.monotonic() - started, report)


def _suite_settings(one: Check, suite: Suite) -> dict[str, Any]:
    """Merge the file's settings with those of this check; paths are relative to the file."""
    settings = {**suite.options, **one.options}
    for name in settings.keys() & _PATH_OPTIONS:
        value = settings[name]
        if isinstance(value, list):
            settings[name] = [suite.folder / str(path) for path in value]
        else:
            settings[name] = suite.folder / str(value)
    return settings


def _format_notes(result: CheckResult) -> str:
    """Return the notes to print: doubts and disputes, plus the answer if the check failed."""
    report = result.report
    assert report is not None
    notes = [note for s in report.sentences if (note := sentence_note(s, report))]
    text = " ".join(" ".join([*head_lines(report), *notes]).split())
    if result.failures and report.answer:
        text = f"{text} answer: {shorten(report.answer, _MAX_ANSWER_CHARS)}".strip()
    return text


def _junit(name: str, results: Sequence[CheckResult]) -> bytes:
    cases = []
    for result in results:
        details, report = "", result.report
        if report is not None:
            details = "\n\n".join([f"run {report.run}", *text_parts(report)])
        failed = "expectation" if result.failures else ""
        text = "; ".join(result.failures)
        cases.append(TestCase(name, result.check.title, failed, text, details, result.seconds))
    return to_xml(name, cases)


def _summary(name: str, results: Sequence[CheckResult]) -> str:
    passed = sum(not result.failures for result in results)
    lines = [
        f"## {name}: {passed} of {len(results)} checks passed",
        "",
        "| check | | status | confidence | steps | seconds | cost |",
        "|---|---|---|---|---|---|---|",
    ]
    for result in results:
        report, mark = result.report, "❌" if result.failures else "✅"
        facts = ["–"] * 5
        if report is not None:
            facts = [
                report.badge,
                "" if report.confidence is None else f"{report.confidence:.2f}",
                str(report.steps),
                f"{report.elapsed_s:.1f}",
                format_usd(report.usage.usd),
            ]
        lines.append(f"| {_markdown(result.check.title)} | {mark} | {' | '.join(facts)} |")
    failures = [
        f"- **{_markdown(result.check.title)}**: {_markdown(failure)}"
        for result in results
        for failure in result.failures
    ]
    lines += ["", "### Failures", "", *failures] if failures else []
    return "\n".join([*lines, ""])


def _markdown(text: str) -> str:
    """Escape text from the web or a model so that it is not read as Markdown or HTML."""
    flat = one_line(text)
    return "".join(f"\\{sign}" if sign in "\\|`*_[]<>#" else sign for sign in flat)
