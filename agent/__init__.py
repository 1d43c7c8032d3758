"""Urchin: a browser research agent that links every sentence to the passage supporting it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.run.research import research, research_sync
    from agent.types import Report

__all__ = ["Report", "__version__", "research", "research_sync"]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Import names on demand, so that `research --help` loads only what it uses."""
    if name in ("research", "research_sync"):
        import agent.run.research as module  # noqa: PLC0415 - see above

        return getattr(module, name)
    if name == "Report":
        from agent.types import Report  # noqa: PLC0415 - see above

        return Report
    raise AttributeError(name)
