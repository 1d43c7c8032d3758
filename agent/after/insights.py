"""Wording insights: what memories of runs teach together, in one sentence by a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.models import Message
from agent.prompts import prompt
from agent.protocol import inert

if TYPE_CHECKING:
    from agent.memory import Memory
    from agent.memory.consolidation import Unworded
    from agent.models import Model

MOST = 8  # insights in one go; the next dream goes on


async def word_insights(memory: Memory, model: Model, most: int = MOST) -> int:
    """Have a model word the newest insights; returns how many it did. Raises `ModelError`."""
    done = 0
    for insight in memory.unworded()[:most]:
        reply = await model.reply(prompt("insight"), [Message("user", _asked(insight))])
        said = inert(reply.text).strip()
        if said and said.rstrip(".").upper() != "NONE":
            memory.reword(insight.key, said)
            done += 1
    return done


def _asked(insight: Unworded) -> str:
    lines = "\n".join(f"- {inert(text)}" for text in insight.evidence)
    return f"<memories>\n{lines}\n</memories>\n\nThe rule: {inert(insight.text)}"
