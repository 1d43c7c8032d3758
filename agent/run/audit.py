"""`research audit`: checks a draft against the pages that it cites.

An audit is a run with the draft as its answer: the cited pages are read and saved, each sentence is
checked as in any answer, and the report is shown and exported as usual.
"""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Unpack

from agent.config import load_options
from agent.evidence.answer import PASSAGES_FOR_UNCITED, SourceList, check_answer
from agent.evidence.verify import verify_claim, with_judge
from agent.journal.events import JUDGE
from agent.loop.judge import CLAIMS_PER_REQUEST, ClaimJudge, find_undecided_claims, group_by_sources
from agent.run.draft import ReferenceChecker, read_draft, service_addresses
from agent.run.research import Run, run_question
from agent.run.services import Inputs
from agent.run.web import open_web
from agent.types import VerdictState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AsyncExitStack
    from pathlib import Path

    from agent.config import Flags
    from agent.evidence.answer import CheckedAnswer
    from agent.evidence.store import Evidence
    from agent.journal.events import Event
    from agent.run.draft import Draft
    from agent.run.models import ResolvedModel
    from agent.run.services import RunServices
    from agent.types import Passage, Report, Verdict

_RANKED_PASSAGES: Final = 60
"""Number of most similar passages among which one on another page is sought; passages of the cited
page rank first.
"""
_CLAIM_PREFIX_CHARS: Final = 24
"""Number of characters of a claim used to find its paragraph; citation markers come after them."""


async def audit(
    path: Path,
    *,
    bibliography: Path | None = None,
    model: str | None = None,
    on_event: Callable[[Event], None] | None = None,
    config: bool = False,
    **flags: Unpack[Flags],
) -> Report:
    """Audit a draft; takes the flags of `research`. `service` overrides addresses in `SERVICES`.

    Raises `UsageError` if the draft cannot be read, or none of its citations can be looked up.
    """
    draft = read_draft(path, bibliography)
    arguments: dict[str, Any] = {**flags, "model": model, "memory": False}
    options = load_options(arguments, config=config)
    addresses, options = service_addresses(options)
    inputs = Inputs(on_event=on_event, config=config)
    make = partial(Audit, draft=draft, addresses=addresses)
    return await run_question(f"Audit of {path.name}", options, inputs, make)


class Audit(Run):
    """The audit of one draft; `addresses` maps services to URLs. Errors become a failed report."""

    def __init__(
        self,
        services: RunServices,
        model: ResolvedModel,
        draft: Draft,
        addresses: Mapping[str, str],
    ) -> None:
        super().__init__(services, model)
        services.evidence.question = ""  # a draft does not answer a question
        self._draft = draft
        self._addresses = addresses
        self._requests = 0

    async def _answer(self, stack: AsyncExitStack) -> Report:
        services = self._services
        context, evidence = services.context, services.evidence
        services.write_start(self._model.name, services.folder.id, work="audit")

        # Read the cited pages.
        opened = open_web(services.options, services.environ, services.record)
        web = context.web = await stack.enter_async_context(opened)
        checker = ReferenceChecker(context, web, self._addresses)
        references = await checker.check_all(self._draft.references)
        text = self._draft.with_addresses(checker.page_urls)

        # Check each sentence by code, then ask the judge about the undecided ones.
        model = await self._model.open_judge(stack)
        if model is None:
            model = await self._model.open(stack, lambda why: services.write("note", text=why))
        judge = ClaimJudge(evidence, services.budget, services.record, model)
        checked = await asyncio.to_thread(check_answer, text, evidence)
        if judge.can_judge:
            # If the cited page could not be read, the sentence cannot be judged.
            unread = _unread_sentences(checked)
            claims = await asyncio.to_thread(find_undecided_claims, text, evidence)
            claims = {claim: cited for claim, cited in claims.items() if claim not in unread}
            await self._decide(judge, claims, checked.answer)
            checked = await asyncio.to_thread(check_answer, text, evidence, judge)
        checked = _with_other_pages(checked, await self._find_elsewhere(judge, checked), evidence)

        # Build the report.
        numbers = {source.url: source.n for source in checked.sources}
        for reference, checked_reference in references.items():
            checked_reference.source = numbers.get(checker.page_urls.get(reference, ""))
        cited = [sentence for sentence in checked.sentences if sentence.citations]
        supported = sum(sentence.verdict is VerdictState.SUPPORTED for sentence in cited)
        report = services.report_builder.new_report("answered")
        report.answer = checked.answer
        report.confidence = None
        report.confidence_parts.supported = round(supported / (len(cited) or 1), 3)
        report.sentences = list(checked.sentences)
        report.sources = list(checked.sources)
        report.references = list(references.values())
        return self._finish(report)

    async def _find_elsewhere(
        self, judge: ClaimJudge, checked: CheckedAnswer
    ) -> dict[str, Verdict]:
        """Find another page for each sentence that is not supported by the pages that it cites.

        Returns the verdicts by sentence. If the most similar page contains the sentence's words,
        the rules decide; otherwise the judge does.
        """
        evidence, found = judge.evidence, {}
        near = await asyncio.to_thread(_nearest_on_other_pages, checked, evidence)
        by_code = {claim: verify_claim(claim, passages) for claim, passages in near.items()}
        open_ones = {
            claim: near[claim]
            for claim, verdict in by_code.items()
            if verdict.state is not VerdictState.SUPPORTED
        }
        await self._decide(judge, open_ones, checked.answer)
        for claim, verdict in by_code.items():
            source = evidence.source(near[claim][0].source)
            page = source.passages if source else ()
            if claim in open_ones:
                verdict = with_judge(claim, verdict, judge(claim, near[claim]), page)  # noqa: PLW2901
            if verdict.state is VerdictState.SUPPORTED and verdict.passage:
                found[claim] = verdict
        return found

    async def _decide(
        self, judge: ClaimJudge, claims: Mapping[str, Sequence[Passage]], text: str
    ) -> None:
        """Have the judge decide claims in batches; if a batch fails, the rest stay undecided."""
        claims = group_by_sources(claims)
        for start in range(0, len(claims), CLAIMS_PER_REQUEST):
            batch = dict(itertools.islice(claims.items(), start, start + CLAIMS_PER_REQUEST))
            self._requests += 1
            place = f"{JUDGE}/{self._requests}"
            if not await judge.decide(batch, place, _paragraphs_of(batch, text)):
                break


def _unread_sentences(checked: CheckedAnswer) -> set[str]:
    """Return the sentences for which none of the cited pages could be read."""
    unread = {text for text, _ in checked.unread_citations}
    return unread - {sentence.text for sentence in checked.sentences if sentence.citations}


def _nearest_on_other_pages(checked: CheckedAnswer, evidence: Evidence) -> dict[str, list[Passage]]:
    """Find the most similar uncited page for each unsupported sentence.

    Returns that page's most similar passages, by sentence. Sentences without a citation are
    omitted.
    """
    unread, found = _unread_sentences(checked), {}
    urls = {source.n: source.url for source in checked.sources}
    for sentence in checked.sentences:
        has_citation = sentence.citations or sentence.text in unread
        if sentence.verdict is VerdictState.SUPPORTED or not has_citation:
            continue
        cited = {urls[n] for n in sentence.citations}
        others = {source.n for source in evidence.sources if source.url not in cited}
        ranked = evidence.search(sentence.text, _RANKED_PASSAGES)
        passages = [passage for passage in ranked if passage.source in others]
        near = [passage for passage in passages if passage.source == passages[0].source]
        if near:
            found[sentence.text] = near[:PASSAGES_FOR_UNCITED]
    return found


def _with_other_pages(
    checked: CheckedAnswer, elsewhere: Mapping[str, Verdict], evidence: Evidence
) -> CheckedAnswer:
    """Add any other page that supports a sentence, and adjust the verdicts for a draft."""
    sources = SourceList(checked.sources)
    unread, sentences = _unread_sentences(checked), []
    for sentence in checked.sentences:
        state, reason = sentence.verdict, sentence.reason
        # A sentence counts as uncited if it has no reference at all, but not if its page could not
        # be read.
        if state is VerdictState.UNDECIDED and not sentence.citations:
            state = VerdictState.UNCITED
        if state is VerdictState.UNCITED and sentence.text in unread:
            state = VerdictState.UNDECIDED
        verdict = elsewhere.get(sentence.text)
        passage = evidence.passage((verdict and verdict.passage) or "")
        page = evidence.source(passage.source) if passage else None
        if verdict and page:
            source = sources.add(page, verdict.quote)
            quote = " ".join(verdict.quote.split())
            reason = f"{reason}; it is in [{source.n}]: “{quote}”"
        sentences.append(sentence.model_copy(update={"verdict": state, "reason": reason}))
    return replace(checked, sentences=tuple(sentences), sources=tuple(sources))


def _paragraphs_of(claims: Iterable[str], text: str) -> str:
    """Return the paragraphs of a draft that contain claims, each with its heading.

    The judge needs the paragraphs to know what “he” and “it” mean.
    """
    beginnings = [claim[:_CLAIM_PREFIX_CHARS] for claim in claims]
    kept: dict[str, None] = {}
    heading = ""
    for part in text.split("\n\n"):
        heading = part if part.startswith("#") else heading
        if any(beginning in part for beginning in beginnings):
            kept |= {piece: None for piece in (heading, part) if piece}
    return "\n\n".join(kept)
