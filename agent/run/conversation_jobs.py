"""The jobs, one after the other; each is on record, so that another process can go on with them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from agent import jsvalues as js
from agent.errors import ResearchError
from agent.memory.layers import transcript
from agent.prompts import prompt
from agent.protocol.replies import inert, loose_object
from agent.protocol.results import failed
from agent.run import skill_scores as scores
from agent.tools.skill_tools import learn
from agent.types import Message

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence

    from agent.journal.events import Event
    from agent.memory.memory_api import Memory
    from agent.memory.memory_types import Turn
    from agent.memory.storage import Upkeep
    from agent.models.base import Model
    from agent.run.skill_scores import Ask, Skill

    InThread = Callable[..., Awaitable[Any]]

    Job = Callable[[Ask, "FinishedTurn"], Awaitable[None]]


PLACE: Final = "after"
BEGUN: Final = "job.begun"
"""What a job whose effect adds up says first: begun again, it looks how far it came."""
DONE: Final = "job.done"
SETTLED: Final = "run.settled"
"""The event behind which nothing is left to do."""
COUNT, SIGNAL = "count", "weigh"
"""What is done without a model, by its name on record."""

# The reference engine's bounds, in turns and UTF-16 units; those that can be set: `agent.limits`.
SUMMARY_MESSAGES, EVALUATE_MESSAGES = 3, 4
SUMMARY_TURNS, SUMMARY_UNITS = 10, 2_000
PROFILE_TURNS, PROFILE_UNITS = 6, 300
CONDENSE_UNITS, FALLBACK_UNITS = 300, 200
INSIGHTS = 8  # that a model words in one go; the next consolidation goes on
_STEP_FIELDS = {
    "WEB_SEARCH": "query",
    "READ": "url",
    "FETCH_URL": "url",
    "OPEN": "url",
    "FIND": "text",
}
"""Tools whose calls mean something later, with the field that says what was asked for. Refs of a
live page do not, and what is typed into one may be a secret."""
STEPS = 12  # of a run; a longer one is no method to follow
STEP_LENGTH = 200  # characters of what was asked for


def steps_of(events: Sequence[Event]) -> tuple[str, ...]:
    """Give the searches made and pages read that worked, one line each; twice the same is one."""
    steps: dict[str, None] = {}
    for event in events:
        name = event.data.get("name") if event.type == "tool.result" else None
        if name in _STEP_FIELDS and not failed(event.data["data"]):
            asked = _asked(event.data["param"], _STEP_FIELDS[name])
            if asked:
                steps[f"{name} {asked[:STEP_LENGTH]}"] = None
    return tuple(steps)[:STEPS]


def _asked(param: str, name: str) -> str:
    if not param.startswith("{"):
        return " ".join(param.split())
    try:
        fields = json.loads(param, strict=False)
    except ValueError:
        return ""  # the tool forgave what was wrong with it; the playbook can do without
    return " ".join(str(fields.get(name, "")).split())


@dataclass(frozen=True, slots=True)
class FinishedTurn:
    """The conversation with the new question and answer at its end.

    `messages` counts what the model had before it in the end, without the answer; `shown` are
    the skills that it was given; `tainted` says that the web was read, so that the answer may
    hold the web's words. `tools` names the tools that worked, in order; `learns` says that skills
    may be mended, and `verified` that every sentence was supported, so that they may be proposed.
    """

    history: tuple[Turn, ...]
    messages: int
    shown: tuple[str, ...] = ()
    tainted: bool = False
    tools: tuple[str, ...] = ()
    verified: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """The jobs that were begun, with what they noted then, and those that are done."""

    begun: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    done: frozenset[str] = frozenset()

    @classmethod
    def of(cls, events: Iterable[Event]) -> Progress:
        """Read it from the events behind the end of a run."""
        known = [(e.type, e.place.partition("/")[2], e.data) for e in events]
        begun = {name: data for type_, name, data in known if type_ == BEGUN}
        return cls(begun, frozenset(name for type_, name, _ in known if type_ == DONE))


def place(name: str) -> str:
    """Name the place of a job in the record."""
    return f"{PLACE}/{name}"


@dataclass(frozen=True, slots=True)
class ConversationJobs:
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

    async def run(self, turn: FinishedTurn) -> None:
        """Do all that is due and not done yet. A model that fails costs its own job only."""
        weight = scores.signal(turn.history)
        if turn.shown and weight:
            skills = await self._begun(SIGNAL, "lastSignalAt")
            changed = scores.signalled(skills, turn.shown, weight, self.now_ms())
            await self.in_thread(self.upkeep.put_skills, changed)
        count = await self._counted()
        if self.ask is None:
            if self._long(turn):
                await self._condense(None, turn)
            return
        for name, job in self._due(turn, count):
            if name not in self.progress.done:
                try:
                    await job(self.ask, turn)
                except ResearchError as error:
                    self.record("note", place(name), text=f"{name} was not made: {error}")
                self.record(DONE, place(name))

    def _due(self, turn: FinishedTurn, count: int) -> Iterator[tuple[str, Job]]:
        """Name the jobs that are due when so many questions were answered."""
        limits = self.upkeep.limits
        if count % limits.summary_every == 0 and turn.messages >= SUMMARY_MESSAGES:
            yield "summary", self._summarise
        if count % limits.profile_every == 0 and turn.messages >= SUMMARY_MESSAGES:
            yield "profile", self._extend_profile
        if self._long(turn):
            yield "condense", self._condense
        if count % limits.evaluate_every == 0 and turn.messages >= EVALUATE_MESSAGES and turn.shown:
            yield scores.EVALUATE, self._evaluate
        if turn.verified and count % limits.propose_every == 0:
            yield scores.PROPOSE, self._propose

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

    async def _begun(self, name: str, time: str) -> list[Skill]:
        """Say that a job begins whose effect adds up; gives the skills that it has not changed yet.

        What it changed has this run's time in the field `time`.
        """
        skills: list[Skill] = await self.in_thread(self.upkeep.skills)
        if name in self.progress.begun:
            return [skill for skill in skills if skill.get(time) != self.now_ms()]
        self.record(BEGUN, place(name))
        return skills

    async def _summarise(self, ask: Ask, turn: FinishedTurn) -> None:
        said = transcript(turn.history[-SUMMARY_TURNS:], SUMMARY_UNITS)
        summary = inert(await ask("summary", prompt("summary"), f"Conversation:\n{said}"))
        add, trusted = self.upkeep.add_summary, not turn.tainted
        await self.in_thread(lambda: add(self.now_ms(), summary, trusted=trusted))

    async def _extend_profile(self, ask: Ask, turn: FinishedTurn) -> None:
        known = await self.in_thread(self.upkeep.profile)
        listed = "\n".join(f"{key}: {js.to_string(value)}" for key, value in known.items())
        # Only the person's own words: an answer may hold what a page says.
        own = [t for t in turn.history if t.role == "user"][-PROFILE_TURNS:]
        request = f"Known:\n{listed or '(nothing)'}\n\nThe person wrote:\n"
        request += transcript(own, PROFILE_UNITS)
        facts = loose_object(await ask("profile", prompt("profile"), request))
        await self.in_thread(self.upkeep.extend_profile, facts)

    def _long(self, turn: FinishedTurn) -> bool:
        return len(turn.history) > self.upkeep.limits.condense_past

    async def _condense(self, ask: Ask | None, turn: FinishedTurn) -> None:
        """Condense the turns past the watermark that are no longer shown themselves.

        Where no model does it, they are cut, and of all that is condensed the newest is kept.
        """
        condensed, watermark = await self.in_thread(self.upkeep.condensed)
        end = len(turn.history) - self.upkeep.limits.recent_turns
        old = turn.history[watermark:end]
        if not old:
            return
        said = transcript(old, CONDENSE_UNITS)
        request = f"Condensed so far:\n{condensed or '(nothing)'}\n\nTo be added:\n{said}"
        text = ""
        if ask is not None:
            try:
                text = inert(await ask("condense", prompt("condense"), request))
            except ResearchError as error:
                self.record("note", place("condense"), text=f"condensed by cutting: {error}")
        if not text:
            kept = [condensed] if condensed else []
            whole = "\n---\n".join([*kept, inert(transcript(old, FALLBACK_UNITS))])
            text = js.well_formed(js.cut_start(whole, self.upkeep.limits.condensed_units))
        await self.in_thread(self.upkeep.condense, text, end)

    async def _evaluate(self, ask: Ask, turn: FinishedTurn) -> None:
        skills = await self.in_thread(self.upkeep.skills)
        new = await scores.evaluated(ask, skills, turn.shown, turn.history)
        if new is None:
            return
        skills = await self._begun(scores.EVALUATE, "lastEvalAt")
        changed = scores.rescored(skills, new, self.now_ms())
        await self.in_thread(self.upkeep.put_skills, changed)
        for skill in await self.in_thread(self.upkeep.skills):
            if scores.useless(skill, self.now_ms()):
                await self.in_thread(self.upkeep.drop_skill, str(skill.get("name")))

    async def _propose(self, ask: Ask, turn: FinishedTurn) -> None:
        known = await self.in_thread(self.upkeep.skills)
        new = await scores.proposed(ask, known, turn.tools, turn.history)
        if scores.PROPOSE in self.progress.begun:
            return
        self.record(BEGUN, place(scores.PROPOSE))
        for name, said in new:
            await self.in_thread(
                lambda n, s: learn(self.upkeep, n, s, self.now_ms(), source="auto"), name, said
            )


async def word_insights(memory: Memory, model: Model) -> int:
    """Have a model word the newest insights; returns how many it did. Raises `ModelError`."""
    done = 0
    for insight in memory.unworded()[:INSIGHTS]:
        lines = "\n".join(f"- {inert(text)}" for text in insight.evidence)
        asked = f"<memories>\n{lines}\n</memories>\n\nThe rule: {inert(insight.text)}"
        reply = await model.reply(prompt("insight"), [Message("user", asked)])
        said = inert(reply.text).strip()
        if said and said.rstrip(".").upper() != "NONE":
            memory.reword(insight.key, said)
            done += 1
    return done
