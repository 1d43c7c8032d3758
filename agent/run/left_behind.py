"""Finishing the jobs of runs that were killed behind their answers."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agent.errors import JournalError, UsageError
from agent.guard import Budget, Redactor, secrets_of
from agent.journal import Journal, RunFolder, Runs
from agent.journal.unsettled import Unsettled
from agent.run.afterwards import do_jobs
from agent.run.due import Due
from agent.run.models import RedactingModel
from agent.run.record import RunRecord

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from agent.journal import Event
    from agent.journal.unsettled import Claim
    from agent.models import Model
    from agent.run.afterwards import Keeper

AT_ONCE = 3
"""Runs whose jobs a later run does beside its own; the one after it goes on."""


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """Does the jobs of earlier runs on one memory (`name`), with a model or none."""

    data: Path
    keeper: Keeper
    name: str
    model: Model | None = None
    budget: Budget = field(default_factory=Budget)

    async def finish(self) -> int:
        """Do what was left behind by processes that are gone; gives how many runs are settled."""
        settled = 0
        for claim in Unsettled(self.data).claims():
            try:
                settled += await self._settled(claim)
            finally:
                claim.let_go()
            if settled == AT_ONCE:
                break
        return settled

    async def finish_one(
        self, record: RunRecord, on_event: Callable[[Event], None] | None = None
    ) -> None:
        """Do what is left of one run. Raises `UsageError` while another process is at it."""
        claim = Unsettled(self.data).claim(record.folder.id)
        if claim is None:
            hint = "Its answer stands: `research show` shows it."
            raise UsageError(f"another process is still at it: {record.folder.id}", hint=hint)
        try:
            await self._done(record, claim, on_event)
        finally:
            claim.let_go()

    async def _settled(self, claim: Claim) -> bool:
        try:
            record = RunRecord.read(RunFolder(Runs(self.data).root / claim.run))
        except JournalError:  # it was deleted, or cannot be read: nothing can be done for it
            claim.settle()
            return False
        return await self._done(record, claim)

    async def _done(
        self, record: RunRecord, claim: Claim, on_event: Callable[[Event], None] | None = None
    ) -> bool:
        """Do the jobs of a run; one that came to no end, or is sealed, has none to do."""
        due = Due.of(record)
        if due is None or record.folder.stamps():
            claim.settle()
            return False
        if due.noted.memory != self.name:
            return False
        with closing(Journal(record.folder)) as journal:
            if on_event:
                journal.listen(on_event)
            done = await self._jobs(record, due, journal)
        if done:
            claim.settle()
        return done

    async def _jobs(self, record: RunRecord, due: Due, journal: Journal) -> bool:
        redactor = Redactor(secrets_of(os.environ))

        def write(kind: str, place: str = "", **data: Any) -> None:
            journal.write(kind, place, **redactor.value(data))

        model = RedactingModel(self.model, redactor) if self.model else None
        return await do_jobs(record, due, self.keeper, model, self.budget, write)
