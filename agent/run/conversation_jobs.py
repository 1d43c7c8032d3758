"""The background jobs of a conversation, which update memory after a question is answered.

They run after the answer, one at a time, at the reference engine's intervals: satisfaction is
measured every turn, a summary is written every third turn, the profile is extended every fifth
turn, and turns past the fortieth are condensed. Skills are scored every tenth turn, and proposed
every seventh if the answer was verified.

A job sees the user's messages and the answers, but never pages or tool results. New skills are
proposed only from the user's messages and the names of the tools, never from answers, because
skills outlive the run, and an answer may contain text from the web. The start and end of each job
are recorded, so that another process can run the remaining jobs.
"""

from __future__ import annotations

import asyncio
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from agent import jsvalues as js
from agent.errors import ResearchError
from agent.journal.events import AFTER
from agent.memory import kinds
from agent.memory.layers import SKILL_SCORE, transcript
from agent.prompts import prompt
from agent.protocol.loose_json import loose_object
from agent.protocol.replies import inert
from agent.tools.skill_tools import MAX_NAME_CHARS, MAX_SKILL_CHARS, save_skill
from agent.types import Message

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence

    from agent.journal.events import Event
    from agent.memory.memory_api import Memory
    from agent.memory.memory_types import Turn
    from agent.models.base import Model

    Ask = Callable[[str, str, str], Awaitable[str]]
    """(name of the job, system prompt, request) -> reply."""
    Job = Callable[[Ask, "FinishedTurn"], Awaitable[None]]

Skill = dict[str, Any]
Thumb = Literal["up", "down"]

JOB_BEGUN_EVENT: Final = "job.begun"
"""Recorded first by jobs that are not idempotent, so that a job that is run again knows what it has
already done.
"""
JOB_DONE_EVENT: Final = "job.done"
COUNTER: Final = "_convCount"
"""Key of the counter of answered questions, as in the reference engine."""
COUNT, SIGNAL = "count", "weigh"
"""Names in the journal of the jobs that do not need a model."""
SUMMARY, PROFILE, CONDENSED = "summary", "profile", "condense"
EVALUATE, PROPOSE = "evaluate", "propose"
"""Jobs that ask a model; each is also the name of its prompt and of its place in the journal."""

# The reference engine's limits, in turns and UTF-16 units. The configurable limits are in
# `agent.limits`.
SUMMARY_MESSAGES, EVALUATE_MESSAGES = 3, 4
SUMMARY_TURNS, SUMMARY_UNITS = 10, 2_000
PROFILE_TURNS, PROFILE_UNITS = 6, 300
CONDENSE_UNITS, FALLBACK_UNITS = 300, 200
EVALUATED_TURNS, OWN_TURNS, TURN_UNITS = 10, 8, 400
# The reference engine's weights for satisfaction signals, and the limits on their sum for one turn.
COMPLAINT, PRAISE = -15, 10
FIRST_WITHOUT_PRAISE, LONG_CONVERSATION = -3, 5
FIRST_TURNS, LONG_TURNS = 2, 8
MIN_POINTS, MAX_POINTS = -20, 15
OLD_WEIGHT, NEW_WEIGHT = 0.6, 0.4
FEEDBACK_POINTS: Final[dict[Thumb, int]] = {"up": 12, "down": -18}
"""Points that feedback adds to a skill's score; negative feedback weighs more than positive."""
# A skill is dropped if it was scored badly twice, if it is used often and its score is still bad,
# or if it is a month old and was never used.
BAD_SCORE, BAD_TIMES = 10, 2
POOR_SCORE, POOR_USES = 20, 30
MONTH_MS = 30 * 24 * 60 * 60 * 1000

MAX_PROPOSED_SKILLS: Final = 2
"""Maximum number of skills from one run; more would only retell the run."""
MAX_REPHRASED_INSIGHTS: Final = 8
"""Maximum number of insights that a model rephrases at once; later runs rephrase the others."""
_COMPLAINT_RE = re.compile(
    r"\bno\b.*\bwrong\b|\bstop\b.*\bdoing\b|\bdon'?t\b.*\bdo that\b|\bnot what i\b"
    r"|\bi didn'?t ask\b|\btry again\b|\bincorrect\b|\bwrong\b|\bnot helpful\b|\buseless\b"
    r"|\bno[,.]?\s*(?:that|this) is|\bactually[,.]?\s*(?:i|it|the)\b",
    re.ASCII,
)
_PRAISE_RE = re.compile(
    r"\b(?:thanks?|perfect|great|exactly|nice|awesome|good job|love it|nailed it)\b", re.ASCII
)
_ASKS_WHAT_IS_WRONG_RE = re.compile(r"\bwhat(?:'s| is| went| goes)\s+(?:\w+\s+)?wrong\b", re.ASCII)
"""Removed before complaints are detected: questions about what is wrong are not complaints."""


@dataclass(frozen=True, slots=True)
class FinishedTurn:
    """A conversation that ends with the new question and its answer.

    `messages` is the length of the model's conversation without the answer. `given_skills` are the
    skills in its prompt. `tainted` means that the run read the web, so the answer may contain text
    from it. `tools` lists the successful tools in order. `verified` means that every sentence was
    supported, so skills may be proposed.
    """

    history: tuple[Turn, ...]
    messages: int
    given_skills: tuple[str, ...] = ()
    tainted: bool = False
    tools: tuple[str, ...] = ()
    verified: bool = False


@dataclass(frozen=True, slots=True)
class JobProgress:
    """The jobs that have started, with the data of their events, and the jobs that are done."""

    started: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    done: frozenset[str] = frozenset()

    @classmethod
    def from_events(cls, events: Iterable[Event]) -> JobProgress:
        """Read the progress from the events recorded after the end of a run."""
        jobs = [(e.type, e.place.partition("/")[2], e.data) for e in events]
        begun = {name: data for kind, name, data in jobs if kind == JOB_BEGUN_EVENT}
        return cls(begun, frozenset(name for kind, name, _ in jobs if kind == JOB_DONE_EVENT))


def job_place(name: str) -> str:
    """Return a job's place in the journal."""
    return f"{AFTER}/{name}"


@dataclass(frozen=True, slots=True)
class ConversationJobs:
    """Runs the jobs of one turn.

    `now_ms` is the clock, in milliseconds. Without `ask`, only the jobs that do not need a language
    model are run. `progress` lists the jobs that an earlier process started or completed.
    """

    memory: Memory
    session: str
    now_ms: Callable[[], int]
    record: Callable[..., object]
    ask: Ask | None = None
    progress: JobProgress = field(default_factory=JobProgress)

    async def run(self, turn: FinishedTurn) -> None:
        """Run all jobs that are due and not done. If a model fails, only that job is lost."""
        delta = satisfaction(turn.history)
        if turn.given_skills and delta:
            skills = await self._begin(SIGNAL, "lastSignalAt")
            rescored = [
                {**_rescored(skill, delta, "signalCount"), "lastSignalAt": self.now_ms()}
                for skill in skills
                if skill.get("name") in turn.given_skills
            ]
            await asyncio.to_thread(self.memory.save_skills, rescored)

        count = await self._count()
        long = len(turn.history) > self.memory.limits.condense_past
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
                self.record("note", job_place(name), text=f"{name} failed: {error}")
            self.record(JOB_DONE_EVENT, job_place(name))

    def _due(self, turn: FinishedTurn, count: int, *, long: bool) -> Iterator[tuple[str, Job]]:
        """Yield the jobs that are due after answer number `count`."""
        limits, messages = self.memory.limits, turn.messages
        if messages >= SUMMARY_MESSAGES and count % limits.summary_every == 0:
            yield SUMMARY, self._summarise
        if messages >= SUMMARY_MESSAGES and count % limits.profile_every == 0:
            yield PROFILE, self._extend_profile
        if long:
            yield CONDENSED, self._condense
        scored = messages >= EVALUATE_MESSAGES and turn.given_skills
        if scored and count % limits.evaluate_every == 0:
            yield EVALUATE, self._evaluate
        if turn.verified and count % limits.propose_every == 0:
            yield PROPOSE, self._propose

    async def _count(self) -> int:
        """Count the answer once, even if the job is repeated; returns its number."""
        begun = self.progress.started.get(COUNT)
        before = await asyncio.to_thread(answered_count, self.memory)
        # Use the recorded number if there is one: other runs may have counted their answers since.
        count = int(begun["count"]) if begun else before + 1
        if begun is None:
            self.record(JOB_BEGUN_EVENT, job_place(COUNT), count=count)
        if before < count:
            await asyncio.to_thread(self.memory.save, kinds.INTERNAL, {COUNTER: str(count)})
        return count

    async def _begin(self, name: str, time_field: str) -> list[Skill]:
        """Record that a job has started; returns the skills that the job has not changed yet.

        In a skill that the job has changed, `time_field` contains the time of the run.
        """
        skills: list[Skill] = await asyncio.to_thread(self.memory.skills)
        if name in self.progress.started:
            return [skill for skill in skills if skill.get(time_field) != self.now_ms()]
        self.record(JOB_BEGUN_EVENT, job_place(name))
        return skills

    async def _summarise(self, ask: Ask, turn: FinishedTurn) -> None:
        turns = transcript(turn.history[-SUMMARY_TURNS:], SUMMARY_UNITS)
        # The summary becomes part of later prompts, so tool tags in it must not be executed.
        summary = inert(await ask(SUMMARY, prompt(SUMMARY), f"Conversation:\n{turns}"))
        summary = js.cut(summary, self.memory.limits.summary_units)
        values = {f"session_{self.now_ms()}": summary}
        await asyncio.to_thread(self.memory.save, kinds.SUMMARY, values, trusted=not turn.tainted)

    async def _extend_profile(self, ask: Ask, turn: FinishedTurn) -> None:
        known = await asyncio.to_thread(self.memory.values, kinds.PROFILE)
        listed = "\n".join(f"{key}: {js.to_string(value)}" for key, value in known.items())
        request = f"Known:\n{listed or '(nothing)'}\n\nThe user wrote:\n"
        request += transcript(_user_turns(turn.history)[-PROFILE_TURNS:], PROFILE_UNITS)
        facts = loose_object(await ask(PROFILE, prompt(PROFILE), request))
        await asyncio.to_thread(self.memory.save, kinds.PROFILE, facts)

    async def _condense(self, ask: Ask | None, turn: FinishedTurn) -> None:
        """Condense turns that are too old to be shown in full and were not condensed before.

        Without a model, or if it fails, only their newest text is kept.
        """
        conversation, limits = self.memory.conversation(self.session), self.memory.limits
        condensed, watermark = await asyncio.to_thread(conversation.condensed)
        end = len(turn.history) - limits.recent_turns
        old = turn.history[watermark:end]
        if not old:
            return
        added = transcript(old, CONDENSE_UNITS)
        request = f"Condensed so far:\n{condensed or '(nothing)'}\n\nTo be added:\n{added}"
        text = ""
        if ask is not None:
            try:
                text = inert(await ask(CONDENSED, prompt(CONDENSED), request))
            except ResearchError as error:
                self.record("note", job_place(CONDENSED), text=f"condensed by cutting: {error}")
        if not text:
            parts = [condensed] if condensed else []
            parts.append(inert(transcript(old, FALLBACK_UNITS)))
            joined = "\n---\n".join(parts)
            text = js.well_formed(js.cut_start(joined, limits.condensed_units))
        await asyncio.to_thread(conversation.condense, js.cut(text, limits.condensed_units), end)

    async def _evaluate(self, ask: Ask, turn: FinishedTurn) -> None:
        """Have a model score the skills in the prompt; update averages and drop useless skills."""
        known = await asyncio.to_thread(self.memory.skills)
        given = [skill for skill in known if skill.get("name") in turn.given_skills]
        if not given:
            return
        listed = "\n".join(
            f"- {skill['name']}: {js.to_string(skill.get('instruction', ''))} "
            f"(used {skill.get('usageCount') or 0} times, score {_rounded(score_of(skill))})"
            for skill in given
        )
        turns = transcript(turn.history[-EVALUATED_TURNS:], TURN_UNITS)
        request = f"Instructions:\n{listed}\n\nConversation:\n{turns}"
        scores = loose_object(await ask(EVALUATE, prompt(EVALUATE), request)).get("scores")
        if not isinstance(scores, dict):
            return

        changed = []
        for skill in await self._begin(EVALUATE, "lastEvalAt"):
            new = scores.get(str(skill.get("name")))
            if not isinstance(new, int | float) or isinstance(new, bool):
                continue
            new = max(0.0, min(100.0, float(new)))
            average = _rounded(score_of(skill) * OLD_WEIGHT + new * NEW_WEIGHT)
            count = (skill.get("evalCount") or 0) + 1
            fresh = {"score": average, "lastEvalAt": self.now_ms(), "evalCount": count}
            changed.append({**skill, **fresh})
        await asyncio.to_thread(self.memory.save_skills, changed)

        for skill in await asyncio.to_thread(self.memory.skills):
            if _is_useless(skill, self.now_ms()):
                await asyncio.to_thread(self.memory.forget, skill["name"], kinds.SKILL)

    async def _propose(self, ask: Ask, turn: FinishedTurn) -> None:
        """Have a model propose new skills from the user's messages."""
        known = [str(skill.get("name")) for skill in await asyncio.to_thread(self.memory.skills)]
        listed = "\n".join(f"- {name}" for name in known) or "(none)"
        used = ", ".join(turn.tools) or "(none)"
        own = transcript(_user_turns(turn.history[-OWN_TURNS:]), TURN_UNITS)
        request = f"Known:\n{listed}\n\nTools used: {used}\n\nThe user wrote:\n{own}"
        rows = loose_object(await ask(PROPOSE, prompt(PROPOSE), request)).get("skills")
        proposed: dict[str, str] = {}
        for row in rows if isinstance(rows, list) else []:
            fields = row if isinstance(row, dict) else {}
            name = _line(fields.get("name"), MAX_NAME_CHARS)
            instruction = _line(fields.get("instruction"), MAX_SKILL_CHARS)
            if name and instruction and name not in known:
                proposed[name] = instruction
        # A process that was killed may already have added some of the skills, so skip existing
        # ones.
        if PROPOSE in self.progress.started:
            return
        self.record(JOB_BEGUN_EVENT, job_place(PROPOSE))
        for name, instruction in list(proposed.items())[:MAX_PROPOSED_SKILLS]:
            skill = name, instruction, self.now_ms()
            await asyncio.to_thread(save_skill, self.memory, *skill, source="auto")


def answered_count(memory: Memory) -> int:
    """Return the number of answered questions; 0 if the stored counter is not a number."""
    counted = js.to_string(memory.values(kinds.INTERNAL).get(COUNTER, "0"))
    return int(counted) if counted.isascii() and counted.isdigit() else 0


def satisfaction(history: Sequence[Turn]) -> int:
    """Estimate the user's satisfaction from their newest message and the conversation's length.

    Returns points to add to the scores of the skills in the prompt. Only the newest message is
    considered, so each complaint counts once.
    """
    own = _user_turns(history)
    message = own[-1].text.lower() if own else ""
    complains = bool(_COMPLAINT_RE.search(_ASKS_WHAT_IS_WRONG_RE.sub("", message)))
    praises = bool(_PRAISE_RE.search(message))
    total = COMPLAINT * complains + PRAISE * praises
    if len(history) <= FIRST_TURNS and not praises:
        total += FIRST_WITHOUT_PRAISE
    if len(history) >= LONG_TURNS:
        total += LONG_CONVERSATION
    return max(MIN_POINTS, min(MAX_POINTS, total))


def feedback(memory: Memory, given: Iterable[str], thumb: Thumb) -> dict[str, int]:
    """Apply the user's feedback to the skills in a run's prompt; returns the new scores by name."""
    names = set(given)
    known = [skill for skill in memory.skills() if skill.get("name") in names]
    changed = [_rescored(skill, FEEDBACK_POINTS[thumb], "feedbackCount") for skill in known]
    memory.save_skills(changed)
    return {skill["name"]: skill["score"] for skill in changed}


def score_of(skill: Skill) -> float:
    """Return a skill's score; the default is the midpoint."""
    score = skill.get("score")
    return float(score) if isinstance(score, int | float) else float(SKILL_SCORE)


def _rescored(skill: Skill, delta: int, counter: str) -> Skill:
    score = max(0, min(100, _rounded(score_of(skill) + delta)))
    return {**skill, "score": score, counter: (skill.get(counter) or 0) + 1}


def _rounded(number: float) -> int:
    """Round half up, as all stored scores were; the built-in `round` rounds half to even."""
    return math.floor(number + 0.5)


def _is_useless(skill: Skill, now_ms: int) -> bool:
    score, uses = score_of(skill), skill.get("usageCount") or 0
    if score <= BAD_SCORE and (skill.get("evalCount") or 0) >= BAD_TIMES:
        return True
    if uses > POOR_USES and score <= POOR_SCORE:
        return True
    return now_ms - (skill.get("learnedAt") or 0) > MONTH_MS and uses == 0


def _user_turns(history: Sequence[Turn]) -> list[Turn]:
    """Return the turns that the user wrote; answers may contain text from a page."""
    return [turn for turn in history if turn.role == "user"]


def _line(text: Any, max_chars: int) -> str:
    return inert(" ".join(text.split()))[:max_chars] if isinstance(text, str) else ""


async def word_insights(memory: Memory, model: Model) -> int:
    """Have a model rephrase the newest insights and add advice; returns the number rephrased.

    Raises `ModelError`.
    """
    from agent.memory.consolidation import reword, unrephrased_insights  # noqa: PLC0415 - loads a database

    done = 0
    for insight in unrephrased_insights(memory.entries)[:MAX_REPHRASED_INSIGHTS]:
        lines = "\n".join(f"- {inert(text)}" for text in insight.evidence)
        request = f"<memories>\n{lines}\n</memories>\n\nThe rule: {inert(insight.text)}"
        reply = await model.reply(prompt("insight"), [Message("user", request)])
        fields = loose_object(reply.text)
        text, advice = (
            inert(str(fields.get(name) or "")).strip() for name in ("insight", "recommendation")
        )
        if text:
            reword(memory.entries, insight.key, text, advice)
            done += 1
    return done
