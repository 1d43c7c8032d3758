"""Asking another model the same question on the web that a run recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.config import options
from agent.run.execute import Given, execute

if TYPE_CHECKING:
    from pathlib import Path

    from agent.run.record import RunRecord
    from agent.types import Report


async def on_recorded_web(
    record: RunRecord,
    *,
    model: str | None,
    base_url: str | None = None,
    data_dir: Path | None = None,
    live: bool = False,
) -> Report:
    """Ask another model the same question, on the recorded web; gives a run of its own."""
    settings = {
        **record.started["options"],
        "model": model,
        "base_url": base_url,
        "data_dir": data_dir,
        "memory": False,
        "session": None,
        "continue_run": None,
    }
    given = Given(config=True, recorded=record, live=live)
    return await execute(record.question, options(settings), given)
