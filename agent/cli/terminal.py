"""Words on the terminal: errors and hints on stderr, free of control characters."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import textwrap
from typing import TYPE_CHECKING, Any, TypeVar

from agent.models.providers import EXTRACTIVE, default_model
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Sequence

    from agent.config import Options
    from agent.run.preview import Preview
    from agent.tools.context import Approve, Ask


T = TypeVar("T")


def complain(message: str, hint: str = "") -> None:
    """Say what went wrong in one line, and what to do in a second one."""
    print(f"research: {clean(message)}", file=sys.stderr)
    if hint:
        print(f"  hint: {clean(hint)}", file=sys.stderr)


def complain_of(missing: Iterable[str]) -> None:
    """Say what went wrong, a line each."""
    for message in missing:
        complain(message)


def counted(number: int, one: str, many: str) -> str:
    """Write a number with what it counts: `1 key`, `2 keys`."""
    return f"{number:,} {one if number == 1 else many}"


def fitting(text: str, *, indent: int = 0) -> str:
    """Break lines between words, as wide as the terminal is; later ones begin at `indent`."""
    width = shutil.get_terminal_size().columns
    return textwrap.fill(text, width, subsequent_indent=" " * indent, break_long_words=False)


def note(message: str, hint: str = "") -> None:
    """Say on stderr that there is nothing to print, so that a pipe gets nothing but results."""
    print(clean(f"{message} {hint}".rstrip()), file=sys.stderr)


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
        print(clean(line(row)))
    if not rows and empty:
        note(*empty)


def print_preview(ahead: Preview) -> None:
    """Print what a run would do: prompt first, then model, plan and likely cost."""
    print(f"{ahead.system}\n\n{ahead.question}\n")
    cost = f", about ${ahead.usd:.4f}" if ahead.usd else ", free or of unknown price"
    if ahead.functions:
        print(f"offered  {', '.join(ahead.functions)}")
    print(f"model    {ahead.model}")
    print(f"plan     {'asked for first' if ahead.plans else 'none: one line of work'}")
    print(f"likely   {ahead.input_tokens:,} tokens in, {ahead.output_tokens:,} out{cost}")
    print("Nothing was sent. Memory, files and the open page are added to the prompt of a run.")


def say_what_rules_cannot(settings: Options) -> None:
    """Say before a run by rules what was asked of it that only a language model can do."""
    if settings.model or settings.base_url:
        keyless = settings.model == EXTRACTIVE
    else:
        keyless = default_model(os.environ) is None
    if keyless and settings.report:
        note(
            "Without a language model a report is an answer of one or two quoted sentences, in no "
            "sections: nothing is summarised or compared.",
            "`research keys set NAME` keeps a key; --model names a model.",
        )
    if keyless and settings.instruction:
        note("Without a language model nobody heeds the instruction of -s.")


def approver() -> Approve | None:
    """Give how a person says yes or no to a risky step; None where there is no terminal."""
    if not _at_a_terminal():
        return None

    async def approve(effect: str) -> bool | str:
        asked = (
            f"\nThe agent wants to do this: {clean(effect)}.\nAllow? [y/N, s: all on this site] "
        )
        said = (await _read_line(asked)).strip().lower()
        return "site" if said in ("s", "site") else said in ("y", "yes")

    return approve


def asker(flags: dict[str, Any]) -> Ask | None:
    """Give how a person is asked what they meant.

    None where nobody may be: no terminal, a CI machine, or output that a program reads.
    """
    silent = flags.get("quiet") or flags.get("as_json") or flags.get("as_events")
    if silent or os.environ.get("CI") or not _at_a_terminal():
        return None

    async def ask(question: str) -> str:
        return await _read_line(f"\n? {clean(question)}\n> ")

    return ask


def interruption() -> asyncio.Event:
    """Give what is set by Ctrl-C or SIGTERM from now on."""
    interrupted = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, interrupted.set)
    return interrupted


async def first_of(*ends: Coroutine[Any, Any, object], seconds: float | None = None) -> None:
    """Wait until one of these ends, or the time is up; the others are cancelled.

    Raises what the one that ended raised.
    """
    tasks = [asyncio.ensure_future(end) for end in ends]
    try:
        done, _ = await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _at_a_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


async def _read_line(prompt: str) -> str:
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
