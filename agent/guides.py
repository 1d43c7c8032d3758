"""Helper texts that a conversation is given when it first uses what they are about.

They are appended to the results that they explain, never put into what was sent before: what a
provider has cached of the conversation stays usable. Which have been given depends on the calls
and their results alone, so that a replay gives the same ones.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.messages import prompt
from agent.protocol.results import failed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agent.protocol import CallResult

BROWSING, CITING, EXTRACTION, MEMORY, RESEARCH = GUIDES = (
    "browsing",
    "citing",
    "extraction",
    "memory",
    "research",
)
_LIVE = frozenset(
    "OPEN SNAPSHOT CLICK TYPE SELECT PRESS HOVER DRAG SCROLL BACK TABS PAGE_CONTEXT".split()
)
_REMEMBERING = frozenset("REMEMBER RECALL SEARCH_MEMORY memory_search memory_get".split())
_PASSAGE = re.compile(r"(?m)^S\d+¶\d+ ")
_ROWS = re.compile(r"(?m)(?:\|[^|\n]*){2}\|")


class Guides:
    """The guides that a conversation may still be given; those in its system prompt it has."""

    def __init__(self, system: str) -> None:
        texts = {name: prompt(name) for name in GUIDES}
        self._due = {name: text for name, text in texts.items() if text not in system}

    def after(self, results: Sequence[CallResult]) -> str:
        """Give what explains these results and was not given yet; empty where there is nothing."""
        good = [result for result in results if not failed(result.data)]
        names = [name for name in self._due if any(map(_ABOUT[name], good))]
        return "\n\n".join(f"<guide>\n{self._due.pop(name)}\n</guide>" for name in names)


_ABOUT: dict[str, Callable[[CallResult], bool]] = {
    BROWSING: lambda result: result.name in _LIVE,
    CITING: lambda result: bool(_PASSAGE.search(result.web)) or result.name == "OPEN",
    EXTRACTION: lambda result: bool(_ROWS.search(result.web)),
    MEMORY: lambda result: result.name in _REMEMBERING,
    RESEARCH: lambda result: result.name == "WEB_SEARCH",
}
