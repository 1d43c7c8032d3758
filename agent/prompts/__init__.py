"""Builds system prompts from Markdown files, and adds guides when they are first needed."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Protocol

from agent.types import ToolTrait

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from agent.types import Observation
    from agent.validation import Depth

WRAP_UP = (
    "[Limit reached: {limit}. No further tool runs. Give your best final answer now from what you "
    "have read above, with citations, and say what is missing.]"
)
"""Sent once when a limit is reached."""
GO_ON = "[Note: continue: call a tool, or write the answer.]"
"""Sent after a reply that contains only thoughts."""
NUDGE = (
    "[Note: you have not searched or read anything yet, so this answer has no source. Call a tool "
    "now, such as {call}.]"
)
"""Sent once, if the model answers without a call before anything was read."""
UNREAD_RESULTS_NOTE = (
    "[Note: the search found pages, and you read none. Read the most promising ones or search in "
    "other words before you give up.]"
)
"""Sent once, if the model gives up after searching without reading."""
PLAN_STEPS_USED_UP = (
    "[Note: the plan was for {steps} rounds, and you have used two more. Answer now from what you "
    "have read; look for something else only if there is no answer without it.]"
)
"""Sent once if a loop takes more steps than planned."""
CUT = "[Note: your reply was cut off at its length limit. Write all of it again, shorter.]"
"""Sent once after a reply that was cut off."""
NESTED = (
    "[Note: a tool call is inside another one, which does not work. If the outer call needs what "
    "the inner one finds, make the inner call first and put its result into the outer one.]"
)
"""Sent with the results of a reply that contains a nested call."""
UNREADABLE_CALL_NOTE = (
    "[Note: a tool call in your reply cannot be read. Its form is {call}. Write it again.]"
)
"""Sent if the only call of a reply cannot be parsed."""
SEARCHES = "[Note: an answer needs a search: the question itself is searched now.]"
EXAMPLE_CALL = '<<TOOL:WEB_SEARCH:{"query":"…"}>>'
"""An example call in the text protocol."""


class ToolLines(Protocol):
    """A set of tools that can produce its own description."""

    def lines(self) -> list[str]:
        """Describe the tools, one per line; for grouped tools, return only their names."""

    def names(self) -> list[str]:
        """Name the tools of each group, one line per group."""

    def groups(self) -> dict[str, dict[str, list[str]]]:
        """Return each group's `tools`, and the `lines` that describe them."""


def system_prompt(
    tools: ToolLines,
    *,
    native: bool = False,
    depth: Depth = "standard",
    guides: Iterable[str] = (),
    instruction: str = "",
    today: str = "",
) -> str:
    """Assemble the system prompt: core, tool-call format, tool list, guides, depth.

    With `native` tool calling, only tool groups are named: the provider receives the other tools as
    functions. `guides` are the guides that the run needs from the start. `instruction` is text that
    the user adds to every run.
    """
    guides = list(guides)
    parts = [_read("core.md"), _read("functions.md" if native else "tags.md")]
    if native and (names := tools.names()):
        parts += [_MORE_FUNCTIONS, *names, ""]
    elif not native:
        parts += [_TOOLS, *tools.lines(), ""]
    parts += [_read(f"{name}.md") for name in guides]
    if BROWSING in guides:
        parts += [*tools.groups().get(_BROWSER, {}).get("lines", ()), ""]
    if depth != "standard":
        parts.append(_read(f"{depth}.md"))
    if instruction:
        parts.append(f"The user adds: {instruction}\n")
    # The date comes last: everything before it stays the same every day, so providers cache it.
    if today:
        parts.append(f"Today is {today}.\n")
    return "\n".join(parts)


def prompt(name: str) -> str:
    """Read a prompt by its name, without its trailing newline."""
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
_BROWSER = "BROWSER"
_COMPUTING = "COMPUTING"
_TOOLS = """## Tools
`?` marks an optional field. The lower lines only name tools: call one to see its details.
"""
_MORE_FUNCTIONS = """## More tools
Called through the function CALL_TOOL; call one to see its details. `?` marks an optional field.
"""
_TOOL_DETAILS_HEADING = "Tools; `?` marks an optional field:"


class Guides:
    """The help that a conversation has not received yet: guides, and details of grouped tools.

    Help that is already in its system prompt is omitted. `groups` are the run's tool groups, as
    `ToolLines.groups` describes them. `tools` are the tool names that are also recognised in other
    protocols' tags.
    """

    def __init__(
        self,
        system: str,
        groups: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
        tools: Collection[str] = (),
    ) -> None:
        self.tools = tools
        texts = {name: prompt(name) for name in GUIDES}
        self._remaining = {name: text for name, text in texts.items() if text not in system}
        self._groups = {
            name: group
            for name, group in (groups or {}).items()
            if not any(line in system for line in group["lines"])
        }

    def after(self, results: Sequence[Observation]) -> str:
        """Return the help for these results, without help already given; "" if there is none."""
        successful = [result for result in results if not result.failed]
        names = [name for name in self._remaining if any(map(_GUIDE_CONDITIONS[name], successful))]
        texts = [self._remaining.pop(name) for name in names]
        # Failed calls count too: they may have failed because the model did not know the details.
        called = {result.tool for result in results}
        for name, group in list(self._groups.items()):
            guide = _GUIDE_BY_GROUP.get(name)
            if guide in names or (guide != BROWSING and not called.isdisjoint(group["tools"])):
                texts.append("\n".join([_TOOL_DETAILS_HEADING, *self._groups.pop(name)["lines"]]))
        return "\n\n".join(f"<guide>\n{text}\n</guide>" for text in texts)


_GUIDE_BY_GROUP = {_BROWSER: BROWSING, _COMPUTING: EXTRACTION}
"""Maps tool groups to the guides that come with them."""
_GUIDE_CONDITIONS: dict[str, Callable[[Observation], bool]] = {
    BROWSING: lambda result: ToolTrait.ON_PAGE in result.traits,
    CITING: lambda result: _has_passage_ids(result.web) or ToolTrait.SHOWS_PAGE in result.traits,
    EXTRACTION: lambda result: any(line.count("|") > 2 for line in result.web.splitlines()),
    MEMORY: lambda result: ToolTrait.REMEMBERS in result.traits,
    RESEARCH: lambda result: ToolTrait.SEARCHES in result.traits,
}


def _has_passage_ids(web: str) -> bool:
    """Return whether a line begins with a passage id: `S3¶12`."""
    return any(line[:1] == "S" and "¶" in line.partition(" ")[0] for line in web.splitlines())
