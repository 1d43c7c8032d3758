"""Terminal output without control characters, prompts to the user, and interrupts."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import textwrap
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

import click

from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from agent.loop.plan_approval import EditPlan
    from agent.tools.context import Approve, Ask


T = TypeVar("T")


def print_text(text: str) -> None:
    """Print untrusted text on stdout, without terminal control characters."""
    print(clean(text))


def print_error(message: str, hint: str = "") -> None:
    """Print an error on stderr: the message, followed by a line with the hint."""
    print(f"research: {clean(message)}", file=sys.stderr)
    if hint:
        print(f"  hint: {clean(hint)}", file=sys.stderr)


def note(message: str, hint: str = "") -> None:
    """Print a message on stderr, so that pipes receive only results."""
    print(clean(f"{message} {hint}".rstrip()), file=sys.stderr)


def plural(number: int, one: str, many: str) -> str:
    """Format a number with its noun: `1 key`, `2 keys`."""
    return f"{number:,} {one if number == 1 else many}"


def wrap(text: str, *, indent: int = 0) -> str:
    """Wrap lines to the terminal's width; later lines are indented by `indent`."""
    width = shutil.get_terminal_size().columns
    return textwrap.fill(text, width, subsequent_indent=" " * indent, break_long_words=False)


def print_json(value: object) -> None:
    """Print a value as JSON; models and dataclasses become objects with their fields."""
    from pydantic_core import to_jsonable_python  # noqa: PLC0415 - only where it is needed

    print(json.dumps(value, ensure_ascii=False, indent=2, default=to_jsonable_python))


def print_rows(
    rows: Sequence[T], line: Callable[[T], str], *, as_json: bool = False, empty: Sequence[str] = ()
) -> None:
    """Print rows as lines or as JSON; without rows, print `empty` (message, hint) on stderr."""
    if as_json:
        print_json(rows)
        return
    for row in rows:
        print_text(line(row))
    if not rows and empty:
        note(*empty)


def approver() -> Approve | None:
    """Return a function that asks the user to approve a risky step; None without a terminal."""
    if not _at_a_terminal():
        return None

    async def approve(effect: str) -> bool | str:
        prompt = f"\nThe agent wants to {clean(effect)}.\nAllow? [y/N, s: everything on this site] "
        answer = (await _read_line(prompt)).strip().lower()
        return "site" if answer in ("s", "site") else answer in ("y", "yes")

    return approve


def asker(flags: dict[str, Any]) -> Ask | None:
    """Return a function that asks the user a clarifying question.

    Returns None if nobody can answer: no terminal, in CI, or with machine-readable output.
    """
    silent = flags.get("quiet") or flags.get("as_json") or flags.get("as_events")
    if silent or os.environ.get("CI") or not _at_a_terminal():
        return None

    async def ask(question: str) -> str:
        return await _read_line(f"\n? {clean(question)}\n> ")

    return ask


def plan_editor() -> EditPlan | None:
    """Return a function that asks the user to edit and approve a plan; None without a terminal."""
    if not _at_a_terminal():
        return None

    async def edit(text: str) -> str | None:
        while True:
            shown = textwrap.indent(clean(text.rstrip()), "  ")
            prompt = f"\nThe plan:\n\n{shown}\n\nStart? [Y: start, e: edit, n: stop] "
            answer = (await _read_line(prompt)).strip().lower()
            if answer in ("", "y", "yes"):
                return text
            if answer in ("n", "no", "q"):
                return None
            if answer in ("e", "edit"):
                # Opens $VISUAL or $EDITOR; returns None if the user quits without saving.
                edited = await asyncio.to_thread(partial(click.edit, text, extension=".md"))
                text = str(edited) if edited else text

    return edit


def _at_a_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


async def _read_line(prompt: str) -> str:
    """Read a line without blocking, so that Ctrl-C works immediately, not after the next Enter."""
    loop = asyncio.get_running_loop()
    line: asyncio.Future[str] = loop.create_future()

    def read() -> None:
        if not line.done():
            line.set_result(sys.stdin.readline())

    print(prompt, end="", file=sys.stderr, flush=True)
    # A terminal becomes readable once a complete line is available, so reading does not block.
    try:
        loop.add_reader(sys.stdin.fileno(), read)
    except NotImplementedError:  # Windows: use a daemon thread
        reading = Thread(
            target=lambda: _deliver_line(loop, line, sys.stdin.readline()), daemon=True
        )
        reading.start()
        return await line
    try:
        return await line
    finally:
        loop.remove_reader(sys.stdin.fileno())


def _deliver_line(loop: asyncio.AbstractEventLoop, line: asyncio.Future[str], text: str) -> None:
    """Pass a line from the reading thread to the event loop, if the loop is waiting for one."""
    with suppress(RuntimeError):  # the loop is closed
        loop.call_soon_threadsafe(lambda: None if line.done() else line.set_result(text))


def on_signal(number: int, action: Callable[[], object]) -> None:
    """Make a signal call `action` in the running event loop instead of ending the process."""
    loop = asyncio.get_running_loop()
    try:
        loop.add_signal_handler(number, action)
    except NotImplementedError:  # Windows
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(action))


def interrupt_event() -> asyncio.Event:
    """Return an event that Ctrl-C and SIGTERM will set instead of ending the process."""
    interrupted = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        on_signal(name, interrupted.set)
    return interrupted


async def wait_for_first(
    *awaited: Coroutine[Any, Any, object], seconds: float | None = None
) -> None:
    """Wait until one coroutine ends or the timeout expires, and cancel the others.

    If a coroutine that ended raised an exception, it is raised again.
    """
    tasks = [asyncio.ensure_future(one) for one in awaited]
    try:
        done, _ = await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
