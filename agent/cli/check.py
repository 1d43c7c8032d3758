"""`research check`: questions with expectations as a test suite."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli.flags import given, run_flags_showing
from agent.cli.stores import all_runs
from agent.cli.terminal import complain
from agent.errors import CHECK_FAILED, ResearchError
from agent.export.junit import TestCase, to_xml
from agent.export.run_archive import is_archive, open_run
from agent.files import write_file
from agent.run.expectations import read_suite
from agent.run.record import RunRecord
from agent.run.replay import replay
from agent.run.research import research
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent.journal.runs import Runs
    from agent.run.expectations import Check, Suite
    from agent.types import Report

_FILE = click.Path(path_type=Path)
_PATHS = ("corpus", "file", "storage_state")
_ALONE = {"memory": False}
"""What one check learns must not help the next one, unless the file says so."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A check that was made: what does not hold, and the report, where there came one."""

    check: Check
    failures: tuple[str, ...]
    seconds: float
    report: Report | None = None


@click.command()
@click.argument("checks", type=_FILE, metavar="FILE")
@click.option("--junit", type=_FILE, metavar="FILE", help="Write the results as JUnit's XML.")
@click.option("--summary", type=_FILE, metavar="FILE", help="Write a summary in Markdown.")
@run_flags_showing(
    "--model", "--judge", "--search", "--corpus", "--depth", "--budget", "--data-dir"
)
def check(checks: Path, junit: Path | None, summary: Path | None, **flags: Any) -> int:
    """Run the checks in FILE (YAML): questions, or recorded runs, and what is expected of them.

    Flags, all those of `research ask --help`, outweigh what the file says. Exits 8 when any
    expectation does not hold.
    """
    suite = read_suite(checks)
    runs = all_runs(flags["data_dir"])
    done = asyncio.run(run_suite(suite, runs, given(flags), _told))
    failed = [one for one in done if one.failures]
    print(f"{len(done) - len(failed)} of {len(done)} hold")
    if junit:
        write_file(junit, _junit(checks.stem, done))
    if summary:
        write_file(summary, _summary(checks.stem, done).encode())
    if failed:
        complain(f"{len(failed)} of {len(done)} checks do not hold")
    return CHECK_FAILED if failed else 0


async def run_suite(
    suite: Suite, runs: Runs, flags: dict[str, Any], told: Callable[[Checked], None]
) -> list[Checked]:
    """Make the checks one after the other, tell each as it is done; `flags` outweigh the file."""
    done = []
    for check in suite.checks:
        done.append(await _checked(check, suite, runs, flags))
        told(done[-1])
    return done


async def _checked(check: Check, suite: Suite, runs: Runs, flags: dict[str, Any]) -> Checked:
    started = time.monotonic()
    try:
        if check.run is not None:
            name = str(suite.folder / check.run) if is_archive(check.run) else check.run
            with open_run(name, runs) as folder:
                report = await replay(RunRecord.read(folder))
        else:
            settings = {**_ALONE, **_settings(check, suite), **flags}
            report = await research(str(check.question), config=True, **settings)
    except ResearchError as error:
        failure = " ".join(part for part in (str(error), error.hint) if part)
        return Checked(check, (failure,), time.monotonic() - started)
    failures = tuple(check.expect.failures(report))
    return Checked(check, failures, time.monotonic() - started, report)


def _settings(check: Check, suite: Suite) -> dict[str, Any]:
    settings = {**suite.options, **check.options}
    for name in _PATHS:
        if name in settings:
            values = settings[name] if isinstance(settings[name], list) else [settings[name]]
            paths = [suite.folder / str(value) for value in values]
            settings[name] = paths if isinstance(settings[name], list) else paths[0]
    return settings


def _told(one: Checked) -> None:
    print(clean(f"{'FAIL' if one.failures else 'ok  '}  {one.check.title}"))
    for failure in one.failures:
        print(clean(f"      {failure}"), flush=True)


def _junit(name: str, done: list[Checked]) -> bytes:

    cases = [
        TestCase(
            name,
            one.check.title,
            "expectation" if one.failures else "",
            "; ".join(one.failures),
            _details(one),
            one.seconds,
        )
        for one in done
    ]
    return to_xml(name, cases)


def _details(one: Checked) -> str:
    if one.report is None:
        return ""
    sources = [f"[{source.n}] {source.url}" for source in one.report.sources]
    return "\n".join([f"run {one.report.run}", one.report.answer, *sources])


def _summary(name: str, done: list[Checked]) -> str:
    held = sum(not one.failures for one in done)
    head = [
        f"## {name}: {held} of {len(done)} hold",
        "",
        "| check | | status | confidence | steps | seconds | USD |",
        "|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*head, *(_row(one) for one in done), *_failures(done), ""])


def _row(one: Checked) -> str:
    report = one.report
    mark = "❌" if one.failures else "✅"
    facts = ["–"] * 5
    if report is not None:
        facts = [
            report.status,
            "" if report.confidence is None else f"{report.confidence:.2f}",
            str(report.steps),
        ]
        facts += [f"{report.elapsed_s:.1f}", f"{report.usage.usd:.4f}"]
    return f"| {_cell(one.check.title)} | {mark} | {' | '.join(facts)} |"


def _failures(done: list[Checked]) -> list[str]:
    rows = [f"- **{_cell(one.check.title)}**: {_cell(f)}" for one in done for f in one.failures]
    return ["", "### What does not hold", "", *rows] if rows else []


def _cell(text: str) -> str:
    """Keep what the web or a model said from becoming Markdown or markup."""
    flat = " ".join(clean(text).split())
    return "".join(f"\\{sign}" if sign in "\\|`*_[]<>#" else sign for sign in flat)
