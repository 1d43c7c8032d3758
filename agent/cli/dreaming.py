"""Consolidating memory: on request, and by itself when the answer is printed and nobody waits."""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import click

from agent.cli.memory import memory
from agent.cli.place import Place, opened
from agent.config import options
from agent.errors import UsageError
from agent.journal.unsettled import Unsettled

if TYPE_CHECKING:
    from agent.config import Options
    from agent.memory import Memory

SECONDS = 2.0  # what a person does not mind between the answer and the prompt
_RUN_ENDED = frozenset({0, 3, 4, 5})
"""Exit codes of runs that came to an end and may have left something."""


@memory.command()
@click.option(
    "--seconds",
    default=30.0,
    type=click.FloatRange(min=0, min_open=True),
    show_default=True,
    help="How long at most.",
)
@click.option("--model", metavar="NAME", help="Has new insights worded by this model.")
@click.option("--base-url", metavar="URL", help="An OpenAI-compatible endpoint.")
@click.pass_obj
def dream(place: Place, seconds: float, model: str | None, base_url: str | None) -> None:
    """Consolidate: link, merge, draw insights, retire what is stale."""
    folder, namespace = place
    given: dict[str, Any] = {"data_dir": folder, "namespace": namespace, "base_url": base_url}
    settings = options(given, config=True)
    asked = (model or "") if model or base_url else None
    with opened(place) as store:
        if Unsettled(folder).runs():
            asyncio.run(_finish_runs(store, asked, settings))
        done = store.consolidate(seconds)
        print(
            f"linked {done.linked}, merged {done.merged}, insights {done.insights}, "
            f"faded {done.faded}, retired {done.retired}"
        )
        if asked is not None:
            print(f"worded {asyncio.run(_worded(store, asked, settings))}")


async def _finish_runs(store: Memory, name: str | None, settings: Options) -> None:
    """Do the jobs of runs that were killed behind their answers, without a model some of them."""
    from agent.run.afterwards import Keeper  # noqa: PLC0415 - `--help` needs none of it
    from agent.run.left_behind import LeftBehind  # noqa: PLC0415 - as above
    from agent.run.memory import name_of  # noqa: PLC0415 - as above
    from agent.run.models import open_model  # noqa: PLC0415 - as above

    async with AsyncExitStack() as stack:
        model = None
        if name is not None:
            model = await open_model(stack, name, settings, os.environ, settings.base_url)
        keeper = Keeper(store, asyncio.to_thread)
        await LeftBehind(settings.data, keeper, name_of(settings), model).finish()


async def _worded(store: Memory, name: str, settings: Options) -> int:
    """Have insights worded; returns how many."""
    from agent.after.insights import word_insights  # noqa: PLC0415 - only where a model is named
    from agent.models import Task, takes  # noqa: PLC0415 - as above
    from agent.run.models import open_model  # noqa: PLC0415 - as above

    async with AsyncExitStack() as stack:
        model = await open_model(stack, name, settings, os.environ, settings.base_url)
        if not takes(model, Task.AFTER):
            raise UsageError(f"{model.name} words nothing", hint="Name a language model.")
        return await word_insights(store, model)


def dream_after(code: int, settings: Options, *, quiet: bool) -> None:
    """Consolidate after a run, if it is due; never for a pipe (`-q`), nor in CI."""
    if quiet or os.environ.get("CI") or not settings.memory or code not in _RUN_ENDED:
        return
    from agent.memory import Memory  # noqa: PLC0415 - a run without memory does not load it

    with Memory.open(settings.memory_place, settings.namespace) as memory:
        if memory.consolidation_due():
            memory.consolidate(SECONDS)
