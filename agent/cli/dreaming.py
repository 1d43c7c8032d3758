"""Consolidating memory by itself, when the answer is printed and nobody waits for anything."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.config import Options

SECONDS = 2.0  # what a person does not mind between the answer and the prompt
_RUN_ENDED = frozenset({0, 3, 4, 5})
"""Exit codes of runs that came to an end and may have left something."""


def dream_after(code: int, settings: Options, *, quiet: bool) -> None:
    """Consolidate after a run, if it is due; never for a pipe (`-q`), nor in CI."""
    if quiet or os.environ.get("CI") or not settings.memory or code not in _RUN_ENDED:
        return
    from agent.memory import Memory  # noqa: PLC0415 - a run without memory does not load it

    with Memory.open(settings.data / "memory.db", settings.namespace) as memory:
        if memory.dream_due():
            memory.dream(SECONDS)
