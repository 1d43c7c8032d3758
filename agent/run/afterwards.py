"""What is kept of a run, and the jobs after its answer: on record like everything else."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.after import Aftermath, TurnDone
from agent.after.progress import DONE, PLACE, SETTLED, place
from agent.guard import Budget
from agent.model_client import ModelClient
from agent.models import Message, Task, takes
from agent.run.outcome import verified
from agent.run.resumed import ResumedModel, once_each

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from agent.after.turn import Ask
    from agent.context_builder import ContextBuilder
    from agent.memory import AnyMemory, Turn
    from agent.model_client import Record
    from agent.models import Model
    from agent.run.due import Due
    from agent.run.record import RunRecord

FACTS = "facts"


def now_ms() -> int:
    """Tell the time in milliseconds since the epoch."""
    return int(time.time() * 1000)


@dataclass(frozen=True, slots=True)
class Keeper:
    """A memory, and how it is called from its thread."""

    memory: AnyMemory
    in_thread: Callable[..., Awaitable[Any]]


async def do_jobs(
    record: RunRecord,
    due: Due,
    keeper: Keeper,
    model: Model | None,
    budget: Budget,
    write: Record,
) -> bool:
    """Keep what a run found out, and do its jobs; what was done or answered is not again.

    False where they want a language model, and there is none or no money for it: they stay due.
    """
    note = once_each(record, write)
    ask = _asking(ResumedModel(record, model), budget, note) if model else None
    return await _settled(keeper, due, ask, note)


async def _settled(keeper: Keeper, due: Due, ask: Ask | None, record: Record) -> bool:
    if FACTS not in due.progress.done:
        used = list(due.noted.used)
        await keeper.in_thread(keeper.memory.record_run, due.report, due.steps, used)
        record(DONE, place(FACTS))
    if due.noted.asks and ask is None:
        return False
    upkeep = keeper.memory.upkeep(due.session)
    turns = await keeper.in_thread(upkeep.turns)
    jobs = Aftermath(upkeep, keeper.in_thread, lambda: due.at_ms, record, ask, due.progress)
    await jobs.run(_turn_done(due, turns))
    record(SETTLED)
    return True


def _turn_done(due: Due, turns: Sequence[Turn]) -> TurnDone:
    report = due.report
    return TurnDone(
        tuple(_until(turns, report.question, report.answer)),
        due.noted.messages,
        due.shown,
        tainted=due.tainted,
        tools=tuple(line.partition(" ")[0] for line in due.steps),
        learns=True,
        verified=report.status == "answered" and verified(report),
    )


def _until(turns: Sequence[Turn], question: str, answer: str) -> Sequence[Turn]:
    """Give the conversation up to an answer: it may have gone on since."""
    said = [("user", question), ("assistant", answer)]
    ends = range(len(turns), 1, -1)
    pairs = ((end, [(t.role, t.text) for t in turns[end - 2 : end]]) for end in ends)
    return turns[: next((end for end, pair in pairs if pair == said), len(turns))]


async def keep_turns(
    opening: ContextBuilder, question: str, answer: str | None, *, resumed: bool
) -> None:
    """Keep what was said in the conversation; of a resumed run only what does not stand there."""
    context = opening.context
    if context.memory is None:
        return
    said = [("user", question), *([("assistant", answer)] if answer is not None else [])]
    if resumed:
        turns = await context.in_memory_thread(context.memory.turns, opening.session, len(said))
        kept = [(turn.role, turn.text) for turn in turns]
        same = (n for n in range(len(said), 0, -1) if kept[-n:] == said[:n])
        said = said[next(same, 0) :]
    for role, text in said:
        await context.in_memory_thread(context.memory.append_turn, opening.session, role, text)


def can_ask(model: Model, spent: Budget) -> bool:
    """Whether the jobs have a language model to ask, and money is left for it."""
    return takes(model, Task.AFTER) and (spent.usd is None or spent.spent < spent.usd)


def _asking(model: Model, spent: Budget, record: Record) -> Ask | None:
    if not can_ask(model, spent):
        return None

    async def ask(name: str, system: str, request: str) -> str:
        asker = ModelClient(model, system, Budget(whole=spent), record)
        return (await asker.ask(f"{PLACE}/{name}", [Message("user", request)])).text

    return ask
