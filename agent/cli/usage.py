"""`research usage` and `research feedback`: what runs cost, and what they were worth."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from agent.cli.runs import all_runs, data_dir_option

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@data_dir_option
def usage(as_json: bool, data_dir: Path | None) -> None:  # noqa: FBT001
    """Show calls, tokens and dollars by day and model, over all runs that are kept."""
    from agent.journal.usage import total  # noqa: PLC0415 - `--help` needs it not
    from agent.journal.usage import usage as add_up  # noqa: PLC0415 - as above

    lines = add_up(all_runs(data_dir))
    if as_json:
        print(json.dumps([asdict(line) for line in lines], indent=2))
        return
    print(
        f"{'day':<11}{'model':<34}{'calls':>6}{'input':>12}{'cached':>12}{'output':>10}{'USD':>10}"
    )
    for line in [*lines, total(lines)]:
        tokens = f"{line.input_tokens:>12,}{line.cached_tokens:>12,}{line.output_tokens:>10,}"
        print(f"{line.day:<11}{line.model[:33]:<34}{line.calls:>6}{tokens}{line.usd:>10.4f}")


@click.command()
@click.argument("run")
@click.argument("thumb", type=click.Choice(["up", "down"]))
@data_dir_option
def feedback(run: str, thumb: Any, data_dir: Path | None) -> None:
    """Say whether RUN was good: the skills that it was given gain or lose by it."""
    from agent.background.skill_scores import feedback as weigh  # noqa: PLC0415 - `--help` needs none of it
    from agent.config import options  # noqa: PLC0415 - as above
    from agent.journal import read_events  # noqa: PLC0415 - as above
    from agent.memory import Memory  # noqa: PLC0415 - as above

    events = list(read_events(all_runs(data_dir).find(run).journal))
    given = [name for e in events if e.type == "skills.given" for name in e.data["names"]]
    namespace = events[0].data["options"]["namespace"] if events else "default"
    settings = options({"data_dir": data_dir}, config=True)
    with Memory.open(settings.memory_place, namespace) as memory:
        scores = weigh(memory.upkeep(""), given, thumb)
    for name, score in scores.items():
        print(f"{name}: {score}")
    if not scores:
        print("Noted; the run was given no skills.")
