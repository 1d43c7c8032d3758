"""What is known when a run ends before its model could say so."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agent.keyless import ExtractiveModel
from agent.loop import without_calls
from agent.models import Message
from agent.prompts import WRAP_UP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.loop import LoopResult


async def with_what_is_known(result: LoopResult, messages: Sequence[Message]) -> LoopResult:
    """Fill an answer that a limit or an interrupt left empty, by rules, from what was read."""
    if result.limit is None or result.text.strip() or len(messages) < 2:
        return result
    last = Message("user", WRAP_UP.format(limit=result.limit))
    reply = await ExtractiveModel().reply("", [*messages, last])
    return replace(result, text=without_calls(reply.text))
