"""Replaying a run from its record alone: no model, no network, no browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.errors import ReplayDiverged, ResearchError
from agent.judge import Verdicts
from agent.loop import LoopResult
from agent.planner import Work
from agent.review import repaired
from agent.run.known import with_what_is_known
from agent.run.outcome import INTERRUPT, Ledger, failed, finished
from agent.run.stand_ins import Interrupted, RecordedBudget, RecordedCalls, RecordedModel
from agent.run.values import add_values
from agent.values import Schema

if TYPE_CHECKING:
    from typing import Any

    from agent.models import Message
    from agent.run.record import RunRecord
    from agent.types import Report


async def replay(record: RunRecord) -> Report:
    """Run again from the record to the same answer, byte for byte.

    Raises `ReplayDiverged` where the run would now ask its model or its tools something else.
    """
    ledger = Ledger(record.question)
    for event in record.events:
        ledger.note(event)
    budget = RecordedBudget(record)

    async def opening(_question: str, place: str) -> list[Message]:
        found = record.opening_at(place)
        if found is None:
            raise ReplayDiverged(f"the run begins a loop {place} that is not on record")
        return found

    calls = RecordedCalls(record)
    work = Work(
        RecordedModel(record),
        calls,
        budget,
        record.system,
        _nothing,
        opening,
        effort=record.effort,
        as_report=record.as_report,
        guided=True,
        context_window=record.context_window,
        objections=lambda _text, place: record.section_reviews.get(place),
    )
    evidence = record.evidence()
    try:
        result = await _result(work, record)
    except ReplayDiverged:
        raise
    except ResearchError as error:
        return failed(ledger, evidence, error, budget)
    report = finished(ledger, evidence, result, budget, Verdicts.of_rows(record.verdicts))
    if record.schema is not None:
        await add_values(report, result.text, Schema(record.schema), evidence, work)
    return report


async def _result(work: Work, record: RunRecord) -> LoopResult:
    """Work as then, to the answer or to where the run was interrupted."""
    try:
        result = await with_what_is_known(await work.answer(record.question), work.messages)
        if record.review is not None:
            result = await repaired(work, result, record.review, record.review_kept)
    except Interrupted:
        return await with_what_is_known(LoopResult("", INTERRUPT), work.messages)
    return result


def _nothing(_kind: str, _place: str = "", **_data: Any) -> None:
    """Record nothing: the record is there already."""
