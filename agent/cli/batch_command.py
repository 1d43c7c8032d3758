"""`research batch FILE`: many questions side by side, with their results in a folder."""

from __future__ import annotations

import asyncio
import math
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import click

from agent.cli.flags import Amount, given, run_flags_showing
from agent.cli.stores import SHOWN, host_delay_option, jobs_url_option, open_jobs, retry_option
from agent.cli.terminal import complain, first_of, interruption, note
from agent.config import default_data_dir
from agent.jobs.job import ENDED
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.progress import Progress, TaskID

    from agent.jobs.batch import Batch
    from agent.jobs.job import Job
    from agent.jobs.jobs import Jobs
    from agent.jobs.worker import Worker

PARTIAL, FAILED, INTERRUPTED = 5, 1, 130
_LOOK_S = 0.5
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
    type=Amount(min=0, min_open=True),
    metavar="USD",
    help="Dollars for all together; --budget is that of each.",
)
@retry_option(1)
@host_delay_option
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
        folder.mkdir(parents=True, exist_ok=True)  # what is asked can be kept
        made = Batch(jobs, items, folder, retry=own["retry"])
        if again:
            made.delete_jobs()
        processes = max(1, min(os.cpu_count() or 1, own["at_once"] // _EACH))
        before = made.enqueue(math.ceil(own["at_once"] / processes))
        if before:
            note(f"{before} of {len(items)} have their answers already.")
        settings = {"host_delay": own["host_delay"]} if own["host_delay"] is not None else {}
        worker = Worker(jobs, queues=[made.queue], **settings)
        with _helpers(processes - 1, jobs, made.queue, own["host_delay"]):
            stopped = asyncio.run(_through(made, worker, own["batch_budget"]))
        made.write()
        found = made.jobs()
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
        with _BatchProgress() as view:
            while not interrupted.is_set():
                found = await asyncio.to_thread(made.jobs)
                under_way = {name: p.usd for name, p in worker.running.items()}
                ended = sum(job.usd for job in found if job.id not in under_way)
                spent = ended + sum(under_way.values())
                view.show(found, spent)
                if budget and await asyncio.to_thread(made.enforce_budget, found, spent, budget):
                    stopped = f"the budget of ${budget:.2f} is reached"
                if all(job.state not in ("waiting", "queued", "running") for job in found):
                    return stopped
                await first_of(interrupted.wait(), worker.cut_off(), seconds=_LOOK_S)
    return "interrupted"


class _BatchProgress:
    """Tells on stderr of each question that ends; a terminal has a bar below.

    The bar shows how many have ended, the time gone and left, the cost, and what is under way.
    """

    def __init__(self) -> None:
        self._known: dict[str, str] | None = None
        self._bar = _bar() if sys.stderr.isatty() else None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()

    def show(self, found: Sequence[Job], spent: float) -> None:
        """Tell what has ended since the last time."""
        ended = [job for job in found if job.state in ENDED]
        cost = f"${spent:.4f}" if spent else ""
        for job in ended:
            if self._known is not None and self._known.get(job.id) != job.state:
                counted = ", ".join(filter(None, (f"{len(ended)}/{len(found)}", cost)))
                said = job.error if job.state != "done" else job.status
                note(clean(f"[{counted}] {said}: {job.question}"))
        self._known = {job.id: job.state for job in found}
        if self._bar is None:
            return
        if self._task is None:
            self._task = self._bar.add_task("", total=len(found), completed=len(ended))
        asked = [clean(job.question) for job in found if job.state == "running"]
        told = " · ".join(filter(None, (cost, *asked)))
        self._bar.update(self._task, completed=len(ended), description=told)


def _bar() -> Progress:
    from rich import progress  # noqa: PLC0415 - rich only on a terminal
    from rich.console import Console  # noqa: PLC0415 - as above
    from rich.table import Column  # noqa: PLC0415 - as above

    under_way = Column(no_wrap=True, overflow="ellipsis", ratio=1)
    return progress.Progress(
        progress.BarColumn(20),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
        progress.TextColumn("{task.description}", markup=False, table_column=under_way),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
        expand=True,
    )


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
