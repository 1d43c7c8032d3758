"""The front door: a question goes in, a report comes out. Every way in goes through here."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

from agent.config import options
from agent.run.execute import execute
from agent.run.inputs import Given

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from agent.journal import Event
    from agent.memory import AnyMemory
    from agent.models import Model
    from agent.types import Report

__all__ = ["research", "research_sync"]


async def research(
    question: str,
    *,
    model: str | Model | None = None,
    memory: bool | AnyMemory = True,
    tools: Mapping[str, Callable[[str], Awaitable[Any]]] | None = None,
    on_event: Callable[[Event], None] | None = None,
    approve: Callable[[str], Awaitable[bool | str]] | None = None,
    ask: Callable[[str], Awaitable[str]] | None = None,
    config: bool = False,
    **flags: Any,
) -> Report:
    """Research a question.

    `flags` are the command line's flags with underscores (lists where a flag repeats). `tools` are
    async functions by name: each gets the raw parameter, what it gives back is the result.
    `on_event` is called with each journal event; `approve` asks the person about a risky step,
    `ask` what they meant, once at most. Environment and settings file are read only with `config`.
    A model or a web that fails ends in a report with status `failed`; wrong settings raise
    `UsageError`, and a cancelled run leaves its record behind and raises `CancelledError`.
    """
    named = model if isinstance(model, str) else None
    switch = memory if isinstance(memory, bool) else True
    settings = options({**flags, "model": named, "memory": switch}, config=config)
    given = Given(
        model=None if isinstance(model, str) else model,
        memory=None if isinstance(memory, bool) else memory,
        tools=dict(tools or {}),
        on_event=on_event,
        approve=approve,
        ask=ask,
        config=config,
    )
    sayable = question.encode("utf-8", "replace").decode()  # the shell hands on any bytes
    return await execute(sayable, settings, given)


def research_sync(question: str, **arguments: Any) -> Report:
    """Research a question and wait for the report; works inside a running event loop too."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(research(question, **arguments))
    return _in_thread(question, arguments)


def _in_thread(question: str, arguments: dict[str, Any]) -> Report:
    """Run in a loop of another thread: the one of the caller is busy with this very call."""
    box: list[Report | BaseException] = []

    def work() -> None:
        try:
            box.append(asyncio.run(research(question, **arguments)))
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread, raised there
            box.append(error)

    thread = threading.Thread(target=work, name="research")
    thread.start()
    thread.join()
    if isinstance(box[0], BaseException):
        raise box[0]
    return box[0]
