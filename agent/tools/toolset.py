"""Which tools there are, which of them a run has, and whose words each brings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from agent.config import find_plugin
from agent.errors import UsageError
from agent.guard.provenance import SEARCH, SERVER, Kind
from agent.prompts import Guides
from agent.protocol.results import failed
from agent.tools.action_tools import ACTING_TOOLS, DOWNLOAD_TOOLS
from agent.tools.memory_tools import GOAL_TOOLS, MEMORY_TOOLS, WIKI_TOOLS
from agent.tools.page_tools import LOOKING_TOOLS, SOLVING_TOOLS
from agent.tools.person import PERSON_TOOLS
from agent.tools.registry import Registry, Tool, ToolSource
from agent.tools.skill_tools import SKILL_TOOLS, read_skill
from agent.tools.web_tools import CRAWL_TOOLS, WEB_TOOLS
from browser.net.url import parse
from browser.text.words import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from agent.config import Options
    from agent.guard.provenance import Provenance
    from agent.protocol.results import Caller, CallResult
    from agent.tools.context import ToolContext
    from agent.types import Observation, ToolCall

_OURS: Final = (*WEB_TOOLS, *CRAWL_TOOLS, *LOOKING_TOOLS, *ACTING_TOOLS, *DOWNLOAD_TOOLS)
PAGE_TOOLS: Final = tuple(tool for tool in _OURS if tool.on_page)
"""Of use only where a page is open: a run that opens none is not told of them."""
_KEPT: Final = (*MEMORY_TOOLS, *GOAL_TOOLS, *SKILL_TOOLS)
TOOL_NAMES: Final = frozenset(t.name for t in (*_OURS, *_KEPT, *PERSON_TOOLS)) | {"PYTHON"}
"""As models may call them in forms of other protocols."""
_RULES: Final = (
    *("tool_sources", "tool_allow", "tool_deny", "mcp_tool_allow", "mcp_tool_deny"),
    *("memory_tool_allow", "memory_tool_deny"),
)


def available_tools(context: ToolContext) -> Iterator[tuple[Tool, str]]:
    """Yield every tool of ours, with the reason why a run with these means has no use for it."""
    solver = context.web is not None and context.web.solver is not None
    no_solver = "" if solver else "nobody solves captchas: --solver"
    no_memory = "" if context.memory is not None else "this run has no memory"
    nobody = "" if context.person is not None else "nobody can be asked here"
    yield from ((tool, "") for tool in _OURS if not tool.on_page)
    yield from ((tool, "") for tool in PAGE_TOOLS)
    yield from ((tool, no_solver) for tool in SOLVING_TOOLS)
    yield from ((tool, no_memory) for tool in _KEPT)
    yield from ((tool, nobody) for tool in PERSON_TOOLS)
    if context.wiki is not None:
        yield from ((tool, "") for tool in WIKI_TOOLS)
    if context.skills:
        yield read_skill, ""
    if find_spec("pydantic_monty") is not None:
        from agent.tools.compute import COMPUTING_TOOLS  # noqa: PLC0415 - an extra

        yield from ((tool, "") for tool in COMPUTING_TOOLS)


def plugin_tools(names: Sequence[str]) -> Iterator[Tool]:
    """Yield the tools of the plug-ins that were named; raises `UsageError` for others."""
    for name in names:
        found = find_plugin("tools", name)
        if found is None:
            raise UsageError(f"no tool is called {name!r}", hint="`research plugins` lists them.")
        yield from [found] if isinstance(found, Tool) else found


@dataclass(frozen=True, slots=True)
class Selected:
    """Every tool once, with the reason why it is off, or "" where it is on; and what was odd.

    `refused` are those that a rule keeps off: a call is told so. The others are unknown to a run.
    """

    rows: tuple[tuple[Tool, str], ...]
    diagnostics: tuple[str, ...] = ()
    refused: frozenset[str] = frozenset()

    def registry(self) -> Registry:
        """Return the tools that are on."""
        on = [tool for tool, why in self.rows if not why]
        return Registry(on, {t.name: why for t, why in self.rows if t.name in self.refused})

    def for_record(self, options: Options) -> dict[str, Any]:
        """Say for the record which tools a run has, by what rules, and why not the others."""
        on: dict[str, list[str]] = {}
        for tool, why in self.rows:
            if not why:
                on.setdefault(tool.source.value, []).append(tool.name)
        return {
            "on": on,
            "off": {tool.name: why for tool, why in self.rows if why},
            "policy": {name: getattr(options, name) for name in _RULES},
            "diagnostics": list(self.diagnostics),
        }


def select(
    there: Iterable[tuple[Tool, str]], options: Options, diagnostics: Iterable[str] = ()
) -> Selected:
    """Decide about tools; of two that are named alike the first counts. Given by source.

    Each comes with the reason why this run has no use for it, "" where it has; `diagnostics` are
    further ones.
    """
    rows: dict[str, tuple[Tool, str]] = {}
    notes, refused = [*diagnostics], set[str]()
    for tool, useless in there:
        key = _plain(tool.name)
        if key in rows:
            notes.append(f"{tool.name} of {tool.server or tool.source} is named as one before it")
            continue
        why = _rule_against(tool, options)
        rows[key] = (tool, why or useless)
        refused |= {tool.name} if why else set()
    order = [*ToolSource]
    by_source = sorted(rows.values(), key=lambda row: order.index(row[0].source))
    return Selected(tuple(by_source), tuple(notes), frozenset(refused))


def _rule_against(tool: Tool, options: Options) -> str:
    """Return the rule by which a tool is off; "" where none refuses it."""
    if tool.source not in options.tool_sources:
        return f"its source, {tool.source}, is not in --tool-sources"
    rules = [(options.tool_allow, options.tool_deny, "--tool")]
    if tool.source is ToolSource.MCP:
        rules.insert(0, (options.mcp_tool_allow, options.mcp_tool_deny, "--mcp-tool"))
    elif tool.source is ToolSource.MEMORY:
        rules.insert(0, (options.memory_tool_allow, options.memory_tool_deny, "memory-tool"))
    for allow, deny, flag in rules:
        if matches(tool.name, deny):
            return f"{flag}-deny names it"
        if allow and not matches(tool.name, allow):
            return f"{flag}-allow does not name it"
    return ""


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether a name is one of these, where `*` stands for any characters."""
    return any(fnmatchcase(_plain(name), _plain(pattern)) for pattern in patterns)


def _plain(name: str) -> str:
    """Write a name or pattern as it is compared: case aside, what is no letter or digit as `_`."""
    return re.sub(r"[^a-z0-9*?]", "_", name.casefold())


def guides_for(system: str, noted: Mapping[str, Any] | None = None) -> Guides:
    """Return the helper texts that a loop with this system prompt may still need.

    `noted` is what the record says of the tools that the run has.
    """
    noted = noted or {}
    on_page = Registry(tool for tool in PAGE_TOOLS if tool.name not in noted.get("off", ()))
    servers = noted.get("on", {}).get(ToolSource.MCP, ())
    return Guides(system, on_page.lines(on_page=True), TOOL_NAMES.union(servers))


_REMEMBERS = frozenset(tool.name for tool in (*_KEPT, *WIKI_TOOLS))
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

    def __init__(self, calls: Caller, provenance: Provenance, files: Sequence[Path]) -> None:
        self._calls = calls
        self._provenance = provenance
        self._files = frozenset(path.resolve().as_uri() for path in files)

    async def run(self, call: ToolCall, place: str) -> Callable[[], CallResult]:
        """Make a call; what it brought is noted as it is finished, in tag order."""
        finish = await self._calls.run(call, place)

        def finished() -> CallResult:
            result = finish()
            note_observation(self._provenance, result.observed(call), self._files, result.web)
            return result

        return finished


def note_observation(
    provenance: Provenance, seen: Observation, files: frozenset[str] = frozenset(), web: str = ""
) -> None:
    """Note an observation; one that failed, or a page without a word, was still read."""
    if seen.tool in _SAYS_NOTHING:
        return
    if seen.tool == "ASK_USER":
        provenance.add(str(seen.get("answer") or ""), Kind.PERSON)
        return
    # A result is the search engine's word, not yet the page's: it is shown at no site.
    for hit in seen.results:
        kind = Kind.CORPUS if hit.url.startswith("file:") else Kind.WEB
        provenance.add(f"{hit.title} {hit.snippet}\n{hit.url}", kind, SEARCH)
    if seen.results or seen.tool == "WEB_SEARCH":
        return
    named = next((p for p in seen.call.param.replace('"', " ").split() if "://" in p), "")
    asked = named if parse(named) else ""
    prefix, _, rest = seen.tool.partition("__")
    server = SERVER + rest.partition("__")[0] if prefix == "mcp" and rest else ""
    url = server or seen.url or asked
    new: list[str] = []
    if not seen.failed and not failed(seen.data):
        # What was asked for once tells nobody anything new, and an echo of it shows nothing new.
        provenance.add_addresses(filter(None, (asked, url)), Kind.WEB)
        parts = [web or seen.snapshot, *(p.text for p in seen.passages), *_strings(seen.data)]
        known = set(words(seen.call.param))
        new = [p for p in "\n".join(parts).split() if known.isdisjoint(words(p))]
    provenance.add(" ".join(new), _kind_of(provenance, seen, url, files), url)


def _kind_of(provenance: Provenance, seen: Observation, url: str, files: frozenset[str]) -> Kind:
    if seen.tool in _REMEMBERS:
        return Kind.MEMORY
    if seen.tool == "read_skill":
        return Kind.MEMORY if seen.get("owner") == "person" else Kind.FILE
    # What is computed may spell what was read.
    computed = seen.tool == "PYTHON" and provenance.private_for(SEARCH)
    if seen.tool not in TOOL_NAMES or computed:
        return Kind.TOOL
    if url.startswith("file:"):
        return Kind.FILE if url in files else Kind.CORPUS
    # HTTP goes without the browser's logins: what it brings, anybody is shown.
    over_http = seen.tool in ("READ", "FETCH_URL", "CRAWL") and seen.get("via") == "http"
    return Kind.PAGE if not over_http and provenance.is_personal(url) else Kind.WEB


def _strings(data: Any) -> Iterator[str]:
    """Yield the texts of a result's data that the call did not say itself."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for key, value in data.items():
            if key not in _ECHOED:
                yield from _strings(value)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from _strings(value)
