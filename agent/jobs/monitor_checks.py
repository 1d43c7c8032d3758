"""Monitor checks, which compare the current page or answer with the last check's.

The first check reads the page several times to learn which parts always change.
"""

from __future__ import annotations

import asyncio
import operator
import os
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from agent.config import load_options, private_folder
from agent.errors import UsageError, WebOutOfReach
from agent.export.report_view import recheck_label, recheck_lines, text_parts
from agent.jobs.job import JobOutcome, NoSuchJob
from agent.jobs.monitors import CONDITION, Monitors, MonitorState
from agent.jobs.page_diff import PageBlock, diff_blocks, first_number, learn_noise, read_blocks
from agent.journal.runs import RunFolder
from agent.memory.terms import without_citations
from agent.run.web import open_web
from agent.types import Report
from browser.errors import BrowserError, RefError
from browser.read.reader import DEADLINE
from browser.types import Outcome

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from agent.jobs.job import JobSpec
    from agent.jobs.jobs import Jobs
    from agent.jobs.monitors import Monitor
    from agent.options import Options
    from agent.tools.context import Web
    from browser.page.tab import Tab
    from browser.types import Page

_COMPARISONS: Final[dict[str, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "=": operator.eq,
}


async def check_monitor(
    job: JobSpec,
    jobs: Jobs,
    ask: Callable[[JobSpec], Awaitable[JobOutcome]],
    recheck: Callable[..., Awaitable[Report]],
) -> JobOutcome:
    """Run the check for a job's monitor; `ask` researches a question, `recheck` rechecks a report.

    The outcome's status is `first`, `same` or `changed`; its report contains the diff as `answer`.
    """
    monitors, name = Monitors(jobs), job.origin.partition(":")[2]
    try:
        monitor = await asyncio.to_thread(monitors.find, name)
    except NoSuchJob:
        return JobOutcome(state="failed", error=f"the monitor {name} was removed")
    before = await asyncio.to_thread(monitors.states.get, name)
    usd, news = 0.0, ""
    if monitor.kind == "recheck":
        report = await recheck(monitor.target, config=True, **_recheck_flags(monitor, jobs))
        usd, rows = report.usage.usd, report.rechecked
        if report.error is not None or all(row.holds is None for row in rows):
            why = (
                report.error.message
                if report.error
                else "none of the pages in the report could be read"
            )
            return JobOutcome(state="failed", error=why, usd=usd, again=job.attempt <= job.retry)
        stood = "\n".join(_recheck_line(row.text) for row in rows)
        before = before or MonitorState(at=monitor.created, answer=stood)
        answer = "\n".join(_recheck_lines_now(report, before.answer))
        now = MonitorState(at=datetime.now(UTC), answer=answer, run=report.run)
        diff = _diff_answers(before.answer, now.answer)
        if diff:
            news = "\n\n".join([f"Changed:\n\n{diff}", *text_parts(report)])
    elif monitor.kind == "answer":
        outcome = await ask(job.model_copy(update={"options": monitor.options}))
        if outcome.state != "done" or outcome.report is None or outcome.status == "partial":
            return outcome
        usd, report = outcome.usd, Report.model_validate(outcome.report)
        now = MonitorState(at=datetime.now(UTC), answer=_watched_text(report))
        diff = _diff_answers(before.answer, now.answer) if before else ""
        if diff:  # include the report's doubt, notes and sources
            news = "\n\n".join([f"Changed:\n\n{diff}", *text_parts(report)])
    else:
        try:
            now, diff = await _check_page(monitor, before, jobs)
        except WebOutOfReach as error:
            again = job.attempt <= job.retry
            return JobOutcome(state="failed", error=str(error), hint=error.hint, again=again)
    await asyncio.to_thread(monitors.record, monitor, job, before, now, diff)
    status = "first" if before is None else ("changed" if diff else "same")
    return JobOutcome(state="done", status=status, usd=usd, report={"answer": news or diff})


def _recheck_flags(monitor: Monitor, jobs: Jobs) -> dict[str, Any]:
    return {**monitor.options, "data_dir": jobs.data_dir}


def _recheck_line(text: str, found: str = "stands") -> str:
    return f"{' '.join(text.split())} — {' '.join(found.split())}"


def _recheck_lines_now(report: Report, before: str) -> Iterator[str]:
    """Yield a line per sentence; a sentence that could not be checked keeps its previous line."""
    for row in report.rechecked:
        start = _recheck_line(row.text, "")
        last = next((line for line in before.splitlines() if line.startswith(start)), "")
        if row.state == "not_checked" and last:
            yield last
        elif row.state == "stands":
            yield _recheck_line(row.text)
        else:
            found = "; ".join((recheck_label(row), *recheck_lines(row)))
            yield _recheck_line(row.text, found)


def _watched_text(report: Report) -> str:
    """Return the watched part of a report: its answer, or the closest passages.

    Search attempts differ between runs, so they do not count as a change.
    """
    if report.claims:
        return report.answer
    return "\n".join(passage.text for passage in report.closest) or "No answer was found."


def _diff_answers(before: str, after: str) -> str:
    """Compare two answers sentence by sentence, ignoring citations."""
    old, new = (
        [PageBlock("", without_citations(line)) for line in text.splitlines() if line]
        for text in (before, after)
    )
    return "\n".join(change.as_diff() for change in diff_blocks(old, new))


async def _check_page(
    monitor: Monitor, before: MonitorState | None, jobs: Jobs
) -> tuple[MonitorState, str]:
    """Read the page, several times on the first check; return its state and the diff to report."""
    # `fresh`, because a cached page would hide a change
    settings = load_options(
        {**monitor.options, "data_dir": jobs.data_dir, "fresh": True}, config=True
    )
    folder = RunFolder(private_folder(jobs.data_dir / "monitors") / monitor.name)
    private_folder(private_folder(folder.path) / "blobs")
    reads: list[list[PageBlock]] = []
    async with open_web(settings, os.environ, request=monitor.target) as web:
        for n in range(monitor.learn if before is None else 1):
            if n:
                await asyncio.sleep(monitor.gap)
            page, html = await _read_page(web, monitor)
            blocks = await asyncio.to_thread(_watched_blocks, monitor, page, html)
            if not blocks and before is None:
                raise WebOutOfReach(
                    f"{monitor.target}: the part {monitor.part!r} was not found",
                    hint="Choose the part again.",
                )
            reads.append(blocks)
    noise = learn_noise(reads) if before is None else before.noise
    now = MonitorState(
        at=page.fetched_at,
        sha256=await asyncio.to_thread(folder.save_blob, page.body),
        blocks=tuple(blocks),
        noise=noise,
        figure=before.figure if before else first_number(blocks),
    )
    if before is None:
        return now, ""
    diff = "\n".join(change.as_diff() for change in diff_blocks(before.blocks, blocks, noise))
    if not blocks and before.blocks:
        return now, f"@ {monitor.part or 'all text'} is no longer on the page\n{diff}"
    if not monitor.when:
        return now, diff
    figure = first_number(blocks)
    if figure == before.figure or not condition_holds(monitor.when, before.figure, figure):
        return now, ""
    return now.model_copy(update={"figure": figure}), diff


async def _read_page(web: Web, monitor: Monitor) -> tuple[Page, bytes]:
    """Read the page and its HTML, in the browser if an element was chosen."""
    if not monitor.element:
        page = await web.reader.read(monitor.target)
        return page, page.body
    async with _open_tab(web, monitor.target) as tab:
        html = await tab.html_of(monitor.element)
        return await web.reader.read_tab(tab), html.encode("utf-8", "replace")


def _watched_blocks(monitor: Monitor, page: Page, html: bytes) -> list[PageBlock]:
    """Return the watched blocks; raises `WebOutOfReach` if the page did not load."""
    if page.outcome is not Outcome.OK or page.document is None:
        raise WebOutOfReach(f"{monitor.target} did not load: {page.reason or page.outcome.value}")
    if "html" in page.content_type:
        return read_blocks(html, page.content_type, monitor.css, monitor.words)
    words = monitor.words.casefold()
    lines = [line.strip() for line in page.document.text.splitlines() if line.strip()]
    return [PageBlock("", line) for line in lines if words in line.casefold()]


@asynccontextmanager
async def _open_tab(web: Web, url: str) -> AsyncIterator[Tab]:
    """Open a page in a new tab, respecting crawl delays; raises `WebOutOfReach` if it fails."""
    try:
        if web.crawl_policy is not None:
            await web.crawl_policy.wait_turn(url, DEADLINE)
        browser = await web.start_browser()
        tab = await browser.open(url, deadline=DEADLINE)
        try:
            yield tab
        finally:
            await browser.close(tab)
    except BrowserError as error:
        raise WebOutOfReach(f"{url} did not load: {error}", hint=error.hint) from error


async def page_with_refs(url: str, settings: Options, ref: str = "") -> tuple[str, dict[str, str]]:
    """Return a page's snapshot and, if a ref is given, the locator of its element.

    Raises `UsageError` for an unknown ref, and `WebOutOfReach` if the page cannot be opened.
    """
    async with (
        open_web(settings, os.environ, request=url) as web,
        _open_tab(web, url) as tab,
    ):
        snapshot = await tab.snapshot(budget=None)
        try:
            return snapshot.text, await tab.identify(ref) if ref else {}
        except RefError as error:
            hint = f"`research monitor refs {url}` lists the refs."
            raise UsageError(str(error), hint=hint) from error


def condition_holds(when: str, before: float | None, now: float | None) -> bool:
    """Evaluate a condition on a number; false if the number is missing."""
    found = CONDITION.fullmatch(when)
    assert found is not None
    if now is None:
        return False
    if found[3]:
        return before is not None and abs(now - before) >= abs(before) * float(found[3]) / 100
    return _COMPARISONS[found[1]](now, float(found[2]))
