"""Records that come from elsewhere: what they say is replayed, what they ask for is not granted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from agent.run.record import RunRecord

HARMLESS: Final = frozenset(
    "depth report site since lang region max_steps max_sources timeout budget".split()
)
"""Settings of a run that reach nothing on this machine: no file, host, proxy, browser or memory."""


def without_reach(record: RunRecord) -> RunRecord:
    """Give the record of an archive without the settings that would open this machine to it.

    A run that goes on from it (another model, the live web) has its reach from the person's own
    settings, not from whoever made the archive.
    """
    asked = record.started.get("options", {})
    kept = {name: value for name, value in asked.items() if name in HARMLESS}
    return replace(record, started={**record.started, "options": kept})
