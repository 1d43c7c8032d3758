"""Prompts: Markdown files, readable as prose, put into a system prompt or given when needed."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Protocol

from agent.protocol.results import failed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from agent.limits import Depth
    from agent.protocol.results import CallResult

WRAP_UP = (
    "[Limit reached: {limit}. No further tool runs. Give your best final answer now from what is "
    "known above, with citations, and say what is missing.]"
)
"""Asked once when a bound is reached."""
GO_ON = "[Note: go on: call a tool, or write the answer.]"
"""Said after a turn that only thought."""
NUDGE = (
    "[Note: nothing was searched or read yet, so this rests on nothing. Call a tool now, such as "
    "{call}. Where the request needs no source at all, write the same reply again.]"
)
"""Said once, to a first reply without a call while nothing was read."""
UNREAD = (
    "[Note: pages were found, and none was read. Read the most promising ones before you give up.]"
)
"""Said once, to a model that gives up after a search alone."""
PLAN_SPENT = (
    "[Note: the plan was for {steps} rounds, and two more are used. Answer now from what is known; "
    "only where one thing is still missing without which there is no answer, look for that.]"
)
"""Said once, to a loop that goes beyond its plan."""
FORM = "[Note: a tool call in that reply cannot be read. Its form is {call}. Write it again.]"
"""Said to a reply whose only call cannot be read."""
SEARCHES = "[Note: NOT_FOUND before any search is no end: the question itself is searched now.]"
CALL = '<<TOOL:WEB_SEARCH:{"query":"…"}>>'
"""A call as the text protocol writes it."""


class ToolLines(Protocol):
    """The tools there are, a line each; those for an open page apart."""

    def lines(self, *, on_page: bool = False) -> list[str]:
        """Describe them."""


def system_prompt(
    tools: ToolLines,
    *,
    native: bool = False,
    depth: Depth = "standard",
    guides: Iterable[str] = (),
    instruction: str = "",
    today: str = "",
) -> str:
    """Assemble the system prompt: core, how tools are called, the tools there are.

    Offered as functions (`native`), tools are described with the functions. A depth other than
    the standard one says how far to go; `guides` are those that the run needs from its beginning.
    `instruction` is what the person adds for the whole run.
    `today` (a date) comes last: what stands before it is the same every day, and is cached.
    """
    guides = list(guides)
    calling = [_read("functions.md")] if native else [_read("tags.md"), _TOOLS, *tools.lines()]
    if BROWSING in guides and not native:
        calling += tools.lines(on_page=True)
    further = [f"{name}.md" for name in guides] + ([f"{depth}.md"] if depth != "standard" else [])
    added = [f"The person adds: {instruction}\n"] if instruction else []
    date = [f"Today is {today}.\n"] if today else []
    return "\n".join([_read("core.md"), *calling, *map(_read, further), *added, *date])


def prompt(name: str) -> str:
    """Read a prompt by its name."""
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
    """The guides that a conversation may still be given; those in its system prompt it has.

    `page_tools` are the lines of the tools that are told of with the first page: not where the
    system prompt has them, nor where it lists no tools, since they are functions then. `tools` are
    the names that a model may call in forms of other protocols.
    """

    def __init__(
        self, system: str, page_tools: Sequence[str] = (), tools: Collection[str] = ()
    ) -> None:
        self.tools = tools
        texts = {name: prompt(name) for name in GUIDES}
        if _TOOLS in system and page_tools and page_tools[0] not in system:
            texts[BROWSING] += "\n" + "\n".join([_PAGE_TOOLS, *page_tools])
        self._due = {name: text for name, text in texts.items() if text not in system}

    def after(self, results: Sequence[CallResult]) -> str:
        """Return what explains these results and was not given yet; empty where nothing does."""
        good = [result for result in results if not failed(result.data)]
        names = [name for name in self._due if any(map(_ABOUT[name], good))]
        return "\n\n".join(f"<guide>\n{self._due.pop(name)}\n</guide>" for name in names)


_ABOUT: dict[str, Callable[[CallResult], bool]] = {
    BROWSING: lambda result: result.name in _LIVE,
    CITING: lambda result: _names_passages(result.web) or result.name == "OPEN",
    EXTRACTION: lambda result: any(line.count("|") > 2 for line in result.web.splitlines()),
    MEMORY: lambda result: result.name in _REMEMBERING,
    RESEARCH: lambda result: result.name == "WEB_SEARCH",
}


def _names_passages(web: str) -> bool:
    """Return whether a line begins with the id of a passage: `S3¶12`."""
    return any(line[:1] == "S" and "¶" in line.partition(" ")[0] for line in web.splitlines())
