"""Running the jobs after an answer: what they are asked is on record like everything else."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from agent.after import Aftermath, TurnDone
from agent.asking import Asker
from agent.guard import Budget
from agent.models import Message, Task, takes
from agent.run.outcome import verified

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.after.turn import Ask
    from agent.asking import Record
    from agent.models import Model
    from agent.opening import Opening
    from agent.planner import Work
    from agent.types import Report


def now_ms() -> int:
    """Tell the time in milliseconds since the epoch."""
    return int(time.time() * 1000)


async def after_answer(
    opening: Opening, work: Work, record: Record, report: Report, steps: Sequence[str]
) -> None:
    """Do what is due after an answer that was delivered and kept in the conversation.

    `steps` are what the run did, a line each, as a playbook tells it.
    """
    context = opening.context
    if context.memory is None:
        return
    upkeep = context.memory.upkeep(opening.session)
    turns = await context.in_memory_thread(upkeep.turns)
    done = TurnDone(
        tuple(turns),
        len(work.messages),
        opening.shown,
        tainted=not context.evidence.is_empty,
        tools=tuple(line.partition(" ")[0] for line in steps),
        learns=True,
        verified=report.status == "answered" and verified(report),
    )
    ask = _ask(work.model, work.budget, record)
    await Aftermath(upkeep, context.in_memory_thread, now_ms, record, ask).run(done)


async def keep_turns(opening: Opening, question: str, answer: str | None, *, resumed: bool) -> None:
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


def _ask(model: Model, spent: Budget, record: Record) -> Ask | None:
    """Give how a job asks; None where the model takes no such tasks, or the money is gone."""
    if not takes(model, Task.AFTER) or (spent.usd is not None and spent.spent >= spent.usd):
        return None

    async def ask(name: str, system: str, request: str) -> str:
        asker = Asker(model, system, Budget(whole=spent), record)
        return (await asker.ask(f"after/{name}", [Message("user", request)])).text

    return ask
