"""The judge: a model that uses only the passages to decide claims that rules cannot decide.

One request asks about all undecided sentences of an answer, and whether the answer addresses the
question; if no sentences are undecided, a short request asks only whether the answer does so. The
request includes passages from other pages that may disagree with the answer. The judge does not see
the conversation in which the answer was written. A *supported* or *contradicted* verdict must quote
words about the claim from the passages; if it does not, the judge is asked once more.
"""

from __future__ import annotations

import asyncio
import itertools
import re
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from agent.evidence.answer import check_answer
from agent.evidence.disputes import Dispute, rival_passages
from agent.evidence.literal import find_words, split_ellipses
from agent.evidence.store import format_passage
from agent.evidence.verify import join_quotes, verdict_counts
from agent.guard.model_client import ModelClient
from agent.journal.events import JUDGE
from agent.models.base import Task, takes
from agent.prompts import prompt
from agent.protocol.replies import inert
from agent.types import PASSAGE_ID, Message, Verdict, VerdictState

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

_MAX_PASSAGES = 6
"""Maximum number of passages shown with a claim; answers cite either one or two, or an entire
source.
"""
_MAX_WHOLE_SOURCE_CHARS = 4_000
"""Maximum length of a source that is shown in full, in characters, since any passage may be
decisive.
"""
_MAX_REASON_WORDS = 60
"""Maximum number of words in the reason after a verdict; longer ones are cut."""
_VERDICT_LINE_RE = re.compile(
    r"^\W*(?:claim\W+)?(\d+)\W+"
    r"(supported|done|attempted|in part|contradicted|not stated|undecided)\b(.*)$",
    re.IGNORECASE | re.MULTILINE,
)
"""Number, verdict, and the rest of the line, as many models add a reason to the quote."""
_ANSWERED_LINE_RE = re.compile(r"^\W*answer\W+(fully|in part|no)\b", re.IGNORECASE | re.MULTILINE)
_DISPUTE_LINE_RE = re.compile(
    rf"^\W*disputed\W+[\"“](.+?)[\"”]\W+({PASSAGE_ID})\W+[\"“](.+)[\"”]",
    re.IGNORECASE | re.MULTILINE,
)
"""Words from the answer, the id of the passage that disagrees, and words from that passage."""
_CITATION_RE = re.compile(r"\s*\[S\d[^\]]*\]")
CLAIMS_PER_REQUEST = 10
"""Maximum number of claims of a draft or an earlier report in one request to the judge, about as
many as a long answer has.
"""
PASSAGE_ID_RE = re.compile(PASSAGE_ID)
_JOINING_WORDS = frozenset({"and", "but", "or", "then", "with", "und", "from", "in"})
"""Words that only connect two quotations in a line."""

_STATES_BY_WORD = {
    "supported": (VerdictState.SUPPORTED, "the passages say this in other words"),
    "done": (VerdictState.DONE, "the page shows the result after the step"),
    "attempted": (VerdictState.ATTEMPTED, "nothing shows that it took effect"),
    "contradicted": (VerdictState.CONTRADICTED, "the passages say otherwise"),
    "in part": (VerdictState.UNDECIDED, "the passages support only part of this"),
    "not stated": (VerdictState.UNDECIDED, "the passages do not say this"),
    "undecided": (VerdictState.UNDECIDED, "the passages do not say this"),
}

_OTHER_PASSAGES_HEADING = (
    "Cited by the answer's other sentences: they show who or what a claim is about, and count "
    "towards the answer."
)

_RIVALS_HEADING = "From pages that were read and that the answer does not cite:"

ClaimKey = tuple[str, str]
"""A claim and the ids of its cited passages; with different passages, it is a different case."""


def _verdict_row(case: ClaimKey, verdict: Verdict) -> dict[str, Any]:
    """Format a verdict as a row for the record."""
    claim, cited = case
    return {
        "claim": claim,
        "cited": cited,
        "state": verdict.state.value,
        "quote": verdict.quote,
        "quotes": list(verdict.quotes),
        "reason": verdict.reason,
    }


def _claim_key(claim: str, passages: Sequence[Passage]) -> ClaimKey:
    return claim, " ".join(passage.id for passage in passages)


@dataclass(frozen=True, slots=True)
class PluginJudge:
    """A plug-in that judges individual claims, used instead of a model."""

    decide: Judge


def find_undecided_claims(answer: str, evidence: Evidence) -> dict[str, Sequence[Passage]]:
    """Find the sentences that rules cannot decide, with their cited passages."""
    claims: dict[str, Sequence[Passage]] = {}
    # The third argument is the judge, called for each undecided sentence; here it only collects
    # them.
    check_answer(answer, evidence, claims.__setitem__)
    return claims


@dataclass(slots=True)
class ClaimJudge:
    """Asks a model about claims and stores its verdicts, which are looked up by calling the object.

    If there is no `model`, or the model cannot judge, all claims stay undecided.
    `addresses_question` is the judge's opinion on how far the answer addresses the question, or
    None if the judge gave no opinion. `disputes` lists the passages that disagree with the answer.
    """

    evidence: Evidence
    budget: Budget
    record: Record
    model: Model | PluginJudge | None = None
    addresses_question: Answers | None = None
    disputes: list[Dispute] = field(default_factory=list)
    _decided: dict[ClaimKey, Verdict] = field(default_factory=dict)

    def __call__(self, claim: str, passages: Sequence[Passage]) -> Verdict | None:
        """Return the verdict on a claim that cites these passages, or None."""
        return self._decided.get(_claim_key(claim, passages))

    @property
    def can_judge(self) -> bool:
        """Whether a judge is available: a plug-in, or a model that can judge."""
        if isinstance(self.model, PluginJudge):
            return True
        return self.model is not None and takes(self.model, Task.JUDGE)

    async def review(self, answer: str, place: str) -> bool:
        """Decide the undecided sentences of an answer, and whether it addresses the question.

        Returns False if the request failed; the failure is recorded.
        """
        evidence = self.evidence
        claims = self._undecided(find_undecided_claims(answer, evidence))
        if claims or not evidence.question or isinstance(self.model, PluginJudge):
            return await self.decide(claims, place, answer, asks_answer=True)
        if self.model is None or not self.can_judge:
            return True
        shown = cited_passages(" ".join(check_answer(answer, evidence, self).supported), evidence)
        rivals = rival_passages(answer, evidence)
        request = answer_check_request(answer, shown, evidence, rivals)
        system = "\n\n".join([prompt("answered"), *([prompt("judge-rivals")] if rivals else [])])
        reply = await self._ask(self._client(self.model, system), place, [request])
        if reply is None:
            return False
        answers = _read_answers(reply)
        rows: list[dict[str, Any]] = [{"answers": answers}] if answers else []
        self._note([*rows, *read_disputes(reply, answer, rivals)], place)
        return True

    async def decide(
        self, claims: Claims, place: str, answer: str = "", *, asks_answer: bool = False
    ) -> bool:
        """Decide claims in one request, skipping those that are already decided.

        Returns False if the request failed: the failure is recorded, and the claims stay undecided.
        `answer` is the text that contains the claims; with `asks_answer`, the judge is also asked
        whether it addresses the question.
        """
        claims = self._undecided(claims)
        if self.model is None or not self.can_judge or not claims:
            return True
        if isinstance(self.model, PluginJudge):
            # In a thread, because a plug-in may take a long time.
            decided = await asyncio.to_thread(self._ask_plugin, self.model, claims)
            rows: list[dict[str, Any]] | None = [_verdict_row(*case) for case in decided.items()]
        else:
            asks_answer = asks_answer and bool(answer and self.evidence.question)
            rows = await self._ask_model(
                self.model, group_by_sources(claims), place, answer, asks_answer=asks_answer
            )
        if rows is None:
            return False
        self._note(rows, place)
        return True

    async def _ask_model(
        self, model: Model, claims: Claims, place: str, answer: str, *, asks_answer: bool
    ) -> list[dict[str, Any]] | None:
        """Ask a model about claims, and again if quotations are missing; returns journal rows.

        Returns None if the request failed.
        """
        evidence = self.evidence
        rivals = rival_passages(answer, evidence)
        acts = cites_action_results(claims, evidence)
        system = judge_system(asks_answer=asks_answer, acts=acts, rivals=bool(rivals))
        client = self._client(model, system)
        request = Message("user", judge_request(claims, evidence, answer, rivals))
        reply = await self._ask(client, place, [request])
        if reply is None:
            return None
        decided, answers = read_verdicts(reply, claims, evidence)
        is_missing = asks_answer and answers is None
        note = _quotation_request(decided, claims, evidence, asks_answer=is_missing)
        if note and takes(model, Task.JUDGE):
            talk = [request, Message("assistant", reply), Message("user", note)]
            again = await self._ask(client, f"{place}/words", talk)
            better, answers_now = read_verdicts(again or "", claims, evidence)
            for claim, cited in claims.items():
                case = _claim_key(claim, cited)
                if case in better and _needs_quotation(decided.get(case), claim, cited, evidence):
                    decided[case] = better[case]
            answers = answers or answers_now
        rows = [_verdict_row(*case) for case in decided.items()]
        if answers and asks_answer:
            rows.append({"answers": answers})
        return [*rows, *read_disputes(reply, answer, rivals)]

    def _undecided(self, claims: Claims) -> dict[str, Sequence[Passage]]:
        return {
            c: cited for c, cited in claims.items() if _claim_key(c, cited) not in self._decided
        }

    def _client(self, model: Model, system: str) -> ModelClient:
        return ModelClient(model, system, self.budget, self.record)

    async def _ask(self, client: ModelClient, place: str, messages: list[Message]) -> str | None:
        seconds = self.budget.seconds_left(reserve=False)
        reply = await client.try_ask(place, messages, "the judge failed", seconds=seconds)
        return None if reply is None else reply.text

    def _note(self, rows: Sequence[Mapping[str, Any]], place: str) -> None:
        self.load_verdicts(rows)
        self.record("judge", place, verdicts=rows)

    @staticmethod
    def _ask_plugin(plugin: PluginJudge, claims: Claims) -> dict[ClaimKey, Verdict]:
        decided = {}
        for claim, cited in claims.items():
            verdict = plugin.decide(claim, cited)
            if verdict is not None:
                decided[_claim_key(claim, cited)] = verdict
        return decided

    def load_verdicts(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Load verdicts from rows of the record; if several have `answers`, the last is used."""
        for row in rows:
            if "disputed" in row:
                dispute = Dispute(row["disputed"], row["passage"], row["quote"])
                if dispute not in self.disputes:  # a resumed run loads disputes twice
                    self.disputes.append(dispute)
                continue
            if "answers" in row:
                self.addresses_question = cast("Answers", row["answers"])
                continue
            state, quotes = VerdictState(row["state"]), tuple(row.get("quotes", ()))
            verdict = Verdict(state, row["quote"], row["reason"], "judge", quotes=quotes)
            self._decided[row["claim"], row.get("cited", "")] = verdict


def judge_system(*, asks_answer: bool = False, acts: bool = False, rivals: bool = False) -> str:
    """Return the judge's system prompt.

    The prompt may also ask about the run's actions (`acts`), about passages from other pages that
    may disagree (`rivals`), and whether the question is answered.
    """
    wanted = {"judge-acts": acts, "judge-rivals": rivals, "judge-answer": asks_answer}
    parts = (JUDGE, *(part for part, is_wanted in wanted.items() if is_wanted))
    return "\n\n".join(prompt(part) for part in parts if part)


def cites_action_results(claims: Claims, evidence: Evidence) -> bool:
    """Return whether any claim cites a page's state after one of the run's actions."""
    numbers = {passage.source for passages in claims.values() for passage in passages}
    return any((source := evidence.source(n)) and source.step for n in numbers)


def answer_check_request(
    answer: str, passages: Iterable[Passage], evidence: Evidence, rivals: Sequence[Passage] = ()
) -> Message:
    """Write the request that asks only whether an answer addresses the question."""
    parts = [f"Question: {evidence.question}", f"<answer>\n{inert(answer)}\n</answer>"]
    if passages := list(passages):
        parts.append(_web_block(passages, evidence))
    if rivals:
        parts.append(f"{_RIVALS_HEADING}\n{_web_block(rivals, evidence)}")
    return Message("user", "\n\n".join(parts))


def group_by_sources(claims: Claims) -> dict[str, Sequence[Passage]]:
    """Reorder claims so that claims citing the same sources are adjacent."""
    groups: dict[tuple[int, ...], dict[str, Sequence[Passage]]] = {}
    for claim, passages in claims.items():
        groups.setdefault(_source_numbers(passages), {})[claim] = passages
    return {claim: cited for group in groups.values() for claim, cited in group.items()}


def _source_numbers(passages: Iterable[Passage]) -> tuple[int, ...]:
    return tuple(sorted({passage.source for passage in passages}))


def judge_request(
    claims: Claims, evidence: Evidence, answer: str = "", rivals: Sequence[Passage] = ()
) -> str:
    """Write the request to a judge: the question, the answer, and claims with their passages.

    Claims are numbered from 1. Adjacent claims that cite the same sources share one block of
    passages. Each passage is shown with its neighbours, their headings and the page's title. A
    passage is shown only once; later claims refer back to it. Next come the passages cited by the
    answer's other sentences, since they show who or what a claim is about. Passages from other
    pages that may disagree (`rivals`) come last.
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
            if above := [p.id for p in passages[:_MAX_PASSAGES] if p.id in all_shown]:
                lines.append(f"({number} also from the passages above: {', '.join(above)})")
            shown.update((passage.id, passage) for passage in _with_context(passages, evidence))
        new = [passage for passage in shown.values() if passage.id not in all_shown]
        if new:
            lines.append(_web_block(sorted(new, key=lambda p: (p.source, p.start)), evidence))
        parts.append("\n".join(lines))
        all_shown |= shown.keys()
    others = [p for p in cited_passages(answer, evidence) if p.id not in all_shown]
    if others:
        parts.append(f"{_OTHER_PASSAGES_HEADING}\n{_web_block(others, evidence)}")
    if rivals:
        parts.append(f"{_RIVALS_HEADING}\n{_web_block(rivals, evidence)}")
    return "\n\n".join(parts)


def _with_context(passages: Sequence[Passage], evidence: Evidence) -> list[Passage]:
    """Add the passages before and after each passage, and all passages of short sources.

    Headings are not added, since each passage is shown with its heading.
    """
    cited = list(passages[:_MAX_PASSAGES])
    found: list[Passage] = []
    for passage in cited:
        found += [passage, *evidence.neighbours(passage.id)]
    for number in dict.fromkeys(passage.source for passage in cited):
        source = evidence.source(number)
        if source is not None and len(source.text) <= _MAX_WHOLE_SOURCE_CHARS:
            found += source.passages
    return [passage for passage in found if passage.kind != "heading" or passage in cited]


def _web_block(passages: Iterable[Passage], evidence: Evidence) -> str:
    lines = "\n".join(f"{passage.id} {format_passage(passage, evidence)}" for passage in passages)
    return f"<web>\n{inert(lines)}\n</web>"


def cited_passages(text: str, evidence: Evidence) -> list[Passage]:
    """Find the passages whose ids occur in `text`, without duplicates."""
    found = map(evidence.passage, dict.fromkeys(PASSAGE_ID_RE.findall(text)))
    return [passage for passage in found if passage is not None]


def read_verdicts(
    reply: str, claims: Claims, evidence: Evidence
) -> tuple[dict[ClaimKey, Verdict], Answers | None]:
    """Read a judge's reply, which has one numbered line per claim; other claims stay undecided.

    Returns the verdicts and, if stated in the reply, how far the answer addresses the question. A
    claim becomes undecided if the quote occurs only on a page that the claim does not cite.
    """
    cases = list(claims.items())
    decided: dict[ClaimKey, Verdict] = {}
    reply = reply.replace('\\"', '"')  # some models escape quotation marks within a quotation
    for match in _VERDICT_LINE_RE.finditer(reply):
        number, word, rest = int(match[1]), match[2].lower(), match[3]
        if not 0 < number <= len(cases):
            continue
        claim, passages = cases[number - 1]
        state, reason = _STATES_BY_WORD[word]
        cited = {passage.source for passage in passages}
        sources = [s for s in evidence.sources if s.n in cited]
        texts = [p.text for p in passages]
        texts += [p.text for source in sources for p in source.passages]
        texts += [source.title for source in sources]
        quotes, remark = _split_line(rest, texts)

        if state is VerdictState.SUPPORTED and not quotes:
            urls = {source.url for source in sources}
            for page in evidence.sources:
                if page.url in urls:
                    continue
                elsewhere, _ = _split_line(rest, [passage.text for passage in page.passages])
                if elsewhere:
                    state, remark = VerdictState.UNDECIDED, ""
                    reason = f"it is on another page, “{page.title or page.url}”: "
                    reason += join_quotes(elsewhere)
                    break

        if state is not VerdictState.SUPPORTED:
            reason = f"{reason}: {join_quotes(quotes)}" if quotes else reason
            reason = f"{reason} ({remark})" if remark else reason
        quote = max(quotes, key=len, default="")
        decided[_claim_key(claim, passages)] = Verdict(
            state, quote, reason, "judge", quotes=tuple(quotes)
        )
    return decided, _read_answers(reply)


def _read_answers(reply: str) -> Answers | None:
    answers = _ANSWERED_LINE_RE.search(reply)
    return cast("Answers", answers[1].lower()) if answers else None


def read_disputes(reply: str, answer: str, rivals: Iterable[Passage]) -> list[dict[str, Any]]:
    """Parse a reply into the passages that disagree with an answer, as rows for the record.

    Lines that do not quote both the answer and a passage are skipped.
    """
    shown = {passage.id: passage for passage in rivals}
    rows: list[dict[str, Any]] = []
    for match in _DISPUTE_LINE_RE.finditer(reply):
        # The quoted words take precedence over the id: models confuse adjacent ids.
        named = [shown[match[2]]] if match[2] in shown else []
        found = ((p.id, find_words(match[3], p.text)) for p in (*named, *shown.values()))
        passage, quote = next((pair for pair in found if pair[1]), ("", ""))
        words = find_words(_CITATION_RE.sub("", match[1]), _CITATION_RE.sub("", answer))
        if quote and words:
            rows.append({"disputed": words, "passage": passage, "quote": quote})
    return rows


def _needs_quotation(
    verdict: Verdict | None, claim: str, cited: Sequence[Passage], evidence: Evidence
) -> bool:
    """Return whether there is no verdict, or its quotation is not about the claim."""
    if verdict is None or (verdict.state is VerdictState.DONE and not verdict.quotes):
        return True
    sources = [evidence.source(n) for n in _source_numbers(cited)]
    pages = [source for source in sources if source is not None]
    passages = [*cited, *(passage for page in pages for passage in page.passages)]
    return not verdict_counts(claim, verdict, passages, [page.title for page in pages])


def _quotation_request(
    decided: Mapping[ClaimKey, Verdict], claims: Claims, evidence: Evidence, *, asks_answer: bool
) -> str:
    """Write the note that asks the judge for missing quotations; "" if none are missing."""
    numbers = [
        str(number)
        for number, (claim, cited) in enumerate(claims.items(), 1)
        if _needs_quotation(decided.get(_claim_key(claim, cited)), claim, cited, evidence)
    ]
    lines = [prompt("judge-words").replace("{claims}", ", ".join(numbers))] if numbers else []
    if asks_answer:
        lines.append(prompt("judge-answer-missing"))
    return "\n\n".join(lines)


def _split_line(rest: str, texts: Sequence[str]) -> tuple[list[str], str]:
    """Split the text after a verdict into quotations and the judge's remark.

    Returns the quotations that occur in one of `texts`, spelled as they are there. A quotation may
    itself contain quotation marks, so the longest match from each opening mark is used.
    """
    marks = [i for i, character in enumerate(rest) if character in '"“”„']
    quotes: list[str] = []
    pieces, done, i = list[str](), 0, 0
    while i < len(marks) - 1:
        for end in reversed(marks[i + 1 :]):
            if found := _find_quotation(rest[marks[i] + 1 : end], texts):
                quotes += found
                pieces.append(rest[done : marks[i]])
                done = end + 1
                i = bisect_left(marks, done)
                break
        else:
            i += 1
    pieces.append(rest[done:])
    stripped = (piece.strip(" \t:;,.—–-*`()|") for piece in pieces)
    remark = "; ".join(
        p for p in stripped if p and not _JOINING_WORDS.issuperset(p.lower().split())
    )
    words = remark.split()
    if len(words) < 2:
        return quotes, ""  # a single word is not a reason
    cut = " …" if len(words) > _MAX_REASON_WORDS else ""
    return quotes, " ".join(words[:_MAX_REASON_WORDS]) + cut


def _find_quotation(quotation: str, texts: Sequence[str]) -> list[str]:
    """Find each part of a quotation in `texts`, as spelled there; empty if any part is missing."""
    parts = split_ellipses(quotation)
    found = [next(filter(None, (find_words(part, text) for text in texts)), "") for part in parts]
    return found if all(found) else []
