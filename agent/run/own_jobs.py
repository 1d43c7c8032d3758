"""The jobs of a run itself: claimed before its end is on record, done behind it."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from agent.journal.unsettled import Unsettled
from agent.run.afterwards import Keeper, can_ask, do_jobs
from agent.run.due import Due, Noted
from agent.run.left_behind import LeftBehind
from agent.run.memory import name_of
from agent.run.record import RunRecord

if TYPE_CHECKING:
    from agent.config import Options
    from agent.context_builder import ContextBuilder
    from agent.journal import RunFolder
    from agent.journal.unsettled import Claim
    from agent.model_client import Record
    from agent.planner import Work

ONLY_HERE = ""
"""The name of a memory that a caller brought: no other run can open it."""


@dataclass(slots=True)
class OwnJobs:
    """What a run does when its answer was delivered; a kill in between loses none of it."""

    keeper: Keeper
    noted: Noted
    claim: Claim | None

    @classmethod
    async def claimed(
        cls,
        opening: ContextBuilder,
        work: Work,
        options: Options,
        folder: RunFolder,
        *,
        brought: bool,
    ) -> OwnJobs | None:
        """Take up the jobs, so that no other process does; None without a memory."""
        context = opening.context
        if context.memory is None:
            return None
        layers = opening.layers
        noted = Noted(
            len(work.messages),
            tuple(hit.id for hit in layers.recalled) if layers else (),
            ONLY_HERE if brought else name_of(options),
            can_ask(work.model, work.budget),
        )
        unsettled = Unsettled(options.data)
        claim = None if brought else await asyncio.to_thread(unsettled.claim, folder.id)
        return cls(Keeper(context.memory, context.in_memory_thread), noted, claim)

    def as_noted(self) -> dict[str, Any]:
        """What stands beside the end of the run."""
        return asdict(self.noted)

    async def done(self, folder: RunFolder, work: Work, options: Options, write: Record) -> None:
        """Do them, behind those that killed runs have left on the same memory."""
        name, model, budget = self.noted.memory, work.model, work.budget
        if self.claim:
            await LeftBehind(options.data, self.keeper, name, model, budget).finish()
        record = await asyncio.to_thread(RunRecord.read, folder)
        due = Due.of(record)
        assert due is not None, "they were noted with the end of the run"
        try:
            settled = await do_jobs(record, due, self.keeper, model, budget, write)
            if settled and self.claim:
                self.claim.settle()
        finally:
            if self.claim:
                self.claim.let_go()
