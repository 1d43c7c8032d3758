"""Words on the terminal: errors and hints on stderr, free of control characters."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from browser.text import clean

if TYPE_CHECKING:
    from agent.run.preview import Preview


def complain(message: str, hint: str = "") -> None:
    """Say what went wrong in one line, and what to do in a second one."""
    print(f"research: {clean(message)}", file=sys.stderr)
    if hint:
        print(f"  hint: {clean(hint)}", file=sys.stderr)


def counted(number: int, one: str, many: str) -> str:
    """Write a number with what it counts: `1 key`, `2 keys`."""
    return f"{number:,} {one if number == 1 else many}"


def note(message: str, hint: str = "") -> None:
    """Say on stderr that there is nothing to print, so that a pipe gets nothing but results."""
    print(clean(f"{message} {hint}".rstrip()), file=sys.stderr)


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
