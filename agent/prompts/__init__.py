"""Assembles system prompts from Markdown files, and gives guides when they are first needed."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from agent.limits import Depth
    from agent.types import Observation

WRAP_UP = (
    "[Limit reached: {limit}. No further tool runs. Give your best final answer now from what is "
    "known above, with citations, and say what is missing.]"
)
"""Sent once when a limit is reached."""
GO_ON = "[Note: go on: call a tool, or write the answer.]"
"""Sent after a reply that holds only thoughts."""
NUDGE = (
    "[Note: nothing was searched or read yet, so this rests on nothing. Call a tool now, such as "
    "{call}. A reply without a source is no answer.]"
)
"""Sent once, if the model answers without a call while nothing was read."""
UNREAD = (
    "[Note: pages were found, and none was read. Read the most promising ones before you give up.]"
)
"""Sent once, if the model gives up after searching without reading."""
PLAN_SPENT = (
    "[Note: the plan was for {steps} rounds, and two more are used. Answer now from what is known; "
    "only where one thing is still missing without which there is no answer, look for that.]"
)
"""Sent once, if a loop takes more steps than its plan."""
CUT = "[Note: that reply was cut off at its length limit. Write all of it again, shorter.]"
"""Sent once after a reply that was cut off."""
NESTED = (
    "[Note: a tool call stands inside another one, which cannot be. Where the outer call needs "
    "what the inner one finds, make that first, and write its result into the outer call.]"
)
"""Sent with the results of a reply that has a call inside a call."""
FORM = "[Note: a tool call in that reply cannot be read. Its form is {call}. Write it again.]"
"""Sent if the only call of a reply cannot be parsed."""
SEARCHES = "[Note: without a search there is no answer: the question itself is searched now.]"
CALL = '<<TOOL:WEB_SEARCH:{"query":"…"}>>'
"""An example call in the text protocol."""


class ToolLines(Protocol):
    """A set of tools that can describe itself; page tools are described separately."""

    def lines(self, *, on_page: bool = False) -> list[str]:
        """Describe the tools for an open page, or all others, one a line."""


def system_prompt(
    tools: ToolLines,
    *,
    native: bool = False,
    depth: Depth = "standard",
    guides: Iterable[str] = (),
    instruction: str = "",
    today: str = "",
) -> str:
    """Assemble the system prompt: core, how tools are called, the list of tools, guides, depth.

    With `native` tool calling the tools are not listed: the provider gets them as functions.
    `guides` are those that the run needs from the beginning. `instruction` is what the person adds
    for the whole run.
    """
    guides = list(guides)
    parts = [_read("core.md")]
    if native:
        parts.append(_read("functions.md"))
    else:
        parts += [_read("tags.md"), _TOOLS, *tools.lines()]
        if BROWSING in guides:
            parts += tools.lines(on_page=True)
    parts += [_read(f"{name}.md") for name in guides]
    if depth != "standard":
        parts.append(_read(f"{depth}.md"))
    if instruction:
        parts.append(f"The person adds: {instruction}\n")
    # The date comes last: everything before it stays the same every day, so providers cache it.
    if today:
        parts.append(f"Today is {today}.\n")
    return "\n".join(parts)


def prompt(name: str) -> str:
    """Read a prompt by its name, without a newline at the end."""
    return _read(f"{name}.md").rstrip("\n")


def _read(name: str) -> str:
    return resources.files("agent.prompts").joinpath(name).read_text(encoding="utf-8")


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
_TOOLS = "## Tools"
_PAGE_TOOLS = "## Tools on a page"


class Guides:
    """The guides that a conversation may still be given; those in its system prompt are left out.

    `page_tools` describes the tools that come with the browsing guide, unless the system prompt
    lists them already, or lists no tools because they are native functions. `tools` are the names
    that are recognised as calls in the tags of other protocols too.
    """

    def __init__(
        self, system: str, page_tools: Sequence[str] = (), tools: Collection[str] = ()
    ) -> None:
        self.tools = tools
        texts = {name: prompt(name) for name in GUIDES}
        if _TOOLS in system and page_tools and page_tools[0] not in system:
            texts[BROWSING] += "\n" + "\n".join([_PAGE_TOOLS, *page_tools])
        self._remaining = {name: text for name, text in texts.items() if text not in system}

    def after(self, results: Sequence[Observation]) -> str:
        """Return the guides for these results that were not given yet; empty for none."""
        successful = [result for result in results if not result.failed]
        names = [name for name in self._remaining if any(map(_APPLIES[name], successful))]
        return "\n\n".join(f"<guide>\n{self._remaining.pop(name)}\n</guide>" for name in names)


_APPLIES: dict[str, Callable[[Observation], bool]] = {
    BROWSING: lambda result: result.tool in _LIVE,
    CITING: lambda result: _names_passages(result.web) or result.tool == "OPEN",
    EXTRACTION: lambda result: any(line.count("|") > 2 for line in result.web.splitlines()),
    MEMORY: lambda result: result.tool in _REMEMBERING,
    RESEARCH: lambda result: result.tool == "WEB_SEARCH",
}


def _names_passages(web: str) -> bool:
    """Tell whether a line begins with the id of a passage: `S3¶12`."""
    return any(line[:1] == "S" and "¶" in line.partition(" ")[0] for line in web.splitlines())
