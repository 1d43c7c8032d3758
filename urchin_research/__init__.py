"""Urchin's public Python interface: `from urchin_research import research`.

The code is in the packages `agent` and `browser`. If your project has a folder with one of these
names, it hides the package, and the import fails with an error that names the folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import agent
import browser

for _part in (agent, browser):
    _place = Path(_part.__file__ or next(iter(_part.__path__), "")).resolve()
    if Path(__file__).resolve().parent.parent not in _place.parents:
        raise ImportError(
            f"{_place} hides Urchin's own package `{_part.__name__}`: rename it, or start Python "
            "from another folder"
        )

from agent import Report, __version__, research, research_sync  # noqa: E402 - after the check
from agent.errors import ResearchError, UsageError  # noqa: E402 - as above

if TYPE_CHECKING:
    from agent.run.streaming import Finished, Progress, SourceRead, TextPiece, batch, stream

_STREAMING = ("Finished", "Progress", "SourceRead", "TextPiece", "batch", "stream")

__all__ = [
    "Finished",
    "Progress",
    "Report",
    "ResearchError",
    "SourceRead",
    "TextPiece",
    "UsageError",
    "__version__",
    "batch",
    "research",
    "research_sync",
    "stream",
]


def __getattr__(name: str) -> object:
    """Import on demand, as `agent` does."""
    if name in _STREAMING:
        from agent.run import streaming  # noqa: PLC0415 - see above

        return getattr(streaming, name)
    raise AttributeError(name)
