"""`research audit`: a draft of somebody's own, held against what it cites.

An audit is a run whose answer is the draft: what the draft cites is read and kept, each sentence is
checked as the sentences of an answer are, and the report is shown and exported like any other.
"""

from __future__ import annotations

import asyncio
import itertools
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Unpack

from agent.config import host_port, load_options, private_folder
from agent.errors import ResearchError, UsageError
from agent.evidence.answer import PASSAGES_FOR_UNCITED, check_answer, report_source
from agent.evidence.verify import drop_unfounded_quote, verify_claim
from agent.guard.model_client import ModelClient
from agent.journal.events import JUDGE
from agent.journal.runs import Runs
from agent.loop.judge import Verdicts, by_sources, judge, judge_system, open_claims
from agent.models.base import Task, takes
from agent.run.draft import SERVICES, ReferenceChecker, read_draft
from agent.run.models import resolve_model
from agent.run.research import Run
from agent.run.services import Inputs, RunServices
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
    from agent.models.base import Model
    from agent.run.draft import Draft
    from agent.run.models import ResolvedModel
    from agent.types import Passage, Report, Verdict

CLAIMS_AT_ONCE: Final = 10
"""Claims that a judge is asked about in one request: as many as a long answer has."""

_LOOKED_AT: Final = 60
"""Passages among which the nearest of another page is looked for: those of its own come first."""
_FIRST_WORDS: Final = 24
"""Characters of a claim by which its paragraph is found: markers stand further on."""


async def audit(
    path: Path,
    *,
    bibliography: Path | None = None,
    services: Mapping[str, str] | None = None,
    model: str | None = None,
    on_event: Callable[[Event], None] | None = None,
    config: bool = False,
    **flags: Unpack[Flags],
) -> Report:
    """Audit a draft; `services` are addresses for those of `SERVICES`, `flags` as of `research`.

    Raises `UsageError` for a draft that cannot be read or cites nothing that can be looked up.
    """
    draft = read_draft(path, bibliography)
    named: dict[str, Any] = {**flags, "model": model, "memory": False}
    settings = load_options(named, config=config)
    where = {**dict(one.partition("=")[::2] for one in settings.service), **(services or {})}
    for name in where.keys() - SERVICES.keys():
        raise UsageError(f"there is no service {name!r}", hint=f"There are {', '.join(SERVICES)}.")
    private = (*settings.allow_private, *map(host_port, where.values()))
    settings = settings.model_copy(update={"allow_private": private})
    found = resolve_model(settings, None, os.environ if config else {})
    runs, inputs = Runs(private_folder(settings.data)), Inputs(on_event=on_event, config=config)
    async with RunServices(f"Audit of {path.name}", settings, inputs, runs) as begun:
        return await Audit(begun, found, draft, {**SERVICES, **where}).to_report()


class Audit(Run):
    """One draft on its way to a report; a failure ends as that of a run does."""

    def __init__(
        self, services: RunServices, model: ResolvedModel, draft: Draft, where: Mapping[str, str]
    ) -> None:
        super().__init__(services, model)
        services.evidence.question = ""  # a draft answers none
        self._draft = draft
        self._where = where
        self._requests = 0

    async def _answer(self, stack: AsyncExitStack) -> Report:
        services, context, evidence = (
            self._services,
            self._services.context,
            self._services.evidence,
        )
        services.write_start(self._model.name, services.folder.id, work="audit")
        opened = open_web(services.options, services.environ, services.record)
        web = context.web = await stack.enter_async_context(opened)
        checking = ReferenceChecker(context, web, self._where)
        references = await checking.check_all(self._draft.references)
        text = self._draft.with_addresses(checking.places)
        model = await self._model.open_judge(stack)
        model = model or await self._model.open(stack, lambda why: services.write("note", text=why))
        checked = await asyncio.to_thread(check_answer, text, evidence)
        if takes(model, Task.JUDGE):
            # Not about what could not be read: other pages decide nothing.
            unread = _unread(checked)
            claims = await asyncio.to_thread(open_claims, text, evidence)
            claims = {claim: cited for claim, cited in claims.items() if claim not in unread}
            verdicts = await self._ask_judge(model, claims, checked.answer)
            checked = await asyncio.to_thread(check_answer, text, evidence, verdicts)
        checked = _with_other_pages(checked, await self._elsewhere(model, checked), evidence)
        numbers = {source.url: source.n for source in checked.sources}
        for reference, found in references.items():
            found.source = numbers.get(checking.places.get(reference, ""))
        cited = [sentence for sentence in checked.sentences if sentence.citations]
        carried = sum(one.verdict is VerdictState.SUPPORTED for one in cited)
        report = services.ledger.new_report("answered")
        report.answer = checked.answer
        report.confidence = None
        report.confidence_parts.supported = round(carried / (len(cited) or 1), 3)
        report.sentences = list(checked.sentences)
        report.sources = list(checked.sources)
        report.references = list(references.values())
        return self._finish(report)

    async def _elsewhere(self, model: Model, checked: CheckedAnswer) -> dict[str, Verdict]:
        """Look on the other pages that were read for what its own does not carry: where it stands.

        Words that stand there decide it, or the judge, who is shown the page that is nearest.
        """
        evidence, found = self._services.evidence, {}
        near = await asyncio.to_thread(_on_other_pages, checked, evidence)
        for claim, passages in near.items():
            verdict = verify_claim(claim, passages)
            if verdict.state is VerdictState.SUPPORTED:
                found[claim] = verdict
        if takes(model, Task.JUDGE):
            left = {claim: cited for claim, cited in near.items() if claim not in found}
            verdicts = await self._ask_judge(model, left, checked.answer)
            for claim, passages in left.items():
                source = evidence.source(passages[0].source)
                said = drop_unfounded_quote(
                    verdicts(claim, passages), source.passages if source else ()
                )
                if said and said.state is VerdictState.SUPPORTED and said.passage:
                    found[claim] = said
        return found

    async def _ask_judge(
        self, model: Model, claims: Mapping[str, Sequence[Passage]], text: str
    ) -> Verdicts:
        """Ask the judge about claims, some at a time; as far as it goes."""
        services, verdicts, claims = self._services, Verdicts(), by_sources(claims)
        for first in range(0, len(claims), CLAIMS_AT_ONCE):
            some = dict(itertools.islice(claims.items(), first, first + CLAIMS_AT_ONCE))
            self._requests += 1
            place = f"{JUDGE}/{self._requests}"
            client = ModelClient(model, judge_system(), services.budget, services.record)
            try:
                async with asyncio.timeout(services.budget.seconds_left(reserve=False)):
                    told = _paragraphs_of(some, text)
                    decided = await judge(client, place, some, services.evidence, told)
            except (ResearchError, TimeoutError) as error:
                services.record("note", place, text=f"the judge failed: {error or 'timeout'}")
                break
            verdicts = verdicts.merge(decided)
            services.record("judge", place, verdicts=decided.rows())
        return verdicts


def _unread(checked: CheckedAnswer) -> set[str]:
    """Give the sentences that cite nothing but what could not be read."""
    said = {text for text, _ in checked.unread_citations}
    return said - {one.text for one in checked.sentences if one.citations}


def _on_other_pages(checked: CheckedAnswer, evidence: Evidence) -> dict[str, list[Passage]]:
    """Give the nearest passages of the nearest page that a sentence which is not carried omits."""
    unread, found = _unread(checked), {}
    urls = {source.n: source.url for source in checked.sources}
    for sentence in checked.sentences:
        cites = sentence.citations or sentence.text in unread
        if sentence.verdict is VerdictState.SUPPORTED or not cites:
            continue
        own = {urls[n] for n in sentence.citations}
        others = {source.n for source in evidence.sources if source.url not in own}
        ranked = evidence.search(sentence.text, _LOOKED_AT)
        passages = [passage for passage in ranked if passage.source in others]
        near = [passage for passage in passages if passage.source == passages[0].source]
        if near:
            found[sentence.text] = near[:PASSAGES_FOR_UNCITED]
    return found


def _with_other_pages(
    checked: CheckedAnswer, elsewhere: Mapping[str, Verdict], evidence: Evidence
) -> CheckedAnswer:
    """Tell of each sentence where else it stands, and a judge's no from what nobody decided."""
    sources = {source.url: source for source in checked.sources}
    unread, sentences = _unread(checked), []
    for sentence in checked.sentences:
        state, reason = sentence.verdict, sentence.reason
        if state is VerdictState.UNDECIDED and not sentence.citations:
            state = VerdictState.UNCITED
        if state is VerdictState.UNCITED and sentence.text in unread:
            state = VerdictState.UNDECIDED  # it cites something
        verdict = elsewhere.get(sentence.text)
        passage = evidence.passage((verdict and verdict.passage) or "")
        page = evidence.source(passage.source) if passage else None
        if verdict and page:
            source = sources.setdefault(page.url, report_source(len(sources) + 1, page, []))
            source.quotes += [verdict.quote] * (verdict.quote not in source.quotes)
            quote = " ".join(verdict.quote.split())
            reason = f"{reason}; it stands in [{source.n}]: “{quote}”"
        sentences.append(sentence.model_copy(update={"verdict": state, "reason": reason}))
    return replace(checked, sentences=tuple(sentences), sources=tuple(sources.values()))


def _paragraphs_of(claims: Iterable[str], text: str) -> str:
    """Give the paragraphs of a draft in which claims stand, each under its heading.

    They tell what “he” and “it” mean.
    """
    begun = [claim[:_FIRST_WORDS] for claim in claims]
    kept: dict[str, None] = {}
    heading = ""
    for part in text.split("\n\n"):
        heading = part if part.startswith("#") else heading
        if any(words in part for words in begun):
            kept.update(dict.fromkeys(filter(None, (heading, part))))
    return "\n\n".join(kept)
