"""The loop: think, act, observe, decide."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agent.errors import ReplayDiverged, ResearchError
from agent.guard.budget import Budget, LimitReached
from agent.guard.model_client import ModelClient, request_digest
from agent.guard.repetition import Repetition
from agent.guard.window import Window, tokens
from agent.journal.events import CONDENSE
from agent.models.base import Task, guided, takes
from agent.prompts import CALL, FORM, GO_ON, NUDGE, PLAN_SPENT, SEARCHES, UNREAD, WRAP_UP, prompt
from agent.protocol.replies import NOT_FOUND, gives_up, inert, parse
from agent.protocol.results import format_results
from agent.types import Message

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from agent.guard.model_client import Record
    from agent.guard.repetition import Circle
    from agent.models.base import Model, ModelReply
    from agent.prompts import Guides
    from agent.protocol.results import Caller
    from agent.types import Reply, ToolCall

__all__ = ["Loop", "LoopResult", "request_digest"]


FORMS_SHOWN = 2
"""Times that the form of a call is shown: a model that misses it thrice will not learn it."""
SHOWN_OF_BROKEN = 2_000
"""Characters of an unreadable reply that stay in the conversation."""
LONGEST_REPLY = 60_000
"""Characters of a reply that are read: a long report has 20,000; what goes on repeats itself."""
NUDGES = 2
"""Times that a model is not taken at its word while nothing was read: asked again, then guided."""
BEYOND_PLAN = 2
"""Steps that a plan may take beyond its own budget; the reference system's."""
NUDGED = "nudged"
"""What the record calls it."""


ECHO = 40
"""Characters of a line that nobody writes by chance as the instructions have it."""
_CITATION = "¶"
"""Stands in each id of a passage (`S2¶7`), and hardly anywhere else."""


@dataclass(frozen=True, slots=True)
class LoopResult:
    """How the loop ended: the final text, and the limit that ended it, if one did."""

    text: str
    limit: str | None = None


@dataclass(slots=True)
class Loop:
    """One conversation with a model, from the question to the final text.

    `place` names the loop within the run (`0` the main one); every event carries it. `guard`
    notices circles; a model that plans by rules of its own is left alone by it. `guides` are the
    helper texts that the conversation may be given. `planned` are the steps a plan should take,
    0 without one: a loop that goes beyond them is told so, once.
    """

    model: Model
    policy: Caller
    budget: Budget
    system: str
    record: Record
    place: str = "0"
    guard: Repetition | None = field(default_factory=Repetition)
    window: Window = field(default_factory=Window)
    guides: Guides | None = None
    planned: int = 0
    _asker: ModelClient = field(init=False)
    _question: int = field(default=0, init=False)
    _nudges: int = field(default=0, init=False)
    _unreadable: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._asker = ModelClient(self.model, self.system, self.budget, self.record)
        if not takes(self.model, Task.HEED):
            self.guard = None

    async def run(self, messages: list[Message]) -> LoopResult:
        """Work until the model answers, or a limit asks it to answer from what is known.

        `messages` ends with the question and grows by what is said. Raises `ModelError`.
        """
        self._question = len(messages) - 1
        return await self._until_answered(messages)

    async def go_on(self, messages: list[Message], said: str) -> LoopResult:
        """Say something after an answer, and work until there is another one."""
        messages.append(Message("user", said))
        return await self._until_answered(messages)

    async def _until_answered(self, messages: list[Message]) -> LoopResult:
        try:
            while True:
                reply = await self._within_time(self._think(messages))
                if reply.calls:
                    messages.append(Message("assistant", reply.text))
                    messages.append(await self._act(reply.calls))
                elif not (
                    self._only_thought(reply, messages)
                    or self._cannot_read(reply, messages)
                    or self._rests_on_nothing(reply, messages)
                ):
                    return LoopResult(self._final(reply, messages))
        except LimitReached as reached:
            self.record("limit.reached", self.place, limit=reached.limit, why=reached.why)
            return LoopResult(await self._wrap_up(messages, reached.limit), reached.limit)

    def _only_thought(self, reply: Reply, messages: list[Message]) -> bool:
        """Ask a model to go on that has only thought; a thought never closed hides what it did."""
        if reply.text or not (reply.unclosed or (self.guard and reply.thoughts)):
            return False
        note = self._noted(self.guard.check_thought() if self.guard else None)
        messages.append(Message("assistant", "…"))
        messages.append(Message("user", note or GO_ON))
        return True

    def _cannot_read(self, reply: Reply, messages: list[Message]) -> bool:
        """Show a model whose only call cannot be read the form, so often that it can learn it."""
        if self.guides is None or not reply.broken or self._unreadable >= FORMS_SHOWN:
            return False
        self._unreadable += 1
        messages.append(Message("assistant", reply.text[:SHOWN_OF_BROKEN] or "…"))
        messages.append(Message("user", FORM.format(call=CALL)))
        return True

    def _rests_on_nothing(self, reply: Reply, messages: list[Message]) -> bool:
        """Nudge a model that ends before anything was read; guide one that gives up even then."""
        observed = [o for message in messages for o in message.observations]
        unread = bool(observed) and all(o.tool == "WEB_SEARCH" for o in observed)
        if (
            self.guides is None
            or self.place != "0"  # a part's own task may rest on what others found
            or self._nudges >= NUDGES
            or (observed and not (unread and gives_up(reply.text)))
            or not takes(self.model, Task.NUDGE)
        ):
            return False
        note = NUDGE.format(call=CALL)
        if unread:
            if not any(o.results for o in observed):
                return False
            self._nudges, note = NUDGES, UNREAD
        elif self._nudges:
            made_up = _CITATION in reply.text
            gave_up = not reply.text or reply.broken or made_up or gives_up(reply.text)
            if not gave_up or not guided(self.model):
                return False
            note = SEARCHES
        self._nudges += 1
        self.record("guard.noticed", f"{self.place}/{self.budget.steps}", circle=NUDGED)
        messages.append(Message("assistant", reply.text[:SHOWN_OF_BROKEN] or "…"))
        messages.append(Message("user", note))
        return True

    def _echoes(self, text: str) -> bool:
        """Tell whether a line of a reply stands in the instructions: it repeats them."""
        lines = (line.strip("-*> ") for line in text.splitlines())
        return any(len(line) >= ECHO and line in self.system for line in lines)

    def _final(self, reply: Reply, messages: Sequence[Message]) -> str:
        """Give the text of an answer.

        That is nothing raw, nothing behind the word of giving up, and no citation of passages
        where none was ever shown.
        """
        if self.guides is None:
            return reply.text
        if _CITATION in reply.text and not any(_CITATION in m.content for m in messages):
            return NOT_FOUND
        if reply.broken:
            return ""
        gave_up = gives_up(reply.text) and takes(self.model, Task.HEED)
        return NOT_FOUND if gave_up else reply.text

    def _noted(self, circle: Circle | None) -> str:
        if circle is None:
            return ""
        self.record("guard.noticed", f"{self.place}/{self.budget.steps}", circle=circle)
        return circle.note

    async def _think(self, messages: Sequence[Message]) -> Reply:
        step = self.budget.begin_step()
        await self._sum_up(f"{CONDENSE}/{self.place}/{step}", messages)
        said = await self._ask(f"{self.place}/{step}", messages)
        reply = parse(said.text[:LONGEST_REPLY], self.guides.tools if self.guides else ())
        if self.guides and self._echoes(reply.text):
            reply = replace(reply, broken=not reply.calls)
        for thought in reply.thoughts:
            self.record("thought", f"{self.place}/{step}", text=thought)
        return reply

    async def _act(self, calls: Sequence[ToolCall]) -> Message:
        places = [f"{self.place}/{self.budget.steps}/{n}" for n in range(1, len(calls) + 1)]
        for call, place in zip(calls, places, strict=True):
            self.record("tool.call", place, name=call.name, param=call.param)
        finishes = await asyncio.gather(*map(self.policy.run, calls, places))
        results = [finish() for finish in finishes]
        note = self._noted(self.guard.check_calls(calls, results) if self.guard else None)
        guides = self.guides.after(results) if self.guides else ""
        if self.planned and self.budget.steps == self.planned + BEYOND_PLAN:
            self.record("note", f"{self.place}/{self.budget.steps}", text="the plan is used up")
            note = "\n\n".join(filter(None, (note, PLAN_SPENT.format(steps=self.planned))))
        said = "\n\n".join(filter(None, (format_results(results), guides, note)))
        images = next((r.images for r in reversed(results) if r.images), ())  # as it is now
        observed = [result.observed(call) for call, result in zip(calls, results, strict=True)]
        return Message("user", said, images, tuple(observed))

    async def _sum_up(self, place: str, messages: Sequence[Message]) -> None:
        """Have the model sum up, once, the steps that no longer fit whole; else they are cut."""
        steps = self.window.steps_to_cut(messages, self._question)
        if not steps or not takes(self.model, Task.CONDENSE):
            return
        said = "\n\n".join(
            inert(message.content) for n in steps for message in messages[n - 1 : n + 1]
        )
        said = said[: int(len(said) * min(1, self.window.high / tokens(said)))]
        question = messages[self._question].content
        request = f"The question:\n{question}\n\n<steps>\n{said}\n</steps>"
        asker = ModelClient(self.model, prompt("steps"), self.budget, self.record)
        try:
            notes = inert((await asker.ask(place, [Message("user", request)])).text).strip()
        except ReplayDiverged:
            raise
        except ResearchError as error:
            self.record("note", place, text=f"old steps were cut, not summed up: {error}")
            return
        if notes:
            self.window.put_notes(notes, steps, messages)

    async def _ask(
        self, place: str, messages: Sequence[Message], *, final: bool = False
    ) -> ModelReply:
        fitted = self.window.fit(messages, self._question)
        return await self._asker.ask(place, fitted, messages, final=final)

    async def _wrap_up(self, messages: list[Message], limit: str) -> str:
        messages.append(Message("user", WRAP_UP.format(limit=limit)))
        left = self.budget.seconds_left(reserve=False)
        try:
            async with asyncio.timeout(left):
                last = await self._ask(f"{self.place}/wrap-up", messages, final=True)
        except (TimeoutError, LimitReached):
            return ""
        return without_calls(last.text)

    async def _within_time(self, thinking: Awaitable[Reply]) -> Reply:
        try:
            async with asyncio.timeout(self.budget.seconds_left()):
                return await thinking
        except TimeoutError as error:
            raise LimitReached("timeout") from error


def asks_for_notes(system: str) -> bool:
    """Tell whether a request with this system prompt is for notes on old steps."""
    return system == prompt("steps")


def without_calls(text: str) -> str:
    """Take thoughts and tool tags out of a reply that should have had none."""
    reply = parse(text)
    return reply.text if not reply.calls else reply.text.split("<<TOOL:")[0].strip()
