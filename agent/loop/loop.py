"""The agent loop: query the model, run the tools that it calls, show the results, repeat.

`Loop.run` takes steps until the model answers or a limit is reached. If a reply neither calls a
tool nor is acceptable as an answer, the model gets a note about the problem.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from agent.errors import ModelContext, ModelTruncated
from agent.guard.budget import Budget, LimitReached
from agent.guard.model_client import ModelClient
from agent.guard.window import Window, tokens
from agent.journal.events import CONDENSE, MAIN
from agent.loop.repetition import NOTES, RepetitionGuard
from agent.loop.unseen import remove_unseen_addresses
from agent.models.base import Task, start_guided_mode, takes
from agent.prompts import (
    CUT,
    EXAMPLE_CALL,
    GO_ON,
    NESTED,
    NUDGE,
    PLAN_STEPS_USED_UP,
    SEARCHES,
    UNREAD_RESULTS_NOTE,
    UNREADABLE_CALL_NOTE,
    WRAP_UP,
    prompt,
)
from agent.protocol.call_results import format_results
from agent.protocol.replies import NOT_FOUND, gives_up, inert, parse
from agent.types import PASSAGE_ID, PASSAGE_MARK, Message, ToolTrait

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.guard.model_client import Record
    from agent.loop.repetition import Repetition
    from agent.models.base import Model, ModelReply
    from agent.prompts import Guides
    from agent.protocol.call_results import Caller
    from agent.types import Reply, ToolCall


MAX_FORMS_SHOWN: Final = 2
"""Maximum number of times the expected format of a call is shown; after that, the model is unlikely
to learn it.
"""
MAX_NUDGES: Final = 2
"""Number of times that an answer without evidence is rejected: first with a note, then by starting
guided mode.
"""
NUDGED: Final = "nudged"
"""The value of `circle` in the journal event for a nudge."""
MAX_CUTS: Final = 3
"""Maximum number of times that a conversation is cut for one request: after three cuts, it fits
even a small model's window.
"""
MAX_STEPS_BEYOND_PLAN: Final = 2
"""Number of steps beyond a plan's budget before a note is added, as in the reference engine."""
MAX_REPLY_CHARS: Final = 60_000
"""Maximum number of characters parsed from a reply; a long report has 20,000."""
MAX_REJECTED_CHARS: Final = 2_000
"""Maximum number of characters kept from a rejected reply."""
MIN_ECHO_CHARS: Final = 40
"""Minimum length of a line to count as copied from the system prompt, in characters."""
_PASSAGE_IDS: Final = re.compile(PASSAGE_ID)
_SOURCE_LABELS: Final = re.compile(r"\bS\d+\b")


@dataclass(frozen=True, slots=True)
class LoopResult:
    """The final text, and the limit that ended the loop (None if the model answered).

    `by_model` is False if code wrote the text.
    """

    text: str
    limit: str | None = None
    by_model: bool = True


@dataclass(slots=True)
class Loop:
    """One conversation with a model, from the question to the final text.

    `place` identifies the loop in the run's events. `guard` detects repeated calls; None disables
    this. `guides` are help texts that are added when a tool is first used; without them, any reply
    is accepted as is. `planned_steps` is the number of steps in the plan, or 0 if there is no plan.
    `messages` is the conversation so far.
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
    planned_steps: int = 0
    messages: list[Message] = field(default_factory=list)
    _client: ModelClient = field(init=False)
    _question: int = field(default=0, init=False)  # index of the question in the messages
    _nudge_count: int = field(default=0, init=False)
    _forms_shown: int = field(default=0, init=False)
    _was_cut: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._client = ModelClient(self.model, self.system, self.budget, self.record)
        # in guided mode, the model ignores notes
        if not takes(self.model, Task.FOLLOW_NOTES):
            self.guard = None

    async def run(self, messages: list[Message]) -> LoopResult:
        """Take steps until the model answers; at a limit, it must answer from what it has read.

        `messages` ends with the question; the conversation is appended to it. Raises `ModelError`.
        """
        self.messages = messages
        self._question = len(messages) - 1
        return await self._until_answered()

    async def follow_up(self, note: str, answer: str | None = None) -> LoopResult:
        """Append an answer and a note about it, and take steps until the next answer."""
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
        """Query the model once and process its reply; returns the final text, or None to continue.

        Raises `LimitReached` if there are no steps left.
        """
        reply = await self.query()
        if reply.calls:
            # Appended before the calls are made, so that the wrap-up still shows the calls if one
            # of them ends the loop.
            self.messages.append(Message("assistant", reply.text))
            observed = await self.execute(reply.calls)
            if reply.nested:
                observed = replace(observed, content=f"{observed.content}\n\n{NESTED}")
            self.messages.append(observed)
        elif note := self._rejection_note(reply):
            self.messages.append(Message("assistant", reply.text[:MAX_REJECTED_CHARS] or "…"))
            self.messages.append(Message("user", note))
        else:
            return self._final_text(reply)
        return None

    async def query(self) -> Reply:
        """Ask the model for its next reply within the remaining time, and parse it."""
        try:
            async with asyncio.timeout(self.budget.seconds_left()):
                place = f"{self.place}/{self.budget.begin_step()}"
                # This must happen before the request is fitted to the window, which cuts old steps.
                await self._condense(f"{CONDENSE}/{place}")
                model_reply = await self._ask(place)
        except TimeoutError as error:
            raise LimitReached("timeout") from error
        reply = parse(model_reply.text[:MAX_REPLY_CHARS], self.guides.tools if self.guides else ())
        reply = replace(reply, is_truncated=model_reply.is_truncated)
        if self.guides and self._echoes_instructions(reply.text):
            reply = replace(reply, broken=not reply.calls)
        for thought in reply.thoughts:
            self.record("thought", place, text=thought)
        return reply

    async def execute(self, calls: Sequence[ToolCall]) -> Message:
        """Make the calls concurrently; returns the message with their results, in tag order."""
        step = f"{self.place}/{self.budget.steps}"
        places = [f"{step}/{n}" for n in range(1, len(calls) + 1)]
        for call, place in zip(calls, places, strict=True):
            self.record("tool.call", place, name=call.name, param=call.param)
        # Calls run concurrently, but their results are processed in tag order, so that source
        # numbers and the record do not depend on which call was faster.
        finishes = await asyncio.gather(*map(self.tools.run, calls, places))
        results = [finish() for finish in finishes]
        parts = [format_results(results)]
        if self.guides:
            parts.append(self.guides.after(results))
        if self.guard:
            parts.append(self._repetition_note(self.guard.check_calls(results)))
        if self.planned_steps and self.budget.steps == self.planned_steps + MAX_STEPS_BEYOND_PLAN:
            self.record("note", step, text="all planned steps are used up")
            parts.append(PLAN_STEPS_USED_UP.format(steps=self.planned_steps))
        text = "\n\n".join(part for part in parts if part)
        # Only the latest images are kept, since they show the current page.
        with_images = [result.images for result in results if result.images]
        images = with_images[-1] if with_images else ()
        return Message("user", text, images, tuple(results))

    def _rejection_note(self, reply: Reply) -> str:
        """Return a note on why a reply is rejected; "" if the reply is acceptable as an answer."""
        # If the model did not finish its thought, it is unclear what it wanted to do.
        if not reply.text and (reply.unclosed or (self.guard and reply.thoughts)):
            note = self._repetition_note(self.guard.check_thought()) if self.guard else ""
            return note or GO_ON
        if self.guides is None:
            return ""
        if reply.is_truncated and not self._was_cut:
            self._was_cut = True
            return CUT
        if reply.is_truncated and PASSAGE_MARK not in reply.text:
            raise ModelTruncated(
                f"the reply of {self.model.name} was cut off at its length limit twice"
            )
        if reply.broken and self._forms_shown < MAX_FORMS_SHOWN:
            self._forms_shown += 1
            return UNREADABLE_CALL_NOTE.format(call=EXAMPLE_CALL)
        return self._nudge(reply)

    def _nudge(self, reply: Reply) -> str:
        """Return a note for a model that answers before reading anything; "" if none is needed.

        A model that searched and then gave up is asked to read. A model that did not call a tool is
        asked to do so; if it stops again, guided mode starts.
        """
        observed = [o for message in self.messages for o in message.observations]
        only_searched = bool(observed) and all(ToolTrait.SEARCHES in o.traits for o in observed)
        if (
            self.place != MAIN  # a subtask may use earlier subtasks' results
            or self._nudge_count >= MAX_NUDGES
            or (observed and not (only_searched and gives_up(reply.text)))
            or not takes(self.model, Task.NUDGE)
        ):
            return ""
        if only_searched:
            if not any(o.results for o in observed):
                return ""
            self._nudge_count, note = MAX_NUDGES, UNREAD_RESULTS_NOTE
        elif self._nudge_count == 0:
            note = NUDGE.format(call=EXAMPLE_CALL)
        else:
            # The question's context (files, memory, earlier turns) may contain the answer.
            if self._has_context(reply) or not start_guided_mode(self.model):
                return ""
            note = SEARCHES
        self._nudge_count += 1
        guided = {"guided": True} if note == SEARCHES else {}
        self.record("guard.noticed", f"{self.place}/{self.budget.steps}", circle=NUDGED, **guided)
        return note

    def _has_context(self, reply: Reply) -> bool:
        """Return whether the question's context may suffice for a reply without a tool call."""
        handed = self.messages[: self._question + 1]
        if any(PASSAGE_MARK in message.content for message in handed):
            return bool(reply.text) and not reply.broken and not gives_up(reply.text)
        useless = (
            not reply.text or reply.broken or PASSAGE_MARK in reply.text or gives_up(reply.text)
        )
        return not useless and self._question > 0

    def _repetition_note(self, repetition: Repetition | None) -> str:
        if repetition is None:
            return ""
        self.record("guard.noticed", f"{self.place}/{self.budget.steps}", circle=repetition)
        return f"[Note: {NOTES[repetition]}]"

    def _echoes_instructions(self, text: str) -> bool:
        lines = (line.strip("-*> ") for line in text.splitlines())
        return any(len(line) >= MIN_ECHO_CHARS and line in self.system for line in lines)

    def _final_text(self, reply: Reply) -> str:
        """Return an answer's text, or `NOT_FOUND` if its citations are invented."""
        if self.guides is None:
            return reply.text
        seen = "\n".join(message.content for message in self.messages)
        cited = {passage.partition(PASSAGE_MARK)[0] for passage in _PASSAGE_IDS.findall(reply.text)}
        # A cited passage of a source that was never shown is invented. If the source was shown but
        # not the passage, as with a tool's result, the checks decide about the sentence.
        shown = PASSAGE_MARK in seen or cited & set(_SOURCE_LABELS.findall(seen))
        if PASSAGE_MARK in reply.text and not shown:
            return NOT_FOUND
        if reply.broken:
            return ""
        text, unseen = remove_unseen_addresses(reply.text, seen)
        if unseen:
            dropped = f"left out of the answer because no source mentions it: {', '.join(unseen)}"
            self.record("note", f"{self.place}/{self.budget.steps}", text=dropped)
        return text

    async def _condense(self, place: str) -> None:
        """Have the model summarise steps that no longer fit; if that fails, just cut them."""
        steps = self.window.steps_to_cut(self.messages, self._question)
        if not steps or not takes(self.model, Task.CONDENSE):
            return
        # Each observation, together with the reply that requested it.
        text = "\n\n".join(
            inert(message.content) for n in steps for message in self.messages[n - 1 : n + 1]
        )
        text = text[: int(len(text) * min(1, self.window.high / tokens(text)))]
        question = self.messages[self._question].content
        request = f"The question:\n{question}\n\n<steps>\n{text}\n</steps>"
        client = ModelClient(self.model, prompt("steps"), self.budget, self.record)
        failure = "old steps were removed without a summary"
        messages = [Message("user", request)]
        # The step's timeout applies to this request as well.
        reply = await client.try_ask(place, messages, failure, seconds=None)
        if reply and (notes := inert(reply.text).strip()):
            self.window.put_notes(notes, steps, self.messages)

    async def _ask(self, place: str, *, final: bool = False) -> ModelReply:
        fitted = self.window.fit(self.messages, self._question)
        try:
            return await self._client.ask(place, fitted, self.messages, final=final)
        except ModelContext as error:
            limit, failure = error.tokens, error
        # Cut to the window that the endpoint reports, then by half, since it counts tokens
        # differently.
        for number in range(1, MAX_CUTS + 1):
            before = sum(len(message.content) for message in fitted)
            fitted = self.window.shrink_after_rejection(
                fitted, self._question, tokens(self.system), limit
            )
            if sum(len(message.content) for message in fitted) >= before:
                raise failure
            self.record("note", place, text=f"the conversation was shortened: {failure}")
            try:
                cut = f"{place}/cut{number}"
                return await self._client.ask(cut, fitted, self.messages, final=final)
            except ModelContext as error:
                limit, failure = None, error
        raise failure

    async def _wrap_up(self, limit: str) -> str:
        """Ask for an answer from the pages read so far; "" if the budget does not allow it."""
        self.messages.append(Message("user", WRAP_UP.format(limit=limit)))
        try:
            async with asyncio.timeout(self.budget.seconds_left(reserve=False)):
                last = await self._ask(f"{self.place}/wrap-up", final=True)
        except (TimeoutError, LimitReached):
            return ""
        return strip_tool_calls(last.text)


def asks_for_notes(system: str) -> bool:
    """Return whether a request with this system prompt asks for a summary of old steps."""
    return system == prompt("steps")


def strip_tool_calls(text: str) -> str:
    """Remove thoughts and tool tags from a reply that should not contain any."""
    reply = parse(text)
    return reply.text if not reply.calls else reply.text.split("<<TOOL:")[0].strip()
