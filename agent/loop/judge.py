"""The judge: a model decides about sentences that code left open, from the passages alone.

One request judges all open sentences of an answer, and whether the answer answers the question.
The judge does not see the conversation in which the answer was written.
"""

from __future__ import annotations

import asyncio
import itertools
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from agent.evidence.answer import check_answer
from agent.evidence.store import format_passage
from agent.guard.model_client import ModelClient
from agent.journal.events import JUDGE
from agent.models.base import Task, takes
from agent.prompts import prompt
from agent.protocol.replies import inert
from agent.types import Message, Verdict, VerdictState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from agent.evidence.store import Evidence
    from agent.evidence.verify import Judge
    from agent.guard.budget import Budget
    from agent.guard.model_client import Record
    from agent.models.base import Model
    from agent.types import Answers, Passage

    Claims = Mapping[str, Sequence[Passage]]
    """Claims, each with the passages that it cites."""

_MOST_PASSAGES = 6
"""Most passages shown with a claim; an answer cites one or two, or a whole source."""
_SHORT_SOURCE = 4_000
"""Characters up to which a source is shown whole: any of its passages may decide."""
_LONGEST_REASON = 30
"""Most words after a verdict that are kept as its reason."""
_LINE = re.compile(
    r"^\W*(?:claim\W+)?(\d+)\W+"
    r"(supported|done|attempted|in part|contradicted|not stated|undecided)\b(.*)$",
    re.IGNORECASE | re.MULTILINE,
)
"""Number, verdict, and the rest of the line: many models give a reason beside the quote."""
_ANSWERS = re.compile(r"^\W*answer\W+(fully|in part|no)\b", re.IGNORECASE | re.MULTILINE)
CITED = re.compile(r"S\d+¶\d+")

_STATES = {
    "supported": (VerdictState.SUPPORTED, "the passages say it in other words"),
    "done": (VerdictState.DONE, "the page shows it after the step that did it"),
    "attempted": (VerdictState.ATTEMPTED, "nothing shows that it took effect"),
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
"""A claim, and the ids of the passages that it cites: with other passages it is another case."""


def _case(claim: str, passages: Sequence[Passage]) -> Case:
    return claim, " ".join(passage.id for passage in passages)


@dataclass(frozen=True, slots=True)
class PluginJudge:
    """A plug-in's judge of single claims, in the place of a model."""

    decide: Judge


def open_claims(answer: str, evidence: Evidence) -> dict[str, Sequence[Passage]]:
    """Find the sentences that code leaves open, with the passages that they cite."""
    claims: dict[str, Sequence[Passage]] = {}
    # The third argument is the judge, asked about each open sentence: this one only collects them.
    check_answer(answer, evidence, claims.__setitem__)
    return claims


@dataclass(slots=True)
class ClaimJudge:
    """Asks a model about claims, and keeps its verdicts; a call looks one up.

    Without a `model`, or with one that does not judge, all claims stay undecided. `answers` says
    how far the answer answers the question, None if the judge did not say.
    """

    evidence: Evidence
    budget: Budget
    record: Record
    model: Model | PluginJudge | None = None
    answers: Answers | None = None
    _decided: dict[Case, Verdict] = field(default_factory=dict)

    def __call__(self, claim: str, passages: Sequence[Passage]) -> Verdict | None:
        """Return the verdict on a claim that cites these passages, or None."""
        return self._decided.get(_case(claim, passages))

    @property
    def can_judge(self) -> bool:
        """Whether there is a model that judges, or a plug-in."""
        if isinstance(self.model, PluginJudge):
            return True
        return self.model is not None and takes(self.model, Task.JUDGE)

    async def decide(self, claims: Claims, place: str, answer: str = "") -> bool:
        """Decide claims in one request; those that are decided already are left out.

        False if the request failed, which is noted on record: the claims stay undecided. `answer`
        is the text that the claims are from.
        """
        claims = {c: cited for c, cited in claims.items() if _case(c, cited) not in self._decided}
        if self.model is None or not self.can_judge or not claims:
            return True
        answers = None
        if isinstance(self.model, PluginJudge):
            # In a thread: a plug-in may compute for long.
            decided = await asyncio.to_thread(self._ask_plugin, self.model, claims)
        else:
            claims = by_sources(claims)
            request = Message("user", judge_request(claims, self.evidence, answer))
            system = judge_system(
                self.evidence.question, acts=speaks_of_acts(claims, self.evidence)
            )
            client = ModelClient(self.model, system, self.budget, self.record)
            seconds = self.budget.seconds_left(reserve=False)
            reply = await client.try_ask(place, [request], "the judge failed", seconds=seconds)
            if reply is None:
                return False
            decided, answers = read_verdicts(reply.text, claims, self.evidence)
        rows = [
            {
                "claim": claim,
                "cited": cited,
                "state": verdict.state.value,
                "quote": verdict.quote,
                "reason": verdict.reason,
            }
            for (claim, cited), verdict in decided.items()
        ]
        if answers and answer:  # without the answer, it cannot say if the question is answered
            rows.append({"answers": answers})
        self.load(rows)
        self.record("judge", place, verdicts=rows)
        return True

    @staticmethod
    def _ask_plugin(plugin: PluginJudge, claims: Claims) -> dict[Case, Verdict]:
        decided = {}
        for claim, cited in claims.items():
            verdict = plugin.decide(claim, cited)
            if verdict is not None:
                decided[_case(claim, cited)] = verdict
        return decided

    def load(self, rows: Iterable[Mapping[str, str]]) -> None:
        """Take verdicts from rows of the record; of several `answers` the last one counts."""
        for row in rows:
            if "answers" in row:
                self.answers = cast("Answers", row["answers"])
                continue
            verdict = Verdict(VerdictState(row["state"]), row["quote"], row["reason"], "judge")
            self._decided[row["claim"], row.get("cited", "")] = verdict


def judge_system(question: str = "", *, acts: bool = False) -> str:
    """Return the judge's system prompt.

    With a question it also judges if that is answered, with `acts` what the run says that it did.
    """
    parts = [JUDGE, "judge-acts" if acts else "", "judge-answer" if question else ""]
    return "\n\n".join(prompt(part) for part in parts if part)


def speaks_of_acts(claims: Claims, evidence: Evidence) -> bool:
    """Whether claims cite a page as it was after an act of the run."""
    numbers = {passage.source for passages in claims.values() for passage in passages}
    return any((source := evidence.source(n)) and source.step for n in numbers)


def by_sources(claims: Claims) -> dict[str, Sequence[Passage]]:
    """Reorder claims so that those citing the same sources are neighbours."""
    groups: dict[tuple[int, ...], dict[str, Sequence[Passage]]] = {}
    for claim, passages in claims.items():
        groups.setdefault(_source_numbers(passages), {})[claim] = passages
    return {claim: cited for group in groups.values() for claim, cited in group.items()}


def _source_numbers(passages: Iterable[Passage]) -> tuple[int, ...]:
    return tuple(sorted({passage.source for passage in passages}))


def judge_request(claims: Claims, evidence: Evidence, answer: str = "") -> str:
    """Write the request to a judge: question and answer, then claims with their passages.

    Claims are numbered from 1. Neighbours that cite the same sources share one block of passages,
    each with those before and after it, their headings and the page's title. The passages cited by
    the answer's other sentences come last: they tell who or what a claim is about.
    """
    parts = []
    if evidence.question:
        parts.append(f"Question: {evidence.question}")
    if answer:
        parts.append(f"<answer>\n{inert(answer)}\n</answer>")
    all_shown: set[str] = set()
    numbered = enumerate(claims.items(), 1)
    for _, group in itertools.groupby(numbered, key=lambda row: _source_numbers(row[1][1])):
        lines: list[str] = []
        shown: dict[str, Passage] = {}
        for number, (claim, passages) in group:
            lines.append(f"Claim {number}: {inert(' '.join(claim.split()))}")
            shown.update((passage.id, passage) for passage in _with_context(passages, evidence))
        ordered = sorted(shown.values(), key=lambda p: (p.source, p.start))
        parts.append("\n".join([*lines, _web_block(ordered, evidence)]))
        all_shown |= shown.keys()
    others = [p for p in cited_passages(answer, evidence) if p.id not in all_shown]
    if others:
        parts.append(f"{_OTHERS}\n{_web_block(others, evidence)}")
    return "\n\n".join(parts)


def _with_context(passages: Sequence[Passage], evidence: Evidence) -> list[Passage]:
    """Add the passages before and after each passage, and all passages of short sources.

    Headings are left out, since each passage is shown with its heading.
    """
    cited = list(passages[:_MOST_PASSAGES])
    found: list[Passage] = []
    for passage in cited:
        found += [passage, *evidence.neighbours(passage.id)]
    for number in dict.fromkeys(passage.source for passage in cited):
        source = evidence.source(number)
        if source is not None and len(source.text) <= _SHORT_SOURCE:
            found += source.passages
    return [passage for passage in found if passage.kind != "heading" or passage in cited]


def _web_block(passages: Iterable[Passage], evidence: Evidence) -> str:
    lines = "\n".join(format_passage(passage, evidence) for passage in passages)
    return f"<web>\n{inert(lines)}\n</web>"


def cited_passages(text: str, evidence: Evidence) -> list[Passage]:
    """Find the passages whose ids are in a text, each once."""
    found = map(evidence.passage, dict.fromkeys(CITED.findall(text)))
    return [passage for passage in found if passage is not None]


def read_verdicts(
    reply: str, claims: Claims, evidence: Evidence
) -> tuple[dict[Case, Verdict], Answers | None]:
    """Read a judge's reply: one line a claim, with its number; claims without a line stay open.

    Returns the verdicts, and how far the answer answers the question if the reply says so.
    A claim whose quote stands only on a page that it does not cite becomes undecided.
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
        texts = [passage.text for passage in passages]
        texts += [passage.text for source in sources for passage in source.passages]
        state, reason = _STATES[word]
        quote = _find_quote(rest, texts)
        remark = rest.replace(quote, "").strip(' \t:;,.—–-*`"“”')

        if state is VerdictState.SUPPORTED and not quote:
            urls = {source.url for source in sources}
            for page in evidence.sources:
                if page.url in urls:
                    continue
                words = _find_quote(rest, [passage.text for passage in page.passages])
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
    return decided, cast("Answers", answers[1].lower()) if answers else None


def _find_quote(rest: str, texts: Sequence[str]) -> str:
    """Find the longest quotation in the rest of a line that stands literally in a text; or "".

    A quotation may hold quotation marks, and there may be several, so all pairs of marks are tried.
    """
    marks = [i for i, character in enumerate(rest) if character in '"“”']
    spans = [rest[start + 1 : end] for start, end in itertools.combinations(marks, 2)]
    # A single word with spaces around it is no quotation: it joins two ("a" and "b").
    spans = [span for span in spans if span == span.strip() or len(span.split()) > 1]
    for quote in sorted((span.strip() for span in spans), key=len, reverse=True):
        if quote and any(quote in text for text in texts):
            return quote
    return ""
