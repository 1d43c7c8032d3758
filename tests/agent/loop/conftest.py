"""A model that answers by request, however many loops ask at once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from agent.models.base import ModelReply

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.types import Message


class Answering:
    """Answers a request with the reply for the first pattern found in it."""

    name = "answering"

    def __init__(self, replies: dict[str, str]) -> None:
        self._replies = replies
        self.asked: list[str] = []

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:
        self.asked.append(messages[-1].content)
        said = f"{system}\n\n{messages[-1].content}"
        found = next((r for p, r in self._replies.items() if re.search(p, said, re.DOTALL)), None)
        assert found is not None, f"nothing to say to: {messages[-1].content}"
        return ModelReply(found, model=self.name)

    async def aclose(self) -> None:
        pass


@pytest.fixture
def answering():
    return Answering
