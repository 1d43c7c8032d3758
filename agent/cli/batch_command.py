"""`research batch FILE`: many questions side by side, with their results in a folder."""

from __future__ import annotations

import asyncio
import math
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import click

from agent.cli.flags import given, run_flags_showing
from agent.cli.stores import SHOWN, jobs_url_option, open_jobs
from agent.cli.terminal import complain, first_of, interruption, note
from agent.config import default_data_dir
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.jobs.batch import Batch
    from agent.jobs.job import Job
    from agent.jobs.jobs import Jobs
    from agent.jobs.worker import Worker

PARTIAL, FAILED, INTERRUPTED = 5, 1, 130
_LOOK_S = 0.5
_ROWS = 12
_EACH = 4
"""Questions at a time that keep one processor busy: of a run by rules a third is computing."""


@click.command()
@click.argument(
    "questions", metavar="FILE", type=click.Path(path_type=Path, exists=True, dir_okay=False)
)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder of the results (FILE.results); the same one goes on where it was.",
)
@click.option(
    "-j",
    "--at-once",
    type=click.IntRange(1, 256),
    default=4,
    show_default=True,
    metavar="N",
    help="Questions at a time.",
)
@click.option(
    "--batch-budget",
    type=click.FloatRange(min=0, min_open=True),
    metavar="USD",
    help="Dollars for all together; --budget is that of each.",
)
@click.option(
    "--retry",
    type=click.IntRange(0, 20),
    default=1,
    show_default=True,
    metavar="N",
    help="Try what failed again so often.",
)
@click.option(
    "--host-delay",
    type=click.FloatRange(min=0),
    metavar="S",
    help="Least seconds between two pages of one host, over all questions (0.2).",
)
@click.option("--again", is_flag=True, help="Ask all anew, also what has its answer.")
@jobs_url_option
@run_flags_showing(*SHOWN)
def batch(
    questions: Path,
    out: Path | None,
    jobs_url: str | None,
    *,
    again: bool,
    **flags: Any,
) -> int:
    """Research the questions of FILE side by side: lines, or .csv, .jsonl, .yaml with flags each.

    Killed and started again it goes on where it was. Without memory, unless --memory is given: what
    one answer leaves behind must not change the next.
    """
    own = {n: flags.pop(n) for n in ("at_once", "batch_budget", "retry", "host_delay")}
    data = flags.pop("data_dir") or default_data_dir()
    with open_jobs(jobs_url, data) as jobs:
        from agent.jobs.batch import Batch, read_batch  # noqa: PLC0415 - loads DBOS, an extra
        from agent.jobs.worker import Worker  # noqa: PLC0415 - as above

        folder = out or questions.with_name(f"{questions.name}.results")
        items = read_batch(questions, {"memory": False, **given(flags)})
        made = Batch(jobs, items, folder, retry=own["retry"])
        if again:
            made.forget()
        processes = max(1, min(os.cpu_count() or 1, own["at_once"] // _EACH))
        before = made.enqueue(math.ceil(own["at_once"] / processes))
        if before:
            note(f"{before} of {len(items)} have their answers already.")
        settings = {"host_delay": own["host_delay"]} if own["host_delay"] is not None else {}
        worker = Worker(jobs, queues=[made.queue], **settings)
        with _helpers(processes - 1, jobs, made.queue, own["host_delay"]):
            stopped = asyncio.run(_through(made, worker, own["batch_budget"]))
        made.write()
        found = made.found()
    return _told(found, folder, stopped=stopped)


@contextmanager
def _helpers(number: int, jobs: Jobs, queue: str, host_delay: float | None) -> Iterator[None]:
    """Have more processes work on the batch; they end with this one."""
    args = ["worker", "--queue", queue, "--with-parent", "--jobs-url", jobs.database.url]
    args += ["--data-dir", str(jobs.data_dir)]
    args += ["--host-delay", str(host_delay)] if host_delay is not None else []
    code = "from agent.cli import main; main()"
    command = [sys.executable, "-c", code, *args]
    started = [
        subprocess.Popen(  # noqa: S603 - this very program
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(number)
    ]
    try:
        yield
    finally:
        for one in started:
            one.terminate()
        for one in started:
            one.wait()


async def _through(made: Batch, worker: Worker, budget: float | None) -> str:
    """Work until all have ended; gives why it ended before, else ""."""
    stopped, interrupted = "", interruption()
    async with worker:
        with _view() as view:
            while not interrupted.is_set():
                found = await asyncio.to_thread(made.found)
                under_way = {name: p.usd for name, p in worker.running.items()}
                ended = sum(job.usd for job in found if job.id not in under_way)
                spent = ended + sum(under_way.values())
                view.show(found, spent)
                if budget and await asyncio.to_thread(made.stop_spending, found, spent, budget):
                    stopped = f"the budget of ${budget:.2f} is reached"
                if all(job.state not in ("waiting", "queued", "running") for job in found):
                    return stopped
                await first_of(interrupted.wait(), worker.cut_off(), seconds=_LOOK_S)
    return "interrupted"


class _Lines:
    """Progress for a pipe or a log: a line for each question that ends."""

    def __init__(self) -> None:
        self._known: dict[str, str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave nothing behind."""

    def show(self, found: Sequence[Job], spent: float) -> None:
        """Tell what has ended since the last time."""
        states: dict[str, str] = {job.id: job.state for job in found}
        ended = [job for job in found if job.state in ("done", "failed", "cancelled", "expired")]
        for job in ended:
            if self._known is not None and self._known.get(job.id) != job.state:
                cost = f", ${spent:.4f}" if spent else ""
                said = job.error if job.state != "done" else job.status
                note(clean(f"[{len(ended)}/{len(found)}{cost}] {said}: {job.question}"))
        self._known = states


class _Table(_Lines):
    """Progress on a terminal: what is under way, what is done, cost, and time left."""

    def __init__(self) -> None:
        super().__init__()
        from rich.console import Console  # noqa: PLC0415 - rich only on a terminal
        from rich.live import Live  # noqa: PLC0415 - as above

        self._live = Live(
            console=Console(stderr=True),
            refresh_per_second=4,
            transient=True,
            redirect_stdout=False,
        )
        self._began = time.monotonic()
        self._first: int | None = None

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def show(self, found: Sequence[Job], spent: float) -> None:
        """Draw the table anew."""
        from rich.table import Table  # noqa: PLC0415 - as above

        ended = [job for job in found if job.state in ("done", "failed", "cancelled", "expired")]
        self._first = len(ended) if self._first is None else self._first
        elapsed, fresh = time.monotonic() - self._began, len(ended) - self._first
        left = f"{_span(elapsed / fresh * (len(found) - len(ended)))} left" if fresh else ""
        failed = sum(job.state == "failed" for job in ended)
        facts = [
            f"{len(ended)} of {len(found)} done",
            f"{failed} failed" if failed else "",
            f"${spent:.4f}" if spent else "",
            _span(elapsed),
            left,
        ]
        table = Table(
            title=" · ".join(fact for fact in facts if fact),
            title_justify="left",
            box=None,
            show_header=False,
            title_style="bold",
        )
        table.add_column(width=9)
        table.add_column(no_wrap=True, overflow="ellipsis")
        under_way = [job for job in found if job.state == "running"]
        for job in [*under_way, *reversed(ended)][:_ROWS]:
            said = job.status if job.state == "done" else job.state
            table.add_row(said, clean(job.question), style="" if job.state == "running" else "dim")
        self._live.update(table)


def _view() -> _Lines:
    return _Table() if sys.stderr.isatty() else _Lines()


def _span(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def _told(found: Sequence[Job], folder: Path, *, stopped: str) -> int:
    states = [job.status if job.state == "done" else job.state for job in found]
    counted = ", ".join(
        f"{states.count(one)} {one.replace('_', ' ')}" for one in dict.fromkeys(states)
    )
    usd = sum(job.usd for job in found)
    print(f"{len(found)} questions: {counted}{f'; ${usd:.4f}' if usd else ''}")
    print(folder / "index.html")
    if stopped:
        complain(stopped, "The same command goes on where it was.")
        return INTERRUPTED if stopped == "interrupted" else PARTIAL
    if "failed" in states:
        complain(
            f"{states.count('failed')} of {len(found)} failed", "The same command tries them again."
        )
        return FAILED
    return PARTIAL if "partial" in states else 0
