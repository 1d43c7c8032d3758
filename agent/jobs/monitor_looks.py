"""Looking at what is watched: what is there now, against what was, and what is told of it."""

from __future__ import annotations

import asyncio
import os
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from agent.config import options as checked
from agent.config import private_folder
from agent.errors import WebOutOfReach
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
from browser.types import Outcome

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agent.jobs.job import JobSpec
    from agent.jobs.jobs import Jobs
    from agent.jobs.page_changes import PageBlock
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
        now = _compare_answers(before, outcome.report["answer"])
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


def _compare_answers(before: MonitorState | None, answer: str) -> MonitorState:
    state = before or MonitorState(at=datetime.now(UTC))
    return state.model_copy(update={"at": datetime.now(UTC), "answer": answer})


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
    settings = checked({**monitor.options, "data_dir": jobs.data_dir, "fresh": True}, config=True)
    folder = RunFolder(private_folder(jobs.data_dir / "monitors") / monitor.name)
    private_folder(private_folder(folder.path) / "blobs")
    reads: list[tuple[Page, list[PageBlock]]] = []
    async with open_web(settings, os.environ) as web:
        for n in range(monitor.learn if before is None else 1):
            if n:
                await asyncio.sleep(monitor.gap)
            page = await web.reader.read(monitor.target)
            reads.append((page, await asyncio.to_thread(_blocks, monitor, page)))
    page, blocks = reads[-1]
    noise = (
        page_changes.learn([read for _, read in reads])
        if before is None
        else frozenset((path, form) for path, form in before.noise)
    )
    now = MonitorState(
        at=page.fetched_at,
        sha256=await asyncio.to_thread(folder.keep, page.body),
        blocks=page_changes.to_rows(blocks),
        noise=sorted([path, form] for path, form in noise),
        figure=before.figure if before else page_changes.figure_in(blocks),
    )
    if before is None:
        return now, ""
    found = page_changes.changes(page_changes.from_rows(before.blocks), blocks, noise)
    diff = "\n".join(change.told() for change in found)
    if not monitor.when:
        return now, diff
    figure = page_changes.figure_in(blocks)
    if figure is None or figure == before.figure or not holds(monitor.when, before.figure, figure):
        return now, ""
    return now.model_copy(update={"figure": figure}), diff


def _blocks(monitor: Monitor, page: Page) -> list[PageBlock]:
    """Read a page's blocks; raises `WebOutOfReach` for one that did not come, or lost the part."""
    if page.outcome is not Outcome.OK or page.document is None:
        raise WebOutOfReach(f"{monitor.target} did not come: {page.reason or page.outcome.value}")
    if "html" in page.content_type:
        found = page_changes.blocks_of(page.body, page.content_type, monitor.css, monitor.words)
    else:
        wanted = monitor.words.casefold()
        lines = [line.strip() for line in page.document.text.splitlines() if line.strip()]
        found = [page_changes.PageBlock("", line) for line in lines if wanted in line.casefold()]
    if not found:
        part = monitor.css or monitor.words
        why = f"there is nothing of {part!r}" if part else "there is no text"
        raise WebOutOfReach(f"{monitor.target}: {why}", hint="Choose the part anew.")
    return found


def holds(when: str, before: float | None, now: float) -> bool:
    """Say whether a condition holds of a figure."""
    found = CONDITION.fullmatch(when)
    assert found is not None
    if found[3]:
        return before is not None and abs(now - before) >= abs(before) * float(found[3]) / 100
    bound = float(found[2])
    kinds = {"<": now < bound, ">": now > bound, "<=": now <= bound, ">=": now >= bound}
    return kinds.get(found[1], now == bound)
