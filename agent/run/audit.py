"""`research audit`: a draft of somebody's own, held against what it cites.

An audit is a run whose answer is the draft: what the draft cites is read and kept, each sentence is
checked as the sentences of an answer are, and the report is shown and exported like any other.
"""

from __future__ import annotations

import asyncio
import os
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Unpack

from agent.config import host_port, private_folder
from agent.config import options as options_of
from agent.errors import ResearchError, UsageError
from agent.evidence.answer import check_answer
from agent.guard.model_client import ModelClient
from agent.journal.events import JUDGE
from agent.journal.runs import Runs
from agent.models.base import Task, takes
from agent.review.judge import Verdicts, judge, judge_system, open_claims
from agent.run.draft import SERVICES, ReferenceCheck, read_draft
from agent.run.models import find_model
from agent.run.research import Run
from agent.run.services import Given, RunServices
from agent.run.web import open_web
from agent.types import Report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from contextlib import AsyncExitStack
    from pathlib import Path

    from agent.journal.events import Event
    from agent.models.base import Model
    from agent.run.draft import Draft
    from agent.run.models import FoundModel
    from agent.run.settings import Flags

CLAIMS_AT_ONCE: Final = 10
"""Claims that a judge is asked about in one request: as many as a long answer has."""

drafted = partial(check_answer, drafted=True)
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
    settings = options_of(named, config=config)
    set_ = dict(one.partition("=")[::2] for one in settings.service)
    where = {**set_, **(services or {})}
    for name in where.keys() - SERVICES.keys():
        raise UsageError(f"there is no service {name!r}", hint=f"There are {', '.join(SERVICES)}.")
    private = (*settings.allow_private, *map(host_port, where.values()))
    settings = settings.model_copy(update={"allow_private": private})
    given = Given(on_event=on_event, config=config)
    found = find_model(settings, None, os.environ if config else {})
    runs = Runs(private_folder(settings.data))
    begun = RunServices.begin(f"Audit of {path.name}", settings, given, runs, None)
    try:
        return await Audit(begun, found, draft, {**SERVICES, **where}).to_report()
    finally:
        begun.journal.close()


class Audit(Run):
    """One draft on its way to a report; a failure ends as that of a run does."""

    def __init__(
        self, services: RunServices, model: FoundModel, draft: Draft, where: Mapping[str, str]
    ) -> None:
        super().__init__(services, model)
        self._draft = draft
        self._where = where

    async def _answered(self, stack: AsyncExitStack) -> Report:
        services, context = self._services, self._services.context
        services.started(self._model.name, services.folder.id, work="audit")
        opened = open_web(services.options, services.environ, services.record)
        web = context.web = await stack.enter_async_context(opened)
        checking = ReferenceCheck(context, web, self._where)
        references = await checking.all(self._draft.references)
        text = self._draft.cited_as(checking.places)
        note = services.journal.write
        model = await self._model.open_judge(stack)
        model = model or await self._model.open(stack, lambda why: note("note", text=why))
        verdicts = await self._judged(model, text)
        checked = await asyncio.to_thread(drafted, text, services.evidence, verdicts)
        numbers = {source.url: source.n for source in checked.sources}
        for reference, found in zip(self._draft.references, references, strict=True):
            found.source = numbers.get(checking.places.get(reference, ""))
        report = Report(
            run=services.ledger.run,
            question=services.question,
            status="answered",
            answer=checked.answer,
            confidence=None,
            sentences=list(checked.sentences),
            sources=list(checked.sources),
            references=references,
            usage=services.ledger.usage,
            elapsed_s=round(services.budget.elapsed(), 3),
        )
        return self._close(report)

    async def _judged(self, model: Model, text: str) -> Verdicts:
        """Ask the judge about what code leaves open, some claims at a time; as far as it goes.

        It is not asked about a sentence whose source could not be read: other pages decide nothing.
        """
        services, verdicts = self._services, Verdicts()
        if not takes(model, Task.JUDGE):
            return verdicts
        checked = await asyncio.to_thread(drafted, text, services.evidence)
        unread = {said for said, _ in checked.unread}
        unread -= {one.text for one in checked.sentences if one.citations}
        claims = await asyncio.to_thread(
            partial(open_claims, drafted=True), text, services.evidence
        )
        claims = {claim: cited for claim, cited in claims.items() if claim not in unread}
        for first in range(0, len(claims), CLAIMS_AT_ONCE):
            some = dict(list(claims.items())[first : first + CLAIMS_AT_ONCE])
            place = f"{JUDGE}/{first // CLAIMS_AT_ONCE + 1}"
            asker = ModelClient(model, judge_system(), services.budget, services.record)
            try:
                async with asyncio.timeout(services.budget.seconds_left(reserve=False)):
                    told = _around(some, checked.answer)
                    decided = await judge(asker, place, some, services.evidence, told)
            except (ResearchError, TimeoutError) as error:
                services.record("note", place, text=f"the judge failed: {error or 'timeout'}")
                break
            decided.answers = None
            verdicts = verdicts.joined(decided)
            services.record("judge", place, verdicts=decided.rows())
        return verdicts


def _around(claims: Iterable[str], text: str) -> str:
    """Give the paragraphs of a draft in which claims stand: what their “he” and “it” mean."""
    begun = [claim[:_FIRST_WORDS] for claim in claims]
    parts = text.split("\n\n")
    return "\n\n".join(part for part in parts if any(words in part for words in begun))
