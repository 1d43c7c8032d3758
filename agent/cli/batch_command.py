"""`research batch FILE`: research many questions in parallel, with results in a folder."""

from __future__ import annotations

import asyncio
import math
import os
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import click

from agent.cli.flags import (
    EXISTING_FILE,
    FOLDER,
    JOBS_URL_VARIABLE,
    POSITIVE_AMOUNT,
    data_folder,
    drop_unset,
    given_settings,
    host_delay_option,
    jobs_url_option,
    option,
    retry_option,
    run_flags,
    switch,
)
from agent.cli.stores import JOB_FLAGS, open_jobs
from agent.cli.terminal import interrupt_event, note, print_error, wait_for_first
from agent.jobs.job import FINAL_STATES
from agent.types import format_usd
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from rich.progress import Progress, TaskID

    from agent.jobs.batch import Batch
    from agent.jobs.job import Job
    from agent.jobs.jobs import Jobs
    from agent.jobs.worker import Worker

PARTIAL, FAILED, INTERRUPTED = 5, 1, 130
_POLL_S = 0.5  # seconds between two polls of the job table
_RUNS_PER_PROCESS = 4
"""Number of parallel questions that keep one CPU core busy: an extractive run uses a third of it.
"""


@click.command()
@click.argument("questions", metavar="FILE", type=EXISTING_FILE)
@option(
    ("-o", "--out"),
    "DIR",
    "Folder for the results (default: FILE.results). An existing batch in it is resumed.",
    type=FOLDER,
)
@option(
    ("-j", "--at-once"),
    "N",
    "Number of questions to research in parallel.",
    type=click.IntRange(1, 256),
    default=4,
    show_default=True,
)
@option(
    "--batch-budget",
    "USD",
    "Maximum cost of the batch; --budget limits each run.",
    type=POSITIVE_AMOUNT,
)
@retry_option(1)
@host_delay_option
@switch("--again", "Run every question again, including answered ones.")
@jobs_url_option
@run_flags(*JOB_FLAGS)
def batch(
    questions: Path, out: Path | None, jobs_url: str | None, *, again: bool, **flags: Any
) -> int:
    """Research the questions in FILE in parallel.

    FILE contains one question per line, or is a .csv, .jsonl or .yaml file that can also set flags
    for each question. If the batch is interrupted, run the same command again to resume it. Memory
    is off unless --memory is given, so that answers do not influence each other.
    """
    # These flags configure the batch; all others go to its runs.
    own = {n: flags.pop(n) for n in ("at_once", "batch_budget", "retry", "host_delay")}
    with open_jobs(jobs_url, flags.pop("data_dir") or data_folder()) as jobs:
        from agent.jobs.batch import Batch, read_batch  # noqa: PLC0415 - loads DBOS, an extra
        from agent.jobs.worker import Worker  # noqa: PLC0415 - as above

        folder = out or questions.with_name(f"{questions.name}.results")
        items = read_batch(questions, {"memory": False, **given_settings(flags)})
        folder.mkdir(parents=True, exist_ok=True)  # fail early if it cannot be written
        work = Batch(jobs, items, folder, retry=own["retry"])
        if again:
            work.delete_jobs()
        processes = max(1, min(os.cpu_count() or 1, own["at_once"] // _RUNS_PER_PROCESS))
        answered = work.enqueue(math.ceil(own["at_once"] / processes))
        if answered:
            note(f"{answered} of {len(items)} questions are already answered.")
        worker = Worker(jobs, queues=[work.queue], **drop_unset({"host_delay": own["host_delay"]}))
        with _more_workers(processes - 1, jobs, work.queue, own["host_delay"]):
            stopped = asyncio.run(_run_batch(work, worker, own["batch_budget"]))
        work.write()
        ended = work.jobs()
    return _print_result(ended, folder, stopped)


@contextmanager
def _more_workers(number: int, jobs: Jobs, queue: str, host_delay: float | None) -> Iterator[None]:
    """Start more worker processes for the batch. The workers stop when this process ends."""
    args = ["worker", "--queue", queue, "--with-parent"]
    args += ["--data-dir", str(jobs.data_dir)]
    args += ["--host-delay", str(host_delay)] if host_delay is not None else []
    command = [sys.executable, "-c", "from agent.cli import main; main()", *args]
    # Not passed as an argument: it may contain a password, and other users can see arguments.
    environ = {**os.environ, JOBS_URL_VARIABLE: jobs.database.url}
    none = subprocess.DEVNULL
    processes = [
        subprocess.Popen(command, env=environ, stdin=none, stdout=none, stderr=none)  # noqa: S603 - this same program
        for _ in range(number)
    ]
    try:
        yield
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()


async def _run_batch(work: Batch, worker: Worker, budget: float | None) -> str:
    """Work until all questions are finished; return the reason for an early stop, otherwise ""."""
    stopped, interrupted = "", interrupt_event()
    async with worker:
        with _BatchProgress() as view:
            while not interrupted.is_set():
                jobs = await asyncio.to_thread(work.jobs)
                # Costs are counted as they occur, not when a question is finished.
                running = {name: run.usd for name, run in worker.running.items()}
                spent = sum(running.values())
                spent += sum(job.usd for job in jobs if job.id not in running)
                view.show(jobs, spent)
                if budget and await asyncio.to_thread(work.enforce_budget, jobs, spent, budget):
                    stopped = f"the batch budget of {format_usd(budget)} is used up"
                if all(job.state in FINAL_STATES for job in jobs):
                    return stopped
                await wait_for_first(interrupted.wait(), worker.cut_off(), seconds=_POLL_S)
    return "interrupted"


class _BatchProgress:
    """Reports each finished question on stderr; a terminal also gets a progress bar.

    The bar shows the number of finished questions, elapsed and remaining time, cost, and the
    running questions.
    """

    def __init__(self) -> None:
        self._states: dict[str, str] | None = None
        self._bar = _make_bar() if sys.stderr.isatty() else None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()

    def show(self, jobs: Sequence[Job], spent: float) -> None:
        """Report the questions that have finished since the last call."""
        ended = [job for job in jobs if job.state in FINAL_STATES]
        cost = format_usd(spent)
        for job in ended:
            # Questions that were answered before this command started are counted but not reported.
            if self._states is not None and self._states.get(job.id) != job.state:
                done = ", ".join(filter(None, (f"{len(ended)}/{len(jobs)}", cost)))
                outcome = job.badge or job.status if job.state == "done" else job.error
                note(f"[{done}] {outcome}: {job.question}")
        self._states = {job.id: job.state for job in jobs}
        if self._bar is None:
            return
        if self._task is None:
            self._task = self._bar.add_task("", total=len(jobs), completed=len(ended))
        running = [clean(job.question) for job in jobs if job.state == "running"]
        description = " · ".join(filter(None, (cost, *running)))
        self._bar.update(self._task, completed=len(ended), description=description)


def _make_bar() -> Progress:
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


def _print_result(jobs: Sequence[Job], folder: Path, stopped: str) -> int:
    """Print the number of questions by state and the results folder; return the exit code."""
    states = [job.status if job.state == "done" else job.state for job in jobs]
    counts = [f"{states.count(one)} {one.replace('_', ' ')}" for one in dict.fromkeys(states)]
    usd = sum(job.usd for job in jobs)
    print(f"{len(jobs)} questions: {', '.join(counts)}{f'; {format_usd(usd)}' if usd else ''}")
    print(folder / "index.html")
    if stopped:
        print_error(stopped, "Run the same command again to continue.")
        return INTERRUPTED if stopped == "interrupted" else PARTIAL
    if failed := states.count("failed"):
        print_error(f"{failed} of {len(jobs)} failed", "Run the same command again to retry them.")
        return FAILED
    return PARTIAL if "partial" in states else 0
