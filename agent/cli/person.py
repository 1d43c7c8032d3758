"""The person at the terminal: whether there is one, and how they are asked."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING, Any

from browser.text import clean

if TYPE_CHECKING:
    from agent.tools.context import Approve
    from agent.tools.person import Ask


def approver() -> Approve | None:
    """Give how a person says yes or no to a risky step; None where there is no terminal."""
    if not _at_a_terminal():
        return None

    async def approve(effect: str) -> bool:
        said = await _line(f"\nThe agent wants to do this: {clean(effect)}. Allow? [y/N] ")
        return said.strip().lower() in ("y", "yes")

    return approve


def asker(flags: dict[str, Any]) -> Ask | None:
    """Give how a person is asked what they meant.

    None where nobody may be: no terminal, a CI machine, or output that a program reads.
    """
    silent = flags.get("quiet") or flags.get("as_json") or flags.get("as_events")
    if silent or os.environ.get("CI") or not _at_a_terminal():
        return None

    async def ask(question: str) -> str:
        return await _line(f"\n? {clean(question)}\n> ")

    return ask


def _at_a_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


async def _line(prompt: str) -> str:
    """Read a line without a thread: Ctrl-C then ends the run at once, not at the next Enter."""
    loop = asyncio.get_running_loop()
    said: asyncio.Future[str] = loop.create_future()
    print(prompt, end="", file=sys.stderr, flush=True)
    # A terminal is readable when a whole line stands there, so that reading it does not wait.
    loop.add_reader(sys.stdin.fileno(), _hear, said)
    try:
        return await said
    finally:
        loop.remove_reader(sys.stdin.fileno())


def _hear(said: asyncio.Future[str]) -> None:
    if not said.done():
        said.set_result(sys.stdin.readline())
