"""The jobs, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.after.learning import BETTER_SKILL, PROPOSE_EVERY, failing, keep, mended, proposals
from agent.after.signals import signal, weighed
from agent.after.skills import evaluated, rescored, useless
from agent.after.turn import TurnDone, transcript
from agent.errors import ResearchError
from agent.memory import jsvalues as js
from agent.messages import prompt
from agent.protocol import inert
from agent.protocol.loose import loose_object

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agent.after.turn import Ask
    from agent.memory.upkeep import Upkeep

    InThread = Callable[..., Awaitable[Any]]

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

    Without `ask` only what needs no language model is done.
    """

    upkeep: Upkeep
    in_thread: InThread
    now_ms: Callable[[], int]
    record: Callable[..., object]
    ask: Ask | None = None

    async def run(self, turn: TurnDone) -> None:
        """Do all that is due. A model that fails costs its own job only."""
        await self._weigh(turn)
        count = await self.in_thread(self.upkeep.count_conversation)
        if self.ask is None:
            return
        if count % SUMMARY_EVERY == 0 and turn.messages >= SUMMARY_MESSAGES:
            await self._try("summary", self._summarise(self.ask, turn))
        if count % PROFILE_EVERY == 0 and turn.messages >= SUMMARY_MESSAGES:
            await self._try("profile", self._extend_profile(self.ask, turn))
        if len(turn.history) > CONDENSE_PAST:
            await self._condense(self.ask, turn)
        if count % EVALUATE_EVERY == 0 and turn.messages >= EVALUATE_MESSAGES and turn.shown:
            await self._try("evaluate", self._evaluate(self.ask, turn))
        if turn.learns:
            await self._try(BETTER_SKILL, self._mend(self.ask, turn))
        if turn.verified and count % PROPOSE_EVERY == 0:
            await self._try("propose", self._propose(self.ask, turn))

    async def _weigh(self, turn: TurnDone) -> None:
        weight = signal(turn.history)
        if turn.shown and weight:
            skills = await self.in_thread(self.upkeep.skills)
            changed = weighed(skills, turn.shown, weight, self.now_ms())
            await self.in_thread(self.upkeep.put_skills, changed)

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
            self.record("note", "after/condense", text=f"condensed by cutting: {error}")
            kept = [condensed] if condensed else []
            whole = "\n---\n".join([*kept, inert(transcript(old, FALLBACK_UNITS))])
            text = js.well_formed(js.cut_start(whole, CONDENSED_UNITS))
        await self.in_thread(self.upkeep.condense, text, end)

    async def _evaluate(self, ask: Ask, turn: TurnDone) -> None:
        skills = await self.in_thread(self.upkeep.skills)
        scores = await evaluated(ask, skills, turn)
        if scores is None:
            return
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
        await self.in_thread(keep, self.upkeep, new, self.now_ms())

    async def _try(self, name: str, job: Awaitable[None]) -> None:
        try:
            await job
        except ResearchError as error:
            self.record("note", f"after/{name}", text=f"{name} was not made: {error}")
