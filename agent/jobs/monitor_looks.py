"""Looking at what is watched: what is there now, against what was, and what is told of it."""

from __future__ import annotations

import asyncio
import os
import re
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from agent.config import load_options, private_folder
from agent.errors import UsageError, WebOutOfReach
from agent.jobs import page_changes
from agent.jobs.job import JobOutcome
from agent.jobs.monitors import (
    CHANGES,
    CONDITION,
    MONITORS,
    STATES,
    Monitor,
    MonitorChange,
    MonitorState,
)
from agent.journal.runs import RunFolder
from agent.run.web import open_web
from browser.errors import BrowserError, RefError
from browser.read.reader import DEADLINE
from browser.types import Outcome

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from agent.config import Options
    from agent.jobs.job import JobSpec
    from agent.jobs.jobs import Jobs
    from agent.jobs.page_changes import PageBlock
    from agent.tools.context import Web
    from browser.page.tab import Tab
    from browser.types import Page

_MARKERS: Final = re.compile(r"\s*\[\d+\]")


async def look(
    spec: JobSpec, jobs: Jobs, ask: Callable[[JobSpec], Awaitable[JobOutcome]]
) -> JobOutcome:
    """Look again at what a job's monitor watches; `ask` researches a question.

    The outcome's status is `first`, `same` or `changed`, its report holds the diff as `answer`.
    """
    name = spec.origin.partition(":")[2]
    row = await asyncio.to_thread(jobs.database.note, MONITORS, name)
    if row is None:
        return JobOutcome(state="failed", error=f"the monitor {name} was taken away")
    monitor = Monitor.model_validate(row)
    noted = await asyncio.to_thread(jobs.database.note, STATES, name)
    before = MonitorState.model_validate(noted) if noted else None
    if monitor.kind == "answer":
        outcome = await ask(spec.model_copy(update={"options": monitor.options}))
        if outcome.state != "done" or outcome.report is None or outcome.status == "partial":
            return outcome
        now = (before or MonitorState(at=datetime.now(UTC))).model_copy(
            update={"at": datetime.now(UTC), "answer": outcome.report["answer"]}
        )
        diff = _diff_of_answers(before.answer, now.answer) if before else ""
        run: str | None = spec.run
        usd = outcome.usd
    else:
        try:
            now, diff = await _look_at_page(monitor, before, jobs)
        except WebOutOfReach as error:
            again = spec.attempt <= spec.retry
            return JobOutcome(state="failed", error=str(error), hint=error.hint, again=again)
        run, usd = None, 0.0
    if before is not None and diff:
        change = MonitorChange(
            monitor=name, at=now.at, since=before.at, target=monitor.target, diff=diff,
            before_sha256=before.sha256, after_sha256=now.sha256, figure=now.figure, run=run,
        )  # fmt: skip
        kept = change.model_dump(mode="json")
        await asyncio.to_thread(jobs.database.keep, f"{CHANGES}:{name}", spec.id, kept)
    await asyncio.to_thread(jobs.database.keep, STATES, name, now.model_dump(mode="json"))
    status = "first" if before is None else ("changed" if diff else "same")
    return JobOutcome(state="done", status=status, usd=usd, report={"answer": diff})


def _diff_of_answers(before: str, after: str) -> str:
    """Tell two answers apart by sentences, their numbers of sources aside."""
    old, new = (
        [page_changes.PageBlock("", _MARKERS.sub("", line)) for line in text.splitlines() if line]
        for text in (before, after)
    )
    return "\n".join(change.told() for change in page_changes.changes(old, new))


async def _look_at_page(
    monitor: Monitor, before: MonitorState | None, jobs: Jobs
) -> tuple[MonitorState, str]:
    """Read the page, the first time several times; gives its state and what is to be told."""
    settings = load_options(
        {**monitor.options, "data_dir": jobs.data_dir, "fresh": True}, config=True
    )
    folder = RunFolder(private_folder(jobs.data_dir / "monitors") / monitor.name)
    private_folder(private_folder(folder.path) / "blobs")
    reads: list[tuple[Page, list[PageBlock]]] = []
    async with open_web(settings, os.environ) as web:
        for n in range(monitor.learn if before is None else 1):
            if n:
                await asyncio.sleep(monitor.gap)
            page, html = await _read(web, monitor)
            found = await asyncio.to_thread(_blocks, monitor, page, html)
            if not found and before is None:
                raise WebOutOfReach(
                    f"{monitor.target}: there is nothing of {monitor.part!r}",
                    hint="Choose the part anew.",
                )
            reads.append((page, found))
    page, blocks = reads[-1]
    noise = page_changes.learn([read for _, read in reads]) if before is None else before.noise
    now = MonitorState(
        at=page.fetched_at,
        sha256=await asyncio.to_thread(folder.keep, page.body),
        blocks=tuple(blocks),
        noise=noise,
        figure=before.figure if before else page_changes.figure_in(blocks),
    )
    if before is None:
        return now, ""
    differ = page_changes.changes(before.blocks, blocks, noise)
    diff = "\n".join(change.told() for change in differ)
    if not blocks and before.blocks:
        return now, f"@ {monitor.part or 'all text'} is no longer on the page\n{diff}"
    if not monitor.when:
        return now, diff
    figure = page_changes.figure_in(blocks)
    if figure is None or figure == before.figure or not holds(monitor.when, before.figure, figure):
        return now, ""
    return now.model_copy(update={"figure": figure}), diff


async def _read(web: Web, monitor: Monitor) -> tuple[Page, bytes]:
    """Read the page; where an element was chosen in the browser, which gives its HTML."""
    if not monitor.element:
        page = await web.reader.read(monitor.target)
        return page, page.body
    async with opened_tab(web, monitor.target) as tab:
        html = await tab.html_of(monitor.element)
        return await web.reader.read_tab(tab), html.encode("utf-8", "replace")


@asynccontextmanager
async def opened_tab(web: Web, url: str) -> AsyncIterator[Tab]:
    """Open a page in a tab of its own, politely; raises `WebOutOfReach` where it does not come."""
    try:
        if web.polite is not None:
            await web.polite.wait_turn(url, DEADLINE)
        browser = await web.start_browser()
        tab = await browser.open(url, deadline=DEADLINE)
        try:
            yield tab
        finally:
            await browser.close(tab)
    except BrowserError as error:
        raise WebOutOfReach(f"{url} did not come: {error}", hint=error.hint) from error


async def page_with_refs(url: str, settings: Options, ref: str = "") -> tuple[str, dict[str, str]]:
    """Give a page's snapshot, and what tells the element of a ref again, where one is named.

    Raises `UsageError` for a ref that it does not have, `WebOutOfReach`.
    """
    async with open_web(settings, os.environ) as web, opened_tab(web, url) as tab:
        shown = await tab.snapshot(budget=None)
        try:
            return shown.text, await tab.identify(ref) if ref else {}
        except RefError as error:
            hint = f"`research monitor refs {url}` shows those there are."
            raise UsageError(str(error), hint=hint) from error


def _blocks(monitor: Monitor, page: Page, html: bytes) -> list[PageBlock]:
    """Read the blocks of what is watched; raises `WebOutOfReach` for a page that did not come."""
    if page.outcome is not Outcome.OK or page.document is None:
        raise WebOutOfReach(f"{monitor.target} did not come: {page.reason or page.outcome.value}")
    if "html" in page.content_type:
        return page_changes.blocks_of(html, page.content_type, monitor.css, monitor.words)
    wanted = monitor.words.casefold()
    lines = [line.strip() for line in page.document.text.splitlines() if line.strip()]
    return [page_changes.PageBlock("", line) for line in lines if wanted in line.casefold()]


def holds(when: str, before: float | None, now: float) -> bool:
    """Say whether a condition holds of a figure."""
    found = CONDITION.fullmatch(when)
    assert found is not None
    if found[3]:
        return before is not None and abs(now - before) >= abs(before) * float(found[3]) / 100
    bound = float(found[2])
    kinds = {"<": now < bound, ">": now > bound, "<=": now <= bound, ">=": now >= bound}
    return kinds.get(found[1], now == bound)
