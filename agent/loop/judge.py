"""The third layer of checking: a model decides what code left open, from the passages alone.

One request judges all open sentences of an answer, and says whether the answer answers its
question. Of the conversation that wrote the answer the judge sees nothing.
"""

from __future__ import annotations

import asyncio
import itertools
import re
from typing import TYPE_CHECKING, cast

from agent.errors import ModelError
from agent.evidence.answer import check_answer
from agent.evidence.store import format_passage
from agent.journal.events import JUDGE
from agent.models.base import Task
from agent.prompts import prompt
from agent.protocol.replies import inert
from agent.types import Message, Verdict, VerdictState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from agent.evidence.store import Evidence
    from agent.evidence.verify import Judge
    from agent.guard.model_client import ModelClient
    from agent.models.base import ModelReply
    from agent.types import Answers, Passage

    Claims = Mapping[str, Sequence[Passage]]
    """Claims, each with the passages that it cites."""

_MOST_PASSAGES = 6
"""Passages shown with a claim; an answer cites one or two, a whole source may stand for more."""
_SHORT_SOURCE = 4_000
"""Characters of a source that is shown whole: the passage that decides may be any."""
_LONGEST_REASON = 30
"""Words that a judge adds to its verdict and that are kept as its reason."""
_LINE = re.compile(
    r"^\W*(?:claim\W+)?(\d+)\W+(supported|in part|contradicted|not stated|undecided)\b(.*)$",
    re.IGNORECASE | re.MULTILINE,
)
"""Number, word, and whatever a model says after it: many give a reason beside the quote."""
_ANSWERS = re.compile(r"^\W*answer\W+(fully|in part|no)\b", re.IGNORECASE | re.MULTILINE)
CITED = re.compile(r"S\d+¶\d+")

_STATES = {
    "supported": (VerdictState.SUPPORTED, "the passages say it in other words"),
    "contradicted": (VerdictState.CONTRADICTED, "the passages say otherwise"),
    "in part": (VerdictState.UNDECIDED, "the passages say only a part of it"),
    "not stated": (VerdictState.UNDECIDED, "the passages do not say it"),
    "undecided": (VerdictState.UNDECIDED, "the passages do not say it"),
}

_OTHERS = (
    "Cited by the answer's other sentences: these tell who or what a claim speaks of, and count "
    "for the answer."
)

Case = tuple[str, str]
"""A claim, and the ids of the passages that it cites: with others it is another question."""


class Verdicts:
    """A judge that has decided already: gives its verdicts by claim and what the claim cites.

    `answers` is its word on whether the answer answers the question, None where it gave none.
    """

    def __init__(
        self, decided: Mapping[Case, Verdict] | None = None, answers: Answers | None = None
    ) -> None:
        self._decided = dict(decided or {})
        self.answers = answers

    def __call__(self, claim: str, passages: Sequence[Passage]) -> Verdict | None:
        """Give the verdict on a claim that cites these passages; None for none."""
        return self._decided.get(_case(claim, passages))

    @classmethod
    def from_rows(cls, rows: Sequence[Mapping[str, str]]) -> Verdicts:
        """Take verdicts back from the record; the last word on the answer counts."""
        found = cls()
        for row in rows:
            if "answers" in row:
                found.answers = cast("Answers", row["answers"])
                continue
            verdict = Verdict(VerdictState(row["state"]), row["quote"], row["reason"], "judge")
            found._decided[row["claim"], row.get("cited", "")] = verdict
        return found

    def rows(self) -> list[dict[str, str]]:
        """The verdicts as the record keeps them."""
        rows = [
            {
                "claim": claim,
                "cited": cited,
                "state": v.state.value,
                "quote": v.quote,
                "reason": v.reason,
            }
            for (claim, cited), v in self._decided.items()
        ]
        return rows + ([{"answers": self.answers}] if self.answers else [])

    def undecided(self, claims: Claims) -> dict[str, Sequence[Passage]]:
        """Leave out the claims that are decided already."""
        return {c: cited for c, cited in claims.items() if _case(c, cited) not in self._decided}

    def merge(self, other: Verdicts) -> Verdicts:
        """Add the verdicts of another round."""
        return Verdicts({**self._decided, **other._decided}, other.answers or self.answers)


def _case(claim: str, passages: Sequence[Passage]) -> Case:
    return claim, " ".join(passage.id for passage in passages)


class PluggedJudge:
    """A judge of a plug-in where a model is expected: it decides claims, and does nothing else."""

    def __init__(self, name: str, decides: Judge) -> None:
        self.name = name
        self._decides = decides

    def takes(self, task: Task) -> bool:
        """Tell whether it takes a task: judging alone."""
        return task is Task.JUDGE

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:
        """Refuse: it is no model."""
        del system, messages
        raise ModelError(f"{self.name} judges claims, and cannot be asked anything else")

    async def aclose(self) -> None:
        """Let go of nothing."""

    def decide(self, claims: Claims) -> Verdicts:
        """Give the verdicts that it has."""
        decided = {
            _case(claim, cited): self._decides(claim, cited) for claim, cited in claims.items()
        }
        return Verdicts({case: verdict for case, verdict in decided.items() if verdict is not None})


def open_claims(answer: str, evidence: Evidence) -> dict[str, Sequence[Passage]]:
    """Find the sentences that do not stand there literally, with the passages that they cite."""
    claims: dict[str, Sequence[Passage]] = {}
    check_answer(answer, evidence, claims.__setitem__)  # notes what a judge would be asked
    return claims


async def judge(
    asker: ModelClient, place: str, claims: Claims, evidence: Evidence, answer: str = ""
) -> Verdicts:
    """Ask a model about claims; what it does not answer stays undecided. Raises `ModelError`."""
    if isinstance(asker.model, PluggedJudge):
        return await asyncio.to_thread(asker.model.decide, claims)
    claims = by_sources(claims)
    request = judge_request(claims, evidence, answer)
    reply = await asker.ask(place, [Message("user", request)])
    return read_verdicts(reply.text, claims, evidence)


def judge_system(question: str = "") -> str:
    """The judge's own system prompt; of an answer to a question it is to say whether it is one."""
    return "\n\n".join([prompt(JUDGE), *([prompt("judge-answer")] if question else [])])


def by_sources(claims: Claims) -> dict[str, Sequence[Passage]]:
    """Put claims together that cite the same sources: so they are numbered in their order."""
    groups: dict[tuple[int, ...], dict[str, Sequence[Passage]]] = {}
    for claim, passages in claims.items():
        groups.setdefault(_sources(passages), {})[claim] = passages
    return {claim: cited for group in groups.values() for claim, cited in group.items()}


def _sources(passages: Iterable[Passage]) -> tuple[int, ...]:
    return tuple(sorted({passage.source for passage in passages}))


def judge_request(claims: Claims, evidence: Evidence, answer: str = "") -> str:
    """Write what a judge is asked: question and answer, then the claims before their passages.

    Claims are numbered from 1; neighbours that cite the same sources stand together, so that
    passages are shown once, with what stands before and after them, their headings and the page's
    title. What the answer's other sentences cite comes last: a second hop is told by the first's.
    """
    parts = [f"Question: {evidence.question}"] if evidence.question else []
    parts += [f"<answer>\n{inert(answer)}\n</answer>"] if answer else []
    known: set[str] = set()
    numbered = enumerate(claims.items(), 1)
    for _, group in itertools.groupby(numbered, key=lambda one: _sources(one[1][1])):
        lines: list[str] = []
        shown: dict[str, Passage] = {}
        for number, (claim, passages) in group:
            lines.append(f"Claim {number}: {inert(' '.join(claim.split()))}")
            shown.update((passage.id, passage) for passage in _shown(passages, evidence))
        ordered = sorted(shown.values(), key=lambda p: (p.source, p.start))
        parts.append("\n".join([*lines, _web(ordered, evidence)]))
        known |= shown.keys()
    others = [p for p in cited_passages(answer, evidence) if p.id not in known]
    parts += [f"{_OTHERS}\n{_web(others, evidence)}"] if others else []
    return "\n\n".join(parts)


def _shown(passages: Sequence[Passage], evidence: Evidence) -> list[Passage]:
    """Give the passages with those before and after each; a short source whole.

    Headings are left out: they stand before the passages under them.
    """
    cited = list(passages[:_MOST_PASSAGES])
    found = [near for p in cited for near in (p, *evidence.neighbours(p.id))]
    for source in map(evidence.source, dict.fromkeys(p.source for p in cited)):
        if source is not None and len(source.text) <= _SHORT_SOURCE:
            found += source.passages
    return [passage for passage in found if passage.kind != "heading" or passage in cited]


def _web(passages: Iterable[Passage], evidence: Evidence) -> str:
    lines = "\n".join(format_passage(passage, evidence) for passage in passages)
    return f"<web>\n{inert(lines)}\n</web>"


def cited_passages(text: str, evidence: Evidence) -> list[Passage]:
    """Find the passages that a text cites by their ids, each once."""
    found = map(evidence.passage, dict.fromkeys(CITED.findall(text)))
    return [passage for passage in found if passage is not None]


def read_verdicts(reply: str, claims: Claims, evidence: Evidence) -> Verdicts:
    """Read a judge's reply: a line a claim, by its number; a claim without one stays open.

    What is supported by words of a source that the claim does not cite is cited to the wrong page.
    """
    cases = list(claims.items())
    decided: dict[Case, Verdict] = {}
    for match in _LINE.finditer(reply):
        number, word, rest = int(match[1]), match[2].lower(), match[3]
        if not 0 < number <= len(cases):
            continue
        claim, passages = cases[number - 1]
        cited = {passage.source for passage in passages}
        sources = [source for source in evidence.sources if source.n in cited]
        beside = (passage for source in sources for passage in source.passages)
        state, reason = _STATES[word]
        quote = _quote(rest, [passage.text for passage in (*passages, *beside)])
        remark = rest.replace(quote, "").strip(' \t:;,.—–-*`"“”')
        urls = {source.url for source in sources}
        for page in evidence.sources if state is VerdictState.SUPPORTED and not quote else ():
            words = "" if page.url in urls else _quote(rest, [p.text for p in page.passages])
            if words:
                state, remark = VerdictState.UNDECIDED, ""
                reason = f"it stands on another page, “{page.title or page.url}”: “{words}”"
                break
        if quote and state is not VerdictState.SUPPORTED:
            reason = f"{reason}: “{' '.join(quote.split())}”"
        if state is not VerdictState.SUPPORTED and 1 < len(remark.split()) <= _LONGEST_REASON:
            reason = f"{reason} ({remark})"
        decided[_case(claim, passages)] = Verdict(state, quote, reason, "judge")
    answers = _ANSWERS.search(reply)
    return Verdicts(decided, cast("Answers", answers[1].lower()) if answers else None)


def _quote(rest: str, texts: Sequence[str]) -> str:
    """Find the words quoted in the rest of a line that stand in a passage, the longest first.

    The words may have quotation marks of their own, and several places may be quoted.
    """
    marks = [i for i, character in enumerate(rest) if character in '"“”']
    spans = [rest[a + 1 : b] for a, b in itertools.combinations(marks, 2)]
    # A word set off by spaces stands between two quotes: it joins them.
    spans = [span for span in spans if span == span.strip() or len(span.split()) > 1]
    quoted = sorted((span.strip() for span in spans), key=len, reverse=True)
    return next((q for q in quoted if q and any(q in text for text in texts)), "")
