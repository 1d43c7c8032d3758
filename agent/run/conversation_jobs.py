"""The background jobs of a conversation: what an answered question leaves in memory.

They run behind the answer, one after the other: signals of satisfaction every turn, a summary every
third, profile every fifth, condensation past forty turns, scores of skills every tenth, and after
every seventh, if it was verified, new ones are proposed, as in the reference engine. Each sees what
the person wrote and what was answered, never a page or a tool result. A skill outlives its run: it
rests on what the person wrote and on which tools were used, never on an answer. Each job is on
record, so that another process can go on with them.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from agent import jsvalues as js
from agent.errors import ResearchError
from agent.journal.events import AFTER
from agent.memory.layers import SKILL_SCORE, transcript
from agent.prompts import prompt
from agent.protocol.replies import inert, loose_object
from agent.tools.skill_tools import LONGEST_NAME, LONGEST_SKILL, save_skill
from agent.types import Message

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence

    from agent.journal.events import Event
    from agent.memory.memory_api import Memory
    from agent.memory.memory_types import Turn
    from agent.memory.storage import Upkeep
    from agent.models.base import Model

    Ask = Callable[[str, str, str], Awaitable[str]]
    """Name of the job (of its prompt and place), system prompt, request: to the reply."""
    Job = Callable[[Ask, "FinishedTurn"], Awaitable[None]]

Skill = dict[str, Any]
Thumb = Literal["up", "down"]

BEGUN: Final = "job.begun"
"""What a job whose effect adds up says first: begun again, it looks how far it came."""
DONE: Final = "job.done"
COUNT, SIGNAL = "count", "weigh"
"""What is done without a model, by its name on record."""
SUMMARY, PROFILE, CONDENSED = "summary", "profile", "condense"
EVALUATE, PROPOSE = "evaluate", "propose"
"""Names of the jobs that ask a model, of their prompts and places."""

# The reference engine's bounds, in turns and UTF-16 units; those that can be set: `agent.limits`.
SUMMARY_MESSAGES, EVALUATE_MESSAGES = 3, 4
SUMMARY_TURNS, SUMMARY_UNITS = 10, 2_000
PROFILE_TURNS, PROFILE_UNITS = 6, 300
CONDENSE_UNITS, FALLBACK_UNITS = 300, 200
EVALUATED_TURNS, OWN_TURNS, TURN_UNITS = 10, 8, 400
# Its weights of what the person writes next, and how far they move a score at once.
COMPLAINT, PRAISE = -15, 10
FIRST_WITHOUT_PRAISE, LONG_CONVERSATION = -3, 5
FIRST_TURNS, LONG_TURNS = 2, 8
LEAST, MOST = -20, 15
OLD_WEIGHT, NEW_WEIGHT = 0.6, 0.4
THUMBS: Final[dict[Thumb, int]] = {"up": 12, "down": -18}
"""Blame weighs more than praise."""
# A skill is dropped: judged bad twice; used often and still bad; a month old and never used.
BAD_SCORE, BAD_TIMES = 10, 2
POOR_SCORE, POOR_USES = 20, 30
MONTH_MS = 30 * 24 * 60 * 60 * 1000

PROPOSED: Final = 2
"""Skills from one run; more would be what it did, not what it learned."""
INSIGHTS: Final = 8
"""Insights that a model words in one go; the next consolidation goes on."""
_COMPLAINTS = re.compile(
    r"\bno\b.*\bwrong\b|\bstop\b.*\bdoing\b|\bdon'?t\b.*\bdo that\b|\bnot what i\b"
    r"|\bi didn'?t ask\b|\btry again\b|\bincorrect\b|\bwrong\b|\bnot helpful\b|\buseless\b"
    r"|\bno[,.]?\s*(?:that|this) is|\bactually[,.]?\s*(?:i|it|the)\b",
    re.ASCII,
)
_PRAISE = re.compile(
    r"\b(?:thanks?|perfect|great|exactly|nice|awesome|good job|love it|nailed it)\b", re.ASCII
)
_ABOUT_SOMETHING = re.compile(r"\bwhat(?:'s| is| went| goes)\s+(?:\w+\s+)?wrong\b", re.ASCII)
"""Asking what is wrong with something is no complaint."""


@dataclass(frozen=True, slots=True)
class FinishedTurn:
    """The conversation with the new question and answer at its end.

    `messages` counts what the model had before it in the end, without the answer; `shown` are
    the skills that it was given; `tainted` says that the web was read, so that the answer may
    hold the web's words. `tools` names the tools that worked, in order; `verified` says that every
    sentence was supported, so that skills may be proposed.
    """

    history: tuple[Turn, ...]
    messages: int
    shown: tuple[str, ...] = ()
    tainted: bool = False
    tools: tuple[str, ...] = ()
    verified: bool = False


@dataclass(frozen=True, slots=True)
class JobProgress:
    """The jobs that were begun, with what they noted then, and those that are done."""

    begun: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    done: frozenset[str] = frozenset()

    @classmethod
    def from_events(cls, events: Iterable[Event]) -> JobProgress:
        """Read it from the events behind the end of a run."""
        jobs = [(e.type, e.place.partition("/")[2], e.data) for e in events]
        begun = {name: data for kind, name, data in jobs if kind == BEGUN}
        return cls(begun, frozenset(name for kind, name, _ in jobs if kind == DONE))


def job_place(name: str) -> str:
    """Give the place of a job in the record."""
    return f"{AFTER}/{name}"


@dataclass(frozen=True, slots=True)
class ConversationJobs:
    """What the jobs need: memory, its thread, the clock (milliseconds), and a model or none.

    Without `ask` only what needs no language model is done. `progress` is what of them was done
    before they were cut off.
    """

    upkeep: Upkeep
    in_thread: Callable[..., Awaitable[Any]]
    now_ms: Callable[[], int]
    record: Callable[..., object]
    ask: Ask | None = None
    progress: JobProgress = field(default_factory=JobProgress)

    async def run(self, turn: FinishedTurn) -> None:
        """Do all that is due and not done yet. A model that fails costs its own job only."""
        weight = signal(turn.history)
        if turn.shown and weight:
            skills = await self._begin(SIGNAL, "lastSignalAt")
            moved = [
                {**_move(skill, weight, "signalCount"), "lastSignalAt": self.now_ms()}
                for skill in skills
                if skill.get("name") in turn.shown
            ]
            await self.in_thread(self.upkeep.put_skills, moved)
        # By the count as it stood then: another run may have ended meanwhile.
        count = await self._count()
        long = len(turn.history) > self.upkeep.limits.condense_past
        if self.ask is None:
            if long:
                await self._condense(None, turn)
            return
        for name, job in self._due(turn, count, long=long):
            if name in self.progress.done:
                continue
            try:
                await job(self.ask, turn)
            except ResearchError as error:
                self.record("note", job_place(name), text=f"{name} was not made: {error}")
            self.record(DONE, job_place(name))

    def _due(self, turn: FinishedTurn, count: int, *, long: bool) -> Iterator[tuple[str, Job]]:
        """Name the jobs that are due when so many questions were answered."""
        limits, messages = self.upkeep.limits, turn.messages
        if messages >= SUMMARY_MESSAGES and count % limits.summary_every == 0:
            yield SUMMARY, self._summarise
        if messages >= SUMMARY_MESSAGES and count % limits.profile_every == 0:
            yield PROFILE, self._extend_profile
        if long:
            yield CONDENSED, self._condense
        if messages >= EVALUATE_MESSAGES and turn.shown and count % limits.evaluate_every == 0:
            yield EVALUATE, self._evaluate
        if turn.verified and count % limits.propose_every == 0:
            yield PROPOSE, self._propose

    async def _count(self) -> int:
        """Count the question, once; gives which one it is."""
        noted = self.progress.begun.get(COUNT)
        before = await self.in_thread(self.upkeep.conversations_counted)
        count = int(noted["count"]) if noted else before + 1
        if noted is None:
            self.record(BEGUN, job_place(COUNT), count=count)
        if before < count:
            await self.in_thread(self.upkeep.count_conversation)
        return count

    async def _begin(self, name: str, time: str) -> list[Skill]:
        """Say that a job begins whose effect adds up; gives the skills that it has not changed yet.

        What it changed has this run's time in the field `time`.
        """
        skills: list[Skill] = await self.in_thread(self.upkeep.skills)
        if name in self.progress.begun:
            return [skill for skill in skills if skill.get(time) != self.now_ms()]
        self.record(BEGUN, job_place(name))
        return skills

    async def _summarise(self, ask: Ask, turn: FinishedTurn) -> None:
        said = transcript(turn.history[-SUMMARY_TURNS:], SUMMARY_UNITS)
        summary = inert(await ask(SUMMARY, prompt(SUMMARY), f"Conversation:\n{said}"))
        add, trusted = self.upkeep.add_summary, not turn.tainted
        await self.in_thread(lambda: add(self.now_ms(), summary, trusted=trusted))

    async def _extend_profile(self, ask: Ask, turn: FinishedTurn) -> None:
        known = await self.in_thread(self.upkeep.profile)
        listed = "\n".join(f"{key}: {js.to_string(value)}" for key, value in known.items())
        request = f"Known:\n{listed or '(nothing)'}\n\nThe person wrote:\n"
        request += transcript(_own_turns(turn.history)[-PROFILE_TURNS:], PROFILE_UNITS)
        facts = loose_object(await ask(PROFILE, prompt(PROFILE), request))
        await self.in_thread(self.upkeep.extend_profile, facts)

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
                text = inert(await ask(CONDENSED, prompt(CONDENSED), request))
            except ResearchError as error:
                self.record("note", job_place(CONDENSED), text=f"condensed by cutting: {error}")
        if not text:
            kept = [condensed] if condensed else []
            whole = "\n---\n".join([*kept, inert(transcript(old, FALLBACK_UNITS))])
            text = js.well_formed(js.cut_start(whole, self.upkeep.limits.condensed_units))
        await self.in_thread(self.upkeep.condense, text, end)

    async def _evaluate(self, ask: Ask, turn: FinishedTurn) -> None:
        """Mix a model's scores of the skills that were given into theirs; drop the useless."""
        known = await self.in_thread(self.upkeep.skills)
        given = [skill for skill in known if skill.get("name") in turn.shown]
        if not given:
            return
        listed = "\n".join(
            f"- {skill['name']}: {js.to_string(skill.get('instruction', ''))} "
            f"(used {skill.get('usageCount') or 0} times, score {_rounded(score_of(skill))})"
            for skill in given
        )
        said = transcript(turn.history[-EVALUATED_TURNS:], TURN_UNITS)
        request = f"Instructions:\n{listed}\n\nConversation:\n{said}"
        scores = loose_object(await ask(EVALUATE, prompt(EVALUATE), request)).get("scores")
        if not isinstance(scores, dict):
            return
        changed = []
        for skill in await self._begin(EVALUATE, "lastEvalAt"):
            new = scores.get(str(skill.get("name")))
            if isinstance(new, int | float) and not isinstance(new, bool):
                new = max(0.0, min(100.0, float(new)))
                mixed = _rounded(score_of(skill) * OLD_WEIGHT + new * NEW_WEIGHT)
                count = (skill.get("evalCount") or 0) + 1
                fresh = {"score": mixed, "lastEvalAt": self.now_ms(), "evalCount": count}
                changed.append({**skill, **fresh})
        await self.in_thread(self.upkeep.put_skills, changed)
        for skill in await self.in_thread(self.upkeep.skills):
            if _is_useless(skill, self.now_ms()):
                await self.in_thread(self.upkeep.drop_skill, str(skill.get("name")))

    async def _propose(self, ask: Ask, turn: FinishedTurn) -> None:
        """Have a model propose skills that are new, from the person's own words."""
        known = [str(skill.get("name")) for skill in await self.in_thread(self.upkeep.skills)]
        listed = "\n".join(f"- {name}" for name in known) or "(none)"
        used = ", ".join(turn.tools) or "(none)"
        own = transcript(_own_turns(turn.history[-OWN_TURNS:]), TURN_UNITS)
        request = f"Known:\n{listed}\n\nTools used: {used}\n\nThe person wrote:\n{own}"
        rows = loose_object(await ask(PROPOSE, prompt(PROPOSE), request)).get("skills")
        found: dict[str, str] = {}
        for row in rows if isinstance(rows, list) else []:
            fields = row if isinstance(row, dict) else {}
            name = _line(fields.get("name"), LONGEST_NAME)
            said = _line(fields.get("instruction"), LONGEST_SKILL)
            if name and said and name not in known:
                found[name] = said
        if PROPOSE in self.progress.begun:
            return
        self.record(BEGUN, job_place(PROPOSE))
        for name, said in list(found.items())[:PROPOSED]:
            await self.in_thread(
                lambda n, s: save_skill(self.upkeep, n, s, self.now_ms(), source="auto"), name, said
            )


def signal(history: Sequence[Turn]) -> int:
    """Weigh the newest thing the person wrote, and how long the conversation has lasted.

    Each message is weighed in its own turn only: one complaint counts once.
    """
    said = next((turn.text.lower() for turn in reversed(history) if turn.role == "user"), "")
    complains = bool(_COMPLAINTS.search(_ABOUT_SOMETHING.sub("", said)))
    praises = bool(_PRAISE.search(said))
    total = COMPLAINT * complains + PRAISE * praises
    if len(history) <= FIRST_TURNS and not praises:
        total += FIRST_WITHOUT_PRAISE
    if len(history) >= LONG_TURNS:
        total += LONG_CONVERSATION
    return max(LEAST, min(MOST, total))


def feedback(upkeep: Upkeep, given: Iterable[str], thumb: Thumb) -> dict[str, int]:
    """Move the scores of the skills that a run was given by a thumb; gives the new ones by name."""
    names = set(given)
    known = [skill for skill in upkeep.skills() if skill.get("name") in names]
    changed = [_move(skill, THUMBS[thumb], "feedbackCount") for skill in known]
    upkeep.put_skills(changed)
    return {skill["name"]: skill["score"] for skill in changed}


def score_of(skill: Skill) -> float:
    """Give a skill's score; one that has none stands in the middle."""
    score = skill.get("score")
    return float(score) if isinstance(score, int | float) else float(SKILL_SCORE)


def _move(skill: Skill, delta: int, counter: str) -> Skill:
    score = max(0, min(100, _rounded(score_of(skill) + delta)))
    return {**skill, "score": score, counter: (skill.get(counter) or 0) + 1}


def _rounded(number: float) -> int:
    """Round half up, as the scores have always been rounded."""
    return math.floor(number + 0.5)


def _is_useless(skill: Skill, now_ms: int) -> bool:
    score, uses = score_of(skill), skill.get("usageCount") or 0
    if score <= BAD_SCORE and (skill.get("evalCount") or 0) >= BAD_TIMES:
        return True
    if uses > POOR_USES and score <= POOR_SCORE:
        return True
    return now_ms - (skill.get("learnedAt") or 0) > MONTH_MS and uses == 0


def _own_turns(history: Sequence[Turn]) -> list[Turn]:
    """Give what the person wrote: an answer may hold what a page says."""
    return [turn for turn in history if turn.role == "user"]


def _line(text: Any, most: int) -> str:
    return inert(" ".join(text.split()))[:most] if isinstance(text, str) else ""


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
