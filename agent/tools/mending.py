"""Asking the model, once a call and briefly, to write down again a call that cannot be read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent.errors import ModelError, UsageError
from agent.guard.model_client import ModelClient
from agent.journal.places import MEND
from agent.models.base import Task, takes
from agent.prompts import prompt
from agent.protocol.replies import loose_object, parse
from agent.types import Message

if TYPE_CHECKING:
    from agent.errors import ToolError
    from agent.guard.budget import Budget
    from agent.guard.model_client import Record
    from agent.models.base import Model
    from agent.types import ToolCall

MOST = 4
"""Requests in a run: a model that still cannot write a call will not learn it."""


@dataclass(slots=True)
class Mender:
    """Asks the run's model; what it costs counts as the run's."""

    model: Model
    budget: Budget
    record: Record
    _asked: int = field(default=0, init=False)

    async def ask(self, call: ToolCall, form: str, error: ToolError, place: str) -> str | None:
        """Give the parameter as the model writes it when it is shown the form; None where not."""
        if self._asked >= MOST or not takes(self.model, Task.MEND):
            return None
        self._asked += 1
        shown = prompt("call-again").format(
            call=f"<<TOOL:{call.name}:{call.param}>>", error=error, form=form
        )
        asker = ModelClient(self.model, "", self.budget, self.record)
        try:
            reply = await asker.ask(f"{MEND}/{place}", [Message("user", shown)])
        except (ModelError, UsageError):
            return None  # the call then fails as it would have, with its form as the hint
        return _param(reply.text, call.name)


def _param(reply: str, name: str) -> str | None:
    again = next((call for call in parse(reply).calls if call.name == name), None)
    if again is not None:
        return again.param
    return reply.strip() if loose_object(reply) else None
