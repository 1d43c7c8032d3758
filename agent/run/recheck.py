"""`research recheck`: checks an earlier report against the current pages, by sentence.

A recheck is a run with the earlier report's answer as its answer: the cited pages are read again,
saved, and searched for the words that support each sentence.
"""

from __future__ import annotations

import asyncio
import re
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Unpack

from agent.config import load_options
from agent.errors import UsageError
from agent.evidence.changes import LaterWording, compare_words, passages_in_place
from agent.evidence.verify import with_judge
from agent.journal.events import JUDGE
from agent.journal.runs import Runs
from agent.loop.judge import CLAIMS_PER_REQUEST, ClaimJudge
from agent.run.draft import service_addresses
from agent.run.pages_again import read_again, search_for_lost_quotes
from agent.run.report_to_recheck import open_earlier, quoted_pages
from agent.run.research import Run, run_question
from agent.run.services import Inputs
from agent.run.web import open_web
from agent.tools.sources import register_source
from agent.types import RecheckedSentence, Report, ReportSource, Verdict, VerdictState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AsyncExitStack
    from pathlib import Path

    from agent.config import Flags
    from agent.evidence.store import Source
    from agent.journal.events import Event
    from agent.run.models import ResolvedModel
    from agent.run.pages_again import RereadPage
    from agent.run.report_to_recheck import EarlierReport
    from agent.run.services import RunServices
    from agent.types import CheckState, Passage, Sentence

PASSAGES_JUDGED: Final = 4
"""Number of passages of the changed page, the most similar ones, that the judge sees per claim."""
PASSAGES_IN_PLACE: Final = 2
"""Number of passages shown because they replaced the old words: a rewording may share no words with
the claim.
"""
_STATE_PRECEDENCE: Final[dict[CheckState, int]] = {
    "contradicted": 0,
    "stands": 1,
    "moved": 2,
    "changed": 3,
    "not_checked": 4,
    "gone": 5,
}
"""Precedence of the states found on a sentence's sources: first a source that contradicts it now,
then one that still supports it. A sentence does not count as gone while one of its sources could
not be read.
"""
_STILL_SUPPORTED: Final = frozenset({"stands", "moved"})
_CITATION_RE = re.compile(r"\s?\[(\d{1,3})\]")


async def recheck(
    name: str | Path,
    *,
    model: str | None = None,
    on_event: Callable[[Event], None] | None = None,
    config: bool = False,
    **flags: Unpack[Flags],
) -> Report:
    """Check a report (of a run, in an archive, or a `report.json`) against the current pages.

    Takes the flags of `research`; `service` overrides addresses in `SERVICES`. Raises `UsageError`
    if the report does not exist or cites no page.
    """
    arguments: dict[str, Any] = {"fresh": True, **flags, "model": model, "memory": False}
    addresses, options = service_addresses(load_options(arguments, config=config))
    with open_earlier(str(name), Runs(options.data)) as earlier:
        if not any(quoted_pages(sentence, earlier.report) for sentence in earlier.report.claims):
            hint = "Only sentences that are supported by pages can be rechecked."
            raise UsageError(f"{earlier.name} contains nothing to recheck", hint=hint)
        make = partial(Recheck, earlier=earlier, archive=addresses["archive"])
        question = f"Recheck of {earlier.name}: {earlier.report.question}"
        return await run_question(question, options, Inputs(on_event=on_event, config=config), make)


class Recheck(Run):
    """The recheck of one report; `archive` is the Wayback Machine's address."""

    def __init__(
        self, services: RunServices, model: ResolvedModel, earlier: EarlierReport, archive: str
    ) -> None:
        super().__init__(services, model)
        services.evidence.question = ""  # the sentences are judged rather than the answer
        self._earlier = earlier
        self._archive = archive
        self._pages: dict[int, RereadPage] = {}  # by source number in the earlier report

    async def _answer(self, stack: AsyncExitStack) -> Report:
        services, report = self._services, self._earlier.report
        services.write_start(self._model.name, services.folder.id, work="recheck")

        # Read the cited pages again.
        opened = open_web(services.options, services.environ, services.record)
        web = services.context.web = await stack.enter_async_context(opened)
        quoted = [page for claim in report.claims for page in quoted_pages(claim, report)]
        sources = list({source.n: source for source in quoted}.values())
        self._pages = await read_again(services.context, web, self._earlier, sources)

        # Look for the quotes of each sentence; if they are gone, search other pages too.
        checked = await asyncio.to_thread(self._check_all)
        if lost := self._lost_pages(checked):
            await search_for_lost_quotes(services.context, web, self._archive, lost)
            checked = await asyncio.to_thread(self._check_all)
        await self._judge(stack, checked)
        return self._finish(self._new_report(checked))

    def _check_all(self) -> list[tuple[Sentence, RecheckedSentence]]:
        report = self._earlier.report
        return [(sentence, self._check(sentence)) for sentence in report.claims]

    def _check(self, sentence: Sentence) -> RecheckedSentence:
        """Determine whether the words that support a sentence are still on its pages."""
        quoted = quoted_pages(sentence, self._earlier.report)
        if not quoted:
            reason = "the sentence was not supported by a page that can be read again"
            return RecheckedSentence(text=sentence.text, state="not_checked", reason=reason)
        found = [self._check_on(sentence, self._pages[source.n]) for source in quoted]
        return min(found, key=lambda one: _STATE_PRECEDENCE[one.state])

    def _check_on(self, sentence: Sentence, page: RereadPage) -> RecheckedSentence:
        """Determine what happened to a sentence's words on one of its pages."""
        claim, then = sentence.text, page.earlier_source
        quotes = self._earlier.quotes(sentence, then)
        rows = [(words, self._on_page(claim, words, page)) for words in quotes]
        words, now = min(rows, key=lambda row: -_STATE_PRECEDENCE[row[1].state])
        if now.state in ("changed", "gone", "not_checked"):
            for other in (*page.other_sources, *self._read_sources(page.source)):
                if compare_words(claim, words, (), other.passages).state == "stands":
                    return self._rechecked_sentence(
                        claim, then, LaterWording("moved", words, words), other, other.url
                    )
        address = page.moved_to if now.state in _STILL_SUPPORTED else ""
        state = LaterWording("moved", new=now.new, passage=now.passage) if address else now
        row = self._rechecked_sentence(claim, then, state, page.source, address or now.heading)
        row.archived = page.archived
        return row

    def _on_page(self, claim: str, words: str, page: RereadPage) -> LaterWording:
        if page.saved is not None and page.saved.step:
            reason = "the page was read after one of the run's actions, which is not repeated"
            return LaterWording("not_checked", words, reason=reason)
        if page.source is not None:
            return compare_words(claim, words, page.saved_passages, page.source.passages)
        if page.is_gone:
            return LaterWording("gone", words, reason=f"the page is gone: {page.failure_reason}")
        return LaterWording(
            "not_checked", words, reason=f"the page could not be read: {page.failure_reason}"
        )

    def _read_sources(self, but: Source | None) -> list[Source]:
        """Return the current versions of the report's other pages."""
        found = (page.source for page in self._pages.values())
        return [source for source in found if source is not None and source is not but]

    @staticmethod
    def _rechecked_sentence(
        claim: str, then: ReportSource, now: LaterWording, source: Source | None, place: str
    ) -> RecheckedSentence:
        holds = None if now.state == "not_checked" else now.state in _STILL_SUPPORTED
        return RecheckedSentence(
            text=claim,
            state=now.state,
            holds=holds,
            # the number in this run; changed when the report is built
            source=source.n if source else None,
            url=then.url,
            old=now.old,
            new=now.new,
            now=place,
            reason=now.reason,
        )

    def _lost_pages(
        self, checked: Sequence[tuple[Sentence, RecheckedSentence]]
    ) -> list[tuple[RereadPage, str]]:
        """List the pages that no longer support their sentences, each with the lost words."""
        lost: dict[int, tuple[RereadPage, str]] = {}
        for _, row in checked:
            page = next((p for p in self._pages.values() if p.earlier_source.url == row.url), None)
            if page is not None and row.state in ("changed", "gone"):
                lost.setdefault(page.earlier_source.n, (page, row.old))
        return list(lost.values())

    async def _judge(
        self, stack: AsyncExitStack, checked: Sequence[tuple[Sentence, RecheckedSentence]]
    ) -> None:
        """Have the judge decide whether the changed pages still support their sentences."""
        services = self._services
        model = await self._model.open_judge(stack)
        if model is None:
            model = await self._model.open(stack, lambda why: services.write("note", text=why))
        judge = ClaimJudge(services.evidence, services.budget, services.record, model)
        claims: dict[str, list[Passage]] = {}
        rows = {row.text: row for _, row in checked if row.state in ("changed", "gone")}
        for claim, row in rows.items():
            if row.source is not None:
                claims[claim] = self._passages_to_judge(row)
        batches = range(0, len(claims), CLAIMS_PER_REQUEST)
        for number, start in enumerate(batches, 1):
            batch = dict(list(claims.items())[start : start + CLAIMS_PER_REQUEST])
            if not await judge.decide(batch, f"{JUDGE}/{number}"):
                break
        for claim, passages in claims.items():
            source = services.evidence.source(rows[claim].source or 0)
            open_verdict = Verdict(VerdictState.UNDECIDED, reason=rows[claim].reason)
            quotable = source.passages if source else ()
            decided = with_judge(claim, open_verdict, judge(claim, passages), quotable)
            if decided.state is VerdictState.SUPPORTED:
                rows[claim].state, rows[claim].holds = "changed", True
            elif decided.state is VerdictState.CONTRADICTED:
                rows[claim].state = "contradicted"
            else:
                continue
            rows[claim].new, rows[claim].reason = decided.quote, decided.reason

    def _passages_to_judge(self, row: RecheckedSentence) -> list[Passage]:
        """Return the passages that replaced the old words or are most similar to the sentence."""
        evidence = self._services.evidence
        source = evidence.source(row.source or 0)
        page = next((p for p in self._pages.values() if p.earlier_source.url == row.url), None)
        after = [p for p in source.passages if p.kind != "heading"] if source else []
        in_place = passages_in_place(row.old, page.saved_passages, after) if page else []
        similar = evidence.search(row.text, PASSAGES_JUDGED, row.source)
        return list(dict.fromkeys((*in_place[:PASSAGES_IN_PLACE], *similar)))

    def _new_report(self, checked: Sequence[tuple[Sentence, RecheckedSentence]]) -> Report:
        """Build the report: the earlier answer, the sources as they are now, and the changes."""
        services, earlier = self._services, self._earlier.report
        report = services.report_builder.new_report("answered")
        report.confidence = None

        # The sources keep their numbers. A source that was not read again is included as saved by
        # the earlier run.
        numbers: dict[int, int] = {}
        for then in earlier.sources:
            source = self._pages[then.n].source if then.n in self._pages else None
            if source is not None and source.n not in numbers:
                numbers[source.n] = then.n
                report.sources.append(source.for_report(then.n))
            elif source is None and (kept := self._copy_saved_source(then)) is not None:
                report.sources.append(then.model_copy(update={"sha256": kept.sha256}))
            elif source is not None:
                report.sources.append(source.for_report(then.n))
        by_number = {source.n: source for source in report.sources}
        for _, row in checked:
            source = services.evidence.source(row.source or 0)
            if source is not None and source.n not in numbers:  # the page that the words moved to
                numbers[source.n] = max([*by_number, *(s.n for s in earlier.sources)]) + 1
                by_number[numbers[source.n]] = source.for_report(numbers[source.n])
                report.sources.append(by_number[numbers[source.n]])
            row.source = numbers.get(row.source or 0)
            quoted = by_number.get(row.source or 0)
            if quoted and source and row.new in source.text and row.new not in quoted.quotes:
                quoted.quotes.append(row.new)

        rows = {row.text: row for _, row in checked}
        report.rechecked = list(rows.values())
        report.sentences = [
            _with_current_verdict(sentence, rows.get(sentence.text), set(by_number))
            for sentence in earlier.sentences
        ]
        report.answer = _CITATION_RE.sub(
            lambda match: match[0] if int(match[1]) in by_number else "", earlier.answer
        )
        claims = [row for row in report.rechecked if row.holds is not None]
        held = sum(bool(row.holds) for row in claims)
        report.confidence_parts.supported = round(held / (len(claims) or 1), 3)
        return report

    def _copy_saved_source(self, then: ReportSource) -> Source | None:
        """Copy a source as saved by the earlier run."""
        page = self._earlier.saved_page(then)
        return register_source(self._services.context, page) if page else None


def _with_current_verdict(
    sentence: Sentence, row: RecheckedSentence | None, numbers: set[int]
) -> Sentence:
    """Return a sentence with its verdict based on the current pages."""
    cited = [n for n in sentence.citations if n in numbers]
    if row is None or row.holds is True:
        if row is not None and row.source and row.source not in cited:
            cited.append(row.source)
        return sentence.model_copy(update={"citations": cited})
    state = sentence.verdict
    if row.state == "contradicted":
        state = VerdictState.CONTRADICTED
    elif sentence.holds:
        state = VerdictState.UNDECIDED
    reason = row.reason or sentence.reason
    return sentence.model_copy(update={"citations": cited, "verdict": state, "reason": reason})
