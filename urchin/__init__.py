"""Urchin under a name of its own: `from urchin import research`.

The parts live in the packages `agent` and `browser`. A folder of yours with one of these names
hides ours; the import then fails with its path.
"""

from pathlib import Path

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

__all__ = ["Report", "__version__", "research", "research_sync"]
