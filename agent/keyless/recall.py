"""What earlier messages said before a full window cut them short."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.models.base import Message

_SAME = 150
"""Characters at a message's start that tell it: a cut message keeps more than these."""


class Recall:
    """The messages of the conversation last seen, each in its longest form."""

    def __init__(self) -> None:
        self._seen: list[Message] = []

    def restore(self, messages: Sequence[Message]) -> list[Message]:
        """Give the messages with those that were cut put back; another conversation begins anew."""
        whole: list[Message] = []
        for number, message in enumerate(messages):
            before = self._seen[number] if number < len(self._seen) else None
            if before is None or before.role != message.role or not _began_as(message, before):
                whole += messages[number:]
                break
            longer = max(before.content, message.content, key=len)
            whole.append(replace(message, content=longer))
        self._seen = whole
        return whole


def _began_as(message: Message, before: Message) -> bool:
    return message.content[:_SAME] == before.content[:_SAME]
