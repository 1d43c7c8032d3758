"""`research recheck`: check an earlier report against today's pages."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli.ask import run_to_end
from agent.cli.flags import (
    OUTPUT_FLAGS,
    given_settings,
    jobs_url_option,
    notify_option,
    option,
    output_flags,
    run_flags,
    service_option,
    switch,
)
from agent.cli.stores import open_jobs
from agent.cli.terminal import note, print_error
from agent.config import load_options
from agent.errors import CHECK_FAILED, NOT_VERIFIED, WebOutOfReach
from agent.export.report_view import no_longer_supported_sentences
from agent.journal.runs import Runs
from agent.run.outcome import EXIT_CODES
from agent.run.recheck import recheck as recheck_report
from agent.run.report_to_recheck import open_earlier

if TYPE_CHECKING:
    from agent.types import Report


@click.command()
@click.argument("run", metavar="RUN|FILE")
@switch("--watch", "Repeat the check regularly, as a monitor that `research worker` runs.")
@option(
    "--every", "WHEN", "How often to check with --watch.", default="every day", show_default=True
)
@notify_option
@jobs_url_option
@service_option
@run_flags("--model", "--judge", "--search", "--allow-private", "--budget", "--data-dir")
@output_flags
def recheck(
    run: str,
    *,
    watch: bool,
    every: str,
    notify: tuple[str, ...],
    jobs_url: str | None,
    **flags: Any,
) -> int:
    """Check each sentence of RUN, an archive (.zip) or a report.json against the current pages.

    Reports whether each sentence still stands, has moved (the same text at another address), has
    changed (both versions are shown), is gone (with a link to an archived copy, if any) or is
    contradicted. Exits with code 8 if a sentence no longer stands, and with code 6 if no page
    could be read.
    """
    required = flags.pop("require_verified")
    settings = load_options(
        {"data_dir": flags["data_dir"], "require_verified": required}, config=True
    )
    data = settings.data
    if watch:
        kept = {name: value for name, value in flags.items() if name not in OUTPUT_FLAGS}
        return _watch(run, data, jobs_url, {"every": every, "notify": notify}, kept)
    reports: list[Report] = []
    start = partial(recheck_report, run, config=True)
    code = run_to_end(
        start, flags, data, required=settings.require_verified, on_report=reports.append
    )
    if code not in (EXIT_CODES["answered"], NOT_VERIFIED):
        return code  # an interrupted or failed run keeps its own exit code
    for report in reports:
        if no_longer_supported_sentences(report):
            return CHECK_FAILED
        if all(row.holds is None for row in report.rechecked):
            print_error("no page could be read, so nothing was checked", WebOutOfReach.hint)
            return WebOutOfReach.exit_code
    return code


def _watch(
    run: str, data: Path, jobs_url: str | None, settings: dict[str, Any], flags: dict[str, Any]
) -> int:
    """Add a monitor that repeats the check."""
    with open_earlier(run, Runs(data)) as earlier:
        target = str(Path(run).resolve()) if Path(run).exists() else earlier.name
    with open_jobs(jobs_url, data) as jobs:
        from agent.jobs.monitors import Monitors  # noqa: PLC0415 - loads DBOS, an extra

        made = Monitors(jobs).add(target, kind="recheck", **settings, **given_settings(flags))
        print(made.name)
        if not jobs.workers():
            note("No worker is running:", "`research worker` checks monitors.")
    return 0
