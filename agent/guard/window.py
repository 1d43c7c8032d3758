"""Keeping the conversation within the context window, before every call."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.models import Message

CONTEXT_CHARS = 80_000
"""The reference engine's budget: about 20,000 tokens, which every current model takes."""
_KEPT = 200
_MARK = "…[trimmed]"


def fit(messages: Sequence[Message], first: int, limit: int = CONTEXT_CHARS) -> list[Message]:
    """Trim messages until all fit: observations first, oldest first.

    `first` is the index of the question, which is never trimmed; neither are the last two
    messages. A trimmed message keeps its first 200 characters and says that it was trimmed.
    """
    fitted = list(messages)
    total = sum(len(message.content) for message in fitted)
    for index in _order(fitted, first):
        if total <= limit:
            break
        message = fitted[index]
        if len(message.content) <= _KEPT + len(_MARK):
            continue
        fitted[index] = replace(message, content=message.content[:_KEPT] + _MARK)
        total -= len(message.content) - len(fitted[index].content)
    return fitted


def _order(messages: Sequence[Message], first: int) -> list[int]:
    """Old history, then observations, then the model's own notes: the least worth goes first."""
    last = len(messages) - 2
    observations = [i for i in range(first + 1, last) if messages[i].role == "user"]
    notes = [i for i in range(first + 1, last) if messages[i].role == "assistant"]
    return [*range(min(first, last)), *observations, *notes]
