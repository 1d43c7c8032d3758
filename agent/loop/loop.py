"""The loop of an agent: query the model, execute the tools it calls, show it the results, again.

`Loop.run` takes steps until the model answers or a limit ends them. A reply that neither calls a
tool nor may stand as an answer is sent back with a note that says what is wrong with it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from agent.errors import ReplayDiverged, ResearchError
from agent.guard.budget import Budget, LimitReached
from agent.guard.model_client import ModelClient
from agent.guard.window import Window, tokens
from agent.journal.events import CONDENSE, MAIN
from agent.loop.repetition import RepetitionGuard
from agent.models.base import Task, start_guided_mode, takes
from agent.prompts import CALL, FORM, GO_ON, NUDGE, PLAN_SPENT, SEARCHES, UNREAD, WRAP_UP, prompt
from agent.protocol.replies import NOT_FOUND, gives_up, inert, parse
from agent.protocol.results import format_results
from agent.types import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.guard.model_client import Record
    from agent.loop.repetition import Circle
    from agent.models.base import Model, ModelReply
    from agent.prompts import Guides
    from agent.protocol.results import Caller
    from agent.types import Reply, ToolCall


FORMS_SHOWN: Final = 2
"""Times that the form of a call is shown: a model that misses it thrice will not learn it."""
NUDGES: Final = 2
"""Times that an answer is not taken while nothing was read: asked again, then guided."""
NUDGED: Final = "nudged"
"""What the record calls a nudge."""
BEYOND_PLAN: Final = 2
"""Steps that a plan may take beyond its own budget; the reference engine's."""
LONGEST_REPLY: Final = 60_000
"""Characters of a reply that are read: a long report has 20,000; what goes on repeats itself."""
REJECTED_CHARS: Final = 2_000
"""Characters of a reply that was sent back which stay in the conversation."""
ECHO: Final = 40
"""Characters of a line that nobody writes by chance as the instructions have it."""
_CITATION: Final = "¶"
"""Stands in each id of a passage (`S2¶7`), and hardly anywhere else."""


@dataclass(frozen=True, slots=True)
class LoopResult:
    """The final text, and the limit that ended the loop, if one did."""

    text: str
    limit: str | None = None


@dataclass(slots=True)
class Loop:
    """One conversation with a model, from the question to the final text.

    `place` names the loop within the run; every event carries it. `guard` notices circles, None
    for none. `guides` are the helper texts that the conversation may be given. `planned` are the
    steps that a plan should take, 0 without one. `messages` is the conversation so far.
    """

    model: Model
    tools: Caller
    budget: Budget
    system: str
    record: Record
    place: str = MAIN
    guard: RepetitionGuard | None = field(default_factory=RepetitionGuard)
    window: Window = field(default_factory=Window)
    guides: Guides | None = None
    planned: int = 0
    messages: list[Message] = field(default_factory=list)
    _client: ModelClient = field(init=False)
    _question: int = field(default=0, init=False)
    _nudges: int = field(default=0, init=False)
    _forms_shown: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._client = ModelClient(self.model, self.system, self.budget, self.record)
        if not takes(self.model, Task.FOLLOW_NOTES):  # rules of its own would not read a note
            self.guard = None

    async def run(self, messages: list[Message]) -> LoopResult:
        """Work until the model answers, or a limit asks it to answer from what is known.

        `messages` ends with the question, and grows. Raises `ModelError`.
        """
        self.messages = messages
        self._question = len(messages) - 1
        return await self._until_answered()

    async def follow_up(self, note: str, answer: str | None = None) -> LoopResult:
        """Say something, after an answer was given, and work until there is another one."""
        if answer is not None:
            self.messages.append(Message("assistant", answer))
        self.messages.append(Message("user", note))
        return await self._until_answered()

    async def _until_answered(self) -> LoopResult:
        try:
            while (answer := await self.step()) is None:
                pass
            return LoopResult(answer)
        except LimitReached as reached:
            self.record("limit.reached", self.place, limit=reached.limit, why=reached.why)
            return LoopResult(await self._wrap_up(reached.limit), reached.limit)

    async def step(self) -> str | None:
        """Query the model once and act on its reply; gives the final text when it answers.

        Raises `LimitReached` where no step is left.
        """
        reply = await self.query()
        if reply.calls:
            # Before they are made: where one ends the loop, the model is shown what it asked for.
            self.messages.append(Message("assistant", reply.text))
            self.messages.append(await self.execute(reply.calls))
        elif note := self._rejected(reply):
            self.messages.append(Message("assistant", reply.text[:REJECTED_CHARS] or "…"))
            self.messages.append(Message("user", note))
        else:
            return self._final_text(reply)
        return None

    async def query(self) -> Reply:
        """Ask the model for its next reply, within the time that is left."""
        try:
            async with asyncio.timeout(self.budget.seconds_left()):
                place = f"{self.place}/{self.budget.begin_step()}"
                # Before the request is fitted into the window: what is cut then has its notes.
                await self._condense(f"{CONDENSE}/{place}")
                said = await self._ask(place)
        except TimeoutError as error:
            raise LimitReached("timeout") from error
        reply = parse(said.text[:LONGEST_REPLY], self.guides.tools if self.guides else ())
        if self.guides and self._echoes_instructions(reply.text):
            reply = replace(reply, broken=not reply.calls)
        for thought in reply.thoughts:
            self.record("thought", place, text=thought)
        return reply

    async def execute(self, calls: Sequence[ToolCall]) -> Message:
        """Make the calls side by side; gives the message that shows their results, in tag order."""
        step = f"{self.place}/{self.budget.steps}"
        places = [f"{step}/{n}" for n in range(1, len(calls) + 1)]
        for call, place in zip(calls, places, strict=True):
            self.record("tool.call", place, name=call.name, param=call.param)
        # Calls run together, but are finished in tag order: how sources are numbered, and what is
        # recorded, must not depend on which was faster.
        finishes = await asyncio.gather(*map(self.tools.run, calls, places))
        results = [finish() for finish in finishes]
        shown = [format_results(results)]
        if self.guides:
            shown.append(self.guides.after(results))
        if self.guard:
            shown.append(self._circle_note(self.guard.check_calls(calls, results)))
        if self.planned and self.budget.steps == self.planned + BEYOND_PLAN:
            self.record("note", step, text="the plan is used up")
            shown.append(PLAN_SPENT.format(steps=self.planned))
        observations = [r.observed(call) for call, r in zip(calls, results, strict=True)]
        # Of several pictures the last one shows the page as it is now.
        images = next((r.images for r in reversed(results) if r.images), ())
        return Message("user", "\n\n".join(filter(None, shown)), images, tuple(observations))

    def _rejected(self, reply: Reply) -> str:
        """Say what is wrong with a reply that is no answer; "" where it may stand as one."""
        # A thought that was never closed hides what the model wanted to do.
        if not reply.text and (reply.unclosed or (self.guard and reply.thoughts)):
            note = self._circle_note(self.guard.check_thought()) if self.guard else ""
            return note or GO_ON
        if self.guides is None:
            return ""
        if reply.broken and self._forms_shown < FORMS_SHOWN:
            self._forms_shown += 1
            return FORM.format(call=CALL)
        return self._nudge(reply)

    def _nudge(self, reply: Reply) -> str:
        """Ask a model on that ends before anything was read; guide one that gives up even then."""
        observed = [o for message in self.messages for o in message.observations]
        only_searched = bool(observed) and all(o.tool == "WEB_SEARCH" for o in observed)
        if (
            self.place != MAIN  # a part's own task may rest on what others found
            or self._nudges >= NUDGES
            or (observed and not (only_searched and gives_up(reply.text)))
            or not takes(self.model, Task.NUDGE)
        ):
            return ""
        if only_searched:
            if not any(o.results for o in observed):
                return ""
            self._nudges, note = NUDGES, UNREAD
        elif self._nudges == 0:
            note = NUDGE.format(call=CALL)
        else:
            made_up = _CITATION in reply.text
            gave_up = not reply.text or reply.broken or made_up or gives_up(reply.text)
            if not gave_up or not start_guided_mode(self.model):
                return ""
            note = SEARCHES
        self._nudges += 1
        self.record("guard.noticed", f"{self.place}/{self.budget.steps}", circle=NUDGED)
        return note

    def _circle_note(self, circle: Circle | None) -> str:
        if circle is None:
            return ""
        self.record("guard.noticed", f"{self.place}/{self.budget.steps}", circle=circle)
        return circle.note

    def _echoes_instructions(self, text: str) -> bool:
        lines = (line.strip("-*> ") for line in text.splitlines())
        return any(len(line) >= ECHO and line in self.system for line in lines)

    def _final_text(self, reply: Reply) -> str:
        """Give the text of an answer: nothing raw, and nothing behind the word of giving up."""
        if self.guides is None:
            return reply.text
        # Citations of passages where none was ever shown are made up.
        if _CITATION in reply.text and not any(_CITATION in m.content for m in self.messages):
            return NOT_FOUND
        if reply.broken:
            return ""
        gave_up = gives_up(reply.text) and takes(self.model, Task.FOLLOW_NOTES)
        return NOT_FOUND if gave_up else reply.text

    async def _condense(self, place: str) -> None:
        """Have the model sum up, once, the steps that no longer fit whole; else they are cut."""
        steps = self.window.steps_to_cut(self.messages, self._question)
        if not steps or not takes(self.model, Task.CONDENSE):
            return
        said = "\n\n".join(
            inert(message.content) for n in steps for message in self.messages[n - 1 : n + 1]
        )
        said = said[: int(len(said) * min(1, self.window.high / tokens(said)))]
        question = self.messages[self._question].content
        request = f"The question:\n{question}\n\n<steps>\n{said}\n</steps>"
        client = ModelClient(self.model, prompt("steps"), self.budget, self.record)
        try:
            reply = await client.ask(place, [Message("user", request)])
        except ReplayDiverged:
            raise
        except ResearchError as error:
            self.record("note", place, text=f"old steps were cut, not summed up: {error}")
            return
        if notes := inert(reply.text).strip():
            self.window.put_notes(notes, steps, self.messages)

    async def _ask(self, place: str, *, final: bool = False) -> ModelReply:
        fitted = self.window.fit(self.messages, self._question)
        return await self._client.ask(place, fitted, self.messages, final=final)

    async def _wrap_up(self, limit: str) -> str:
        """Ask for an answer from what is known; "" where even for that nothing is left."""
        self.messages.append(Message("user", WRAP_UP.format(limit=limit)))
        try:
            async with asyncio.timeout(self.budget.seconds_left(reserve=False)):
                last = await self._ask(f"{self.place}/wrap-up", final=True)
        except (TimeoutError, LimitReached):
            return ""
        return without_calls(last.text)


def asks_for_notes(system: str) -> bool:
    """Tell whether a request with this system prompt is for notes on old steps."""
    return system == prompt("steps")


def without_calls(text: str) -> str:
    """Take thoughts and tool tags out of a reply that should have had none."""
    reply = parse(text)
    return reply.text if not reply.calls else reply.text.split("<<TOOL:")[0].strip()
