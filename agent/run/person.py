"""The person of a run: that they are asked, and when they have answered, is on record.

What they answered stands in the result of the call that asked, so that replay and resume need
nobody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from agent.tools.context import Person

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agent.tools.context import Ask

T = TypeVar("T")


def on_record(
    ask: Callable[[str], Awaitable[T]] | None, write: Callable[..., object]
) -> Callable[[str], Awaitable[T]] | None:
    """Let a way of asking tell the record, so that a live view makes room; None stays None."""
    if ask is None:
        return None

    async def asking(what: str) -> T:
        write("person.asked", what=what)
        try:
            return await ask(what)
        finally:
            write("person.answered")

    return asking


def person(ask: Ask | None, write: Callable[..., object]) -> Person | None:
    """Give whom the tools can ask."""
    asking = on_record(ask, write)
    return None if asking is None else Person(asking)


async def nobody(_question: str) -> str:
    """Give no answer: the run went on where no person is."""
    return ""
