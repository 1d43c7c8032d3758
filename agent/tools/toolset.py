"""Which tools there are, which of them a run has, and whose words each brings."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from agent.config import plugged
from agent.errors import UsageError
from agent.guard.provenance import SEARCH, SERVER, Kind, Provenance, words_but
from agent.prompts import Guides
from agent.protocol.results import failed
from agent.tools.action_tools import ACTING_TOOLS, DOWNLOAD_TOOLS
from agent.tools.memory_tools import GOAL_TOOLS, MEMORY_TOOLS
from agent.tools.page_tools import LOOKING_TOOLS, SOLVING_TOOLS, open_page
from agent.tools.person import PERSON_TOOLS
from agent.tools.registry import Registry, Tool, ToolSource
from agent.tools.skill_tools import SKILL_TOOLS, read_skill
from agent.tools.web_tools import CRAWL_TOOLS, WEB_TOOLS
from agent.tools.wiki_tools import WIKI_TOOLS
from browser.net.url import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from agent.config import Options
    from agent.protocol.results import Caller, CallResult
    from agent.tools.context import ToolContext
    from agent.types import Observation, ToolCall


@dataclass(frozen=True, slots=True)
class Selected:
    """Every tool once, with the reason why it is off, or "" where it is on; and what was odd.

    `refused` are those that a rule keeps off: a call is told so. The others are unknown to a run.
    """

    rows: tuple[tuple[Tool, str], ...]
    told: tuple[str, ...] = ()
    refused: frozenset[str] = frozenset()

    def registry(self) -> Registry:
        """Give the tools that are on."""
        on = [tool for tool, why in self.rows if not why]
        return Registry(on, {t.name: why for t, why in self.rows if t.name in self.refused})

    def as_noted(self, options: Options) -> dict[str, Any]:
        """Say for the record which tools a run has, by what rules, and why not the others."""
        sources = {
            source.value: [
                tool.name for tool, why in self.rows if not why and tool.source is source
            ]
            for source in ToolSource
        }
        return {
            "on": {source: names for source, names in sources.items() if names},
            "off": {tool.name: why for tool, why in self.rows if why},
            "policy": {name: getattr(options, name) for name in _RULES},
            "diagnostics": list(self.told),
        }


_RULES = (
    *("tool_sources", "tool_allow", "tool_deny", "mcp_tool_allow", "mcp_tool_deny"),
    *("memory_tool_allow", "memory_tool_deny"),
)


def select(
    there: Iterable[tuple[Tool, str]], options: Options, told: Iterable[str] = ()
) -> Selected:
    """Decide about tools; of two that are named alike the first counts. Given by source.

    Each comes with the reason why this run has no use for it, "" where it has; `told` are further
    diagnostics.
    """
    rows: dict[str, tuple[Tool, str]] = {}
    told, refused = [*told], set[str]()
    for tool, useless in there:
        key = _plain(tool.name)
        if key in rows:
            told.append(f"{tool.name} of {tool.server or tool.source} is named as one before it")
            continue
        why = _refused(tool, options)
        rows[key] = (tool, why or useless)
        refused |= {tool.name} if why else set()
    order = [*ToolSource]
    by_source = sorted(rows.values(), key=lambda row: order.index(row[0].source))
    return Selected(tuple(by_source), tuple(told), frozenset(refused))


def _refused(tool: Tool, options: Options) -> str:
    """Tell by which rule a tool is off; "" where none refuses it."""
    if tool.source not in options.tool_sources:
        return f"its source, {tool.source}, is not in --tool-sources"
    of_source = {
        ToolSource.MCP: (options.mcp_tool_allow, options.mcp_tool_deny, "--mcp-tool"),
        ToolSource.MEMORY: (options.memory_tool_allow, options.memory_tool_deny, "memory-tool"),
    }.get(tool.source)
    if of_source and (why := _unlisted(tool.name, *of_source)):
        return why
    return _unlisted(tool.name, options.tool_allow, options.tool_deny, "--tool")


def _unlisted(name: str, allow: Sequence[str], deny: Sequence[str], flag: str) -> str:
    if matches(name, deny):
        return f"{flag}-deny names it"
    return f"{flag}-allow does not name it" if allow and not matches(name, allow) else ""


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether a name is one of these, where `*` stands for any characters."""
    return any(fnmatchcase(_plain(name), _plain(pattern)) for pattern in patterns)


def _plain(name: str) -> str:
    """Write a name or pattern as it is compared: case aside, what is no letter or digit as `_`."""
    return re.sub(r"[^a-z0-9*?]", "_", name.casefold())


PAGE_TOOLS: Final = tuple(
    replace(tool, on_page=True, acts=acts)
    for acts, tools in ((False, LOOKING_TOOLS), (True, (*ACTING_TOOLS, *DOWNLOAD_TOOLS)))
    for tool in tools
    if tool is not open_page
)
"""Of use only where a page is open: a run that opens none is not told of them."""
TOOL_NAMES: Final = (
    frozenset(
        tool.name
        for family in (WEB_TOOLS, CRAWL_TOOLS, LOOKING_TOOLS, ACTING_TOOLS, DOWNLOAD_TOOLS)
        for tool in family
    )
    | frozenset(tool.name for tool in (*MEMORY_TOOLS, *SKILL_TOOLS, *GOAL_TOOLS, *PERSON_TOOLS))
    | {"PYTHON"}
)
"""As models may call them in forms of other protocols."""


def guides_for(system: str, noted: Mapping[str, Any] | None = None) -> Guides:
    """Give the helper texts that a loop with this system prompt may still need.

    `noted` is what the record says of the tools that the run has.
    """
    noted = noted or {}
    on_page = Registry(tool for tool in PAGE_TOOLS if tool.name not in noted.get("off", ()))
    servers = noted.get("on", {}).get(ToolSource.MCP, ())
    return Guides(system, on_page.lines(on_page=True), TOOL_NAMES.union(servers))


def tools_there(context: ToolContext) -> Iterator[tuple[Tool, str]]:
    """Give every tool of ours, with the reason why a run with these means has no use for it."""
    solver = context.web is not None and context.web.solver is not None
    memory = "" if context.memory is not None else "this run has no memory"
    yield from ((tool, "") for tool in (*WEB_TOOLS, *CRAWL_TOOLS, open_page, *PAGE_TOOLS))
    yield from (
        (tool, "" if solver else "nobody solves captchas: --solver") for tool in SOLVING_TOOLS
    )
    for tool in (*MEMORY_TOOLS, *GOAL_TOOLS):
        yield replace(tool, source=ToolSource.MEMORY), memory
    for tool in SKILL_TOOLS:
        yield replace(tool, source=ToolSource.SYSTEM), memory
    nobody = "" if context.person is not None else "nobody can be asked here"
    yield from ((replace(tool, source=ToolSource.SYSTEM), nobody) for tool in PERSON_TOOLS)
    if context.wiki is not None:
        yield from ((replace(tool, source=ToolSource.MEMORY), "") for tool in WIKI_TOOLS)
    if context.skills:
        yield read_skill, ""
    if find_spec("pydantic_monty") is not None:
        from agent.tools.compute import COMPUTING_TOOLS  # noqa: PLC0415 - an extra

        yield from ((tool, "") for tool in COMPUTING_TOOLS)


def plugged_tools(names: Sequence[str]) -> Iterator[Tool]:
    """Give the tools of the plug-ins that were named; raises `UsageError` for others."""
    for name in names:
        found = plugged("tools", name)
        if found is None:
            raise UsageError(f"no tool is called {name!r}", hint="`research plugins` lists them.")
        yield from [found] if isinstance(found, Tool) else found


_MEMORY = frozenset(tool.name for tool in (*MEMORY_TOOLS, *SKILL_TOOLS, *GOAL_TOOLS, *WIKI_TOOLS))
_SAYS_NOTHING = frozenset(
    (
        "REMEMBER LEARN_SKILL FORGET_SKILL DOWNLOAD SCHEDULE_TASK REMIND_ME SET_TIMER MONITOR STOP"
    ).split()
)
"""Tools that tell no more than that they did what was asked."""
_ECHOED = frozenset({"query", "text", "ref", "error", "url"})
"""Fields of a result that repeat the call."""


class ObservedCalls:
    """Makes calls, live or from a record, and notes whose words each observation is."""

    def __init__(self, calls: Caller, read: Provenance, files: Sequence[Path]) -> None:
        self._calls = calls
        self._read = read
        self._files = frozenset(path.resolve().as_uri() for path in files)

    async def run(self, call: ToolCall, place: str) -> Callable[[], CallResult]:
        """Make a call; what it brought is noted as it is finished, in tag order."""
        finish = await self._calls.run(call, place)

        def finished() -> CallResult:
            result = finish()
            observe(self._read, result.observed(call), self._files, result.web)
            return result

        return finished


def observe(
    read: Provenance, seen: Observation, files: frozenset[str] = frozenset(), web: str = ""
) -> None:
    """Note an observation; one that failed, or a page without a word, was still read."""
    name, told = seen.tool, not seen.failed and not failed(seen.data)
    if name in _SAYS_NOTHING:
        return
    if name == "ASK_USER":
        read.add(str(seen.get("answer") or ""), Kind.PERSON)
        return
    for hit in seen.results:
        kind = Kind.CORPUS if hit.url.startswith("file:") else Kind.WEB
        read.add(f"{hit.title} {hit.snippet}\n{hit.url}", kind, SEARCH)
    if seen.results or name == "WEB_SEARCH":
        return
    asked = _asked(seen.call.param)
    url = _server(name) or seen.url or asked
    if told:  # what was asked for once tells nobody anything new
        read.add_addresses(filter(None, (asked, url)), Kind.WEB)
    parts = [web or seen.snapshot, *(passage.text for passage in seen.passages)]
    parts += _strings(seen.data) if told else []
    shown = words_but("\n".join(parts), seen.call.param)
    read.add(shown if told else "", _kind(read, seen, url, files), url)


def _server(name: str) -> str:
    """Give the site of the MCP server that a tool belongs to; "" for one of ours."""
    prefix, _, rest = name.partition("__")
    return SERVER + rest.partition("__")[0] if prefix == "mcp" and rest else ""


def _kind(read: Provenance, seen: Observation, url: str, files: frozenset[str]) -> Kind:
    if seen.tool in _MEMORY:
        return Kind.MEMORY
    if seen.tool == "read_skill":
        return Kind.MEMORY if seen.get("owner") == "person" else Kind.FILE
    computed = seen.tool == "PYTHON" and read.private_for(SEARCH)  # it may spell what was read
    if seen.tool not in TOOL_NAMES or computed:
        return Kind.TOOL
    if url.startswith("file:"):
        return Kind.FILE if url in files else Kind.CORPUS
    over_http = seen.tool in ("READ", "FETCH_URL", "CRAWL") and seen.get("via") == "http"
    return Kind.PAGE if not over_http and read.is_persons(url) else Kind.WEB


def _asked(param: str) -> str:
    """Give the address that a call names, as far as its parameter tells."""
    piece = next((p for p in param.replace('"', " ").split() if "://" in p), "")
    return piece if parse(piece) else ""


def _strings(data: Any) -> Iterator[str]:
    """Give the texts of a result's data that the call did not say itself."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for key, value in data.items():
            if key not in _ECHOED:
                yield from _strings(value)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from _strings(value)
