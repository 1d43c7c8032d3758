"""Words on the terminal, free of control characters; questions to the person; interruptions."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import textwrap
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from agent.tools.context import Approve, Ask


T = TypeVar("T")


def print_text(text: str) -> None:
    """Print on stdout what may hold words of others: without characters that steer a terminal."""
    print(clean(text))


def print_error(message: str, hint: str = "") -> None:
    """Say on stderr what went wrong in one line, and what to do in a second one."""
    print(f"research: {clean(message)}", file=sys.stderr)
    if hint:
        print(f"  hint: {clean(hint)}", file=sys.stderr)


def note(message: str, hint: str = "") -> None:
    """Say something on stderr, so that a pipe gets nothing but results."""
    print(clean(f"{message} {hint}".rstrip()), file=sys.stderr)


def plural(number: int, one: str, many: str) -> str:
    """Write a number with what it counts: `1 key`, `2 keys`."""
    return f"{number:,} {one if number == 1 else many}"


def wrap(text: str, *, indent: int = 0) -> str:
    """Break lines between words, as wide as the terminal is; later ones begin at `indent`."""
    width = shutil.get_terminal_size().columns
    return textwrap.fill(text, width, subsequent_indent=" " * indent, break_long_words=False)


def print_json(value: object) -> None:
    """Print a value as JSON; models and dataclasses as their fields."""
    from pydantic_core import to_jsonable_python  # noqa: PLC0415 - only where it is asked for

    print(json.dumps(value, ensure_ascii=False, indent=2, default=to_jsonable_python))


def print_rows(
    rows: Sequence[T], line: Callable[[T], str], *, as_json: bool = False, empty: Sequence[str] = ()
) -> None:
    """List rows, a line each or as JSON; where there are none, `empty` is noted: text and hint."""
    if as_json:
        print_json(rows)
        return
    for row in rows:
        print_text(line(row))
    if not rows and empty:
        note(*empty)


def approver() -> Approve | None:
    """Make the function that asks a person to allow a risky step; None without a terminal."""
    if not _at_a_terminal():
        return None

    async def approve(effect: str) -> bool | str:
        prompt = (
            f"\nThe agent wants to do this: {clean(effect)}.\nAllow? [y/N, s: all on this site] "
        )
        answer = (await _read_line(prompt)).strip().lower()
        return "site" if answer in ("s", "site") else answer in ("y", "yes")

    return approve


def asker(flags: dict[str, Any]) -> Ask | None:
    """Make the function that asks a person what they meant.

    None where nobody may be asked: no terminal, a CI machine, or output that a program reads.
    """
    silent = flags.get("quiet") or flags.get("as_json") or flags.get("as_events")
    if silent or os.environ.get("CI") or not _at_a_terminal():
        return None

    async def ask(question: str) -> str:
        return await _read_line(f"\n? {clean(question)}\n> ")

    return ask


def _at_a_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


async def _read_line(prompt: str) -> str:
    """Read a line without a thread: Ctrl-C then ends the run at once, not at the next Enter."""
    loop = asyncio.get_running_loop()
    line: asyncio.Future[str] = loop.create_future()

    def read() -> None:
        if not line.done():
            line.set_result(sys.stdin.readline())

    print(prompt, end="", file=sys.stderr, flush=True)
    # A terminal is readable when a whole line stands there, so that reading it does not wait.
    try:
        loop.add_reader(sys.stdin.fileno(), read)
    except NotImplementedError:  # Windows: a thread, which does not keep the process alive
        reading = Thread(target=lambda: _hand_over(loop, line, sys.stdin.readline()), daemon=True)
        reading.start()
        return await line
    try:
        return await line
    finally:
        loop.remove_reader(sys.stdin.fileno())


def _hand_over(loop: asyncio.AbstractEventLoop, line: asyncio.Future[str], text: str) -> None:
    """Give a line that a thread read to the loop that waits for it, if it still does."""
    with suppress(RuntimeError):  # the loop is closed
        loop.call_soon_threadsafe(lambda: None if line.done() else line.set_result(text))


def on_signal(number: int, action: Callable[[], object]) -> None:
    """Call an action in the running loop at a signal, instead of ending the process."""
    loop = asyncio.get_running_loop()
    try:
        loop.add_signal_handler(number, action)
    except NotImplementedError:  # Windows
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(action))


def interrupt_event() -> asyncio.Event:
    """Make an event that Ctrl-C and SIGTERM set from now on, instead of ending the process."""
    interrupted = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        on_signal(name, interrupted.set)
    return interrupted


async def wait_for_first(
    *awaited: Coroutine[Any, Any, object], seconds: float | None = None
) -> None:
    """Wait until one of these ends, or the time is up; the others are cancelled.

    Raises what the one that ended raised.
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
