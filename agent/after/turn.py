"""What the jobs are told of the turn that was just answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent import jsvalues as js

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from agent.memory import Turn

    Ask = Callable[[str, str, str], Awaitable[str]]
    """Name of the job (of its prompt and place), system prompt, request: to the reply."""


@dataclass(frozen=True, slots=True)
class TurnDone:
    """The conversation with the new question and answer at its end.

    `messages` counts what the model had before it in the end, without the answer; `shown` are
    the skills that it was given; `tainted` says that the web was read, so that the answer may
    hold the web's words. `tools` names the tools that worked, in order; `learns` says that skills
    may be mended, and `verified` that every sentence was supported, so that they may be proposed.
    """

    history: tuple[Turn, ...]
    messages: int
    shown: tuple[str, ...] = ()
    tainted: bool = False
    tools: tuple[str, ...] = ()
    learns: bool = False
    verified: bool = False


def transcript(turns: Sequence[Turn], units: int) -> str:
    """Write turns a line each, cut to so many UTF-16 units."""
    return "\n".join(f"[{turn.role}] {js.well_formed(js.cut(turn.text, units))}" for turn in turns)
