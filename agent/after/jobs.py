"""The jobs, one after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agent import jsvalues as js
from agent.after.learning import (
    BETTER_SKILL,
    PROPOSE,
    PROPOSE_EVERY,
    failing,
    keep,
    mended,
    proposals,
)
from agent.after.progress import BEGUN, DONE, Progress, place
from agent.after.signals import signal, weighed
from agent.after.skills import EVALUATE, evaluated, rescored, useless
from agent.after.turn import TurnDone, transcript
from agent.errors import ResearchError
from agent.prompts import prompt
from agent.protocol import inert
from agent.protocol.replies import loose_object

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from agent.after.turn import Ask
    from agent.memory.storage import Upkeep

    InThread = Callable[..., Awaitable[Any]]
    Job = Callable[[Ask, TurnDone], Awaitable[None]]

COUNT, WEIGH = "count", "weigh"
"""What is done without a model, by its name on record."""

# The reference engine's rhythm, in answered questions, and its bounds, in turns and UTF-16 units.
SUMMARY_EVERY, PROFILE_EVERY, EVALUATE_EVERY = 3, 5, 10
SUMMARY_MESSAGES, EVALUATE_MESSAGES = 3, 4
SUMMARY_TURNS, SUMMARY_UNITS = 10, 2_000
PROFILE_TURNS, PROFILE_UNITS = 6, 300
CONDENSE_PAST, RECENT = 40, 30
CONDENSE_UNITS, FALLBACK_UNITS = 300, 200
CONDENSED_UNITS = 4_000

__all__ = ["Aftermath", "TurnDone"]


@dataclass(frozen=True, slots=True)
class Aftermath:
    """What the jobs need: memory, its thread, the clock (milliseconds), and a model or none.

    Without `ask` only what needs no language model is done. `progress` is what of them was done
    before they were cut off.
    """

    upkeep: Upkeep
    in_thread: InThread
    now_ms: Callable[[], int]
    record: Callable[..., object]
    ask: Ask | None = None
    progress: Progress = field(default_factory=Progress)

    async def run(self, turn: TurnDone) -> None:
        """Do all that is due and not done yet. A model that fails costs its own job only."""
        await self._weigh(turn)
        count = await self._counted()
        if self.ask is None:
            return
        for name, job in self._due(turn, count):
            if name not in self.progress.done:
                await self._try(name, job(self.ask, turn))

    def _due(self, turn: TurnDone, count: int) -> Iterator[tuple[str, Job]]:
        """Name the jobs that are due when so many questions were answered."""
        if count % SUMMARY_EVERY == 0 and turn.messages >= SUMMARY_MESSAGES:
            yield "summary", self._summarise
        if count % PROFILE_EVERY == 0 and turn.messages >= SUMMARY_MESSAGES:
            yield "profile", self._extend_profile
        if len(turn.history) > CONDENSE_PAST:
            yield "condense", self._condense
        if count % EVALUATE_EVERY == 0 and turn.messages >= EVALUATE_MESSAGES and turn.shown:
            yield EVALUATE, self._evaluate
        if turn.learns:
            yield BETTER_SKILL, self._mend
        if turn.verified and count % PROPOSE_EVERY == 0:
            yield PROPOSE, self._propose

    async def _weigh(self, turn: TurnDone) -> None:
        weight = signal(turn.history)
        if turn.shown and weight:
            skills = await self._begun(WEIGH, "lastSignalAt")
            changed = weighed(skills, turn.shown, weight, self.now_ms())
            await self.in_thread(self.upkeep.put_skills, changed)

    async def _counted(self) -> int:
        """Count the question, once; gives which one it is."""
        noted = self.progress.begun.get(COUNT)
        before = await self.in_thread(self.upkeep.conversations_counted)
        count = int(noted["count"]) if noted else before + 1
        if noted is None:
            self.record(BEGUN, place(COUNT), count=count)
        if before < count:
            await self.in_thread(self.upkeep.count_conversation)
        return count

    async def _begun(self, name: str, time: str) -> list[dict[str, Any]]:
        """Say that a job begins whose effect adds up; gives the skills that it has not changed yet.

        What it changed has this run's time in the field `time`.
        """
        skills: list[dict[str, Any]] = await self.in_thread(self.upkeep.skills)
        if name in self.progress.begun:
            return [skill for skill in skills if skill.get(time) != self.now_ms()]
        self.record(BEGUN, place(name))
        return skills

    async def _summarise(self, ask: Ask, turn: TurnDone) -> None:
        said = transcript(turn.history[-SUMMARY_TURNS:], SUMMARY_UNITS)
        summary = inert(await ask("summary", prompt("summary"), f"Conversation:\n{said}"))
        add, trusted = self.upkeep.add_summary, not turn.tainted
        await self.in_thread(lambda: add(self.now_ms(), summary, trusted=trusted))

    async def _extend_profile(self, ask: Ask, turn: TurnDone) -> None:
        known = await self.in_thread(self.upkeep.profile)
        listed = "\n".join(f"{key}: {js.to_string(value)}" for key, value in known.items())
        # Only the person's own words: an answer may hold what a page says.
        own = [t for t in turn.history if t.role == "user"][-PROFILE_TURNS:]
        request = f"Known:\n{listed or '(nothing)'}\n\nThe person wrote:\n"
        request += transcript(own, PROFILE_UNITS)
        facts = loose_object(await ask("profile", prompt("profile"), request))
        await self.in_thread(self.upkeep.extend_profile, facts)

    async def _condense(self, ask: Ask, turn: TurnDone) -> None:
        """Condense the turns past the watermark that are no longer shown themselves."""
        condensed, watermark = await self.in_thread(self.upkeep.condensed)
        end = len(turn.history) - RECENT
        old = turn.history[watermark:end]
        if not old:
            return
        said = transcript(old, CONDENSE_UNITS)
        request = f"Condensed so far:\n{condensed or '(nothing)'}\n\nTo be added:\n{said}"
        try:
            text = inert(await ask("condense", prompt("condense"), request))
        except ResearchError as error:
            self.record("note", place("condense"), text=f"condensed by cutting: {error}")
            kept = [condensed] if condensed else []
            whole = "\n---\n".join([*kept, inert(transcript(old, FALLBACK_UNITS))])
            text = js.well_formed(js.cut_start(whole, CONDENSED_UNITS))
        await self.in_thread(self.upkeep.condense, text, end)

    async def _evaluate(self, ask: Ask, turn: TurnDone) -> None:
        skills = await self.in_thread(self.upkeep.skills)
        scores = await evaluated(ask, skills, turn)
        if scores is None:
            return
        skills = await self._begun(EVALUATE, "lastEvalAt")
        await self.in_thread(self.upkeep.put_skills, rescored(skills, scores, self.now_ms()))
        for skill in await self.in_thread(self.upkeep.skills):
            if useless(skill, self.now_ms()):
                await self.in_thread(self.upkeep.drop_skill, str(skill.get("name")))

    async def _mend(self, ask: Ask, turn: TurnDone) -> None:
        """Rewrite each skill that fails, once; one that was rewritten and fails again goes."""
        for skill in failing(await self.in_thread(self.upkeep.skills), turn.shown):
            better = await mended(ask, skill, turn, self.now_ms())
            if better is not None:
                await self.in_thread(self.upkeep.put_skills, [better])
            else:
                await self.in_thread(self.upkeep.drop_skill, str(skill["name"]))

    async def _propose(self, ask: Ask, turn: TurnDone) -> None:
        new = await proposals(ask, await self.in_thread(self.upkeep.skills), turn)
        if PROPOSE not in self.progress.begun:
            self.record(BEGUN, place(PROPOSE))
            await self.in_thread(keep, self.upkeep, new, self.now_ms())

    async def _try(self, name: str, job: Awaitable[None]) -> None:
        try:
            await job
        except ResearchError as error:
            self.record("note", place(name), text=f"{name} was not made: {error}")
        self.record(DONE, place(name))
