"""`research replay`: run again from the record, or another model on the recorded web."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import click

from agent.cli.runs import all_runs, data_dir_option
from agent.cli.say import complain

if TYPE_CHECKING:
    from pathlib import Path

DIVERGED = 8


@click.command()
@click.argument("run", default="last", metavar="RUN|FILE.zip")
@click.option("--model", metavar="NAME", help="Ask this model on the recorded web.")
@click.option("--base-url", metavar="URL", help="Any OpenAI-compatible endpoint.")
@click.option("--live", is_flag=True, help="With --model: what is not on record is asked live.")
@click.option("--assert", "check", is_flag=True, help="Exit 8 unless the answer is the same.")
@click.option("--json", "as_json", is_flag=True, help="The report as JSON.")
@data_dir_option
def replay(run: str, check: bool, as_json: bool, data_dir: Path | None, **flags: Any) -> int:  # noqa: FBT001
    """Run RUN again from its record, or its archive, alone: no network, model or browser."""
    from agent.cli.render import print_report  # noqa: PLC0415 - `--help` needs none of it
    from agent.export.opening import is_archive, opened  # noqa: PLC0415 - as above
    from agent.run.archived import without_reach  # noqa: PLC0415 - as above
    from agent.run.outcome import exit_code  # noqa: PLC0415 - as above
    from agent.run.record import RunRecord  # noqa: PLC0415 - as above

    with opened(run, all_runs(data_dir)) as folder:
        record = RunRecord.read(folder)
        record = without_reach(record) if is_archive(run) else record
        report = asyncio.run(_report(record, data_dir, **flags))
    print(report.to_json()) if as_json else print_report(report)
    if check and report.answer != record.answer:
        complain("the answer is another one than on record")
        return DIVERGED
    return 0 if check else exit_code(report)


async def _report(
    record: Any,
    data_dir: Path | None,
    model: str | None,
    base_url: str | None,
    live: bool,  # noqa: FBT001
) -> Any:
    if model is None and base_url is None:
        from agent.run.replay import replay as again  # noqa: PLC0415 - as above

        return await again(record)
    from agent.run.recorded import on_recorded_web  # noqa: PLC0415 - as above

    return await on_recorded_web(
        record, model=model, base_url=base_url, data_dir=data_dir, live=live
    )
