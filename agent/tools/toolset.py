"""Lists all tools, selects a run's tools, and records who wrote the text in their results."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from agent.config import find_plugin
from agent.errors import UsageError
from agent.guard.provenance import FUNCTION, SEARCH_SITE, SERVER, Kind
from agent.options import TOOL_SOURCES
from agent.prompts import Guides
from agent.tools.action_tools import ACTING_TOOLS, DOWNLOAD_TOOLS, SCRIPTING_TOOLS
from agent.tools.memory_tools import GOAL_TOOLS, MEMORY_TOOLS, WIKI_TOOLS
from agent.tools.page_tools import LOOKING_TOOLS, SOLVING_TOOLS
from agent.tools.registry import Registry, Tool, tools_from_functions
from agent.tools.skill_tools import SKILL_TOOLS, read_skill
from agent.tools.user import USER_TOOLS, ask_user
from agent.tools.web_tools import CRAWL_TOOLS, WEB_TOOLS, search_files_and_web, web_search
from agent.types import ToolTrait
from browser.net.url import parse
from browser.text.words import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from agent.guard.provenance import Provenance
    from agent.options import Options
    from agent.protocol.call_results import Caller
    from agent.tools.context import ToolContext
    from agent.types import Observation, ToolCall

_BROWSING_TOOLS: Final = (*WEB_TOOLS, *CRAWL_TOOLS, *LOOKING_TOOLS, *ACTING_TOOLS, *DOWNLOAD_TOOLS)
PAGE_TOOLS: Final = tuple(tool for tool in _BROWSING_TOOLS if tool.on_page)
"""Tools that need an open page; they are described to the model once a page is open."""
TOOLS_ON_PAGE: Final = {
    tool.name: tool
    for tool in (*_BROWSING_TOOLS, *SCRIPTING_TOOLS)
    if tool.on_page or tool.opens_page
}
"""Tools that use the open page or open one, by name."""
_STORAGE_TOOLS: Final = (*MEMORY_TOOLS, *GOAL_TOOLS, *SKILL_TOOLS)
TOOL_NAMES: Final = frozenset(
    tool.name for tool in (*_BROWSING_TOOLS, *_STORAGE_TOOLS, *USER_TOOLS)
) | {"PYTHON"}
"""Tool names that are also recognised in the call tags of other protocols."""
BUILT_IN: Final = TOOL_NAMES.union(
    tool.name for tool in (*SCRIPTING_TOOLS, *SOLVING_TOOLS, *WIKI_TOOLS, read_skill)
)
"""Tools that are not from a server or function that the user added."""
_RULE_OPTIONS: Final = (
    *("tool_sources", "tool_allow", "tool_deny", "mcp_tool_allow", "mcp_tool_deny"),
    *("memory_tool_allow", "memory_tool_deny"),
)


def available_tools(context: ToolContext) -> Iterator[tuple[Tool, str]]:
    """Yield every built-in tool with the reason why this run cannot use it ("" if it can)."""
    solver = context.web is not None and context.web.solver is not None
    no_solver = "" if solver else "no captcha solver is set (--solver)"
    no_memory = "" if context.memory is not None else "this run has no memory"
    no_user = "" if context.user is not None else "there is no user to ask"
    has_files = context.web is not None and context.web.has_files and not context.files_first
    yield search_files_and_web if has_files else web_search, ""
    yield from ((t, "") for t in _BROWSING_TOOLS if not t.on_page and t is not web_search)
    yield from ((tool, "") for tool in PAGE_TOOLS)
    yield from ((tool, no_solver) for tool in SOLVING_TOOLS)
    yield from ((tool, no_memory) for tool in _STORAGE_TOOLS)
    yield from ((tool, no_user) for tool in USER_TOOLS)
    if context.wiki is not None:
        yield from ((tool, "") for tool in WIKI_TOOLS)
    if context.skills:
        yield read_skill, ""
    if find_spec("pydantic_monty") is not None:
        from agent.tools.compute import COMPUTING_TOOLS  # noqa: PLC0415 - an extra

        yield from ((tool, "") for tool in COMPUTING_TOOLS)


def caller_tools(functions: Mapping[str, Callable[..., Any]]) -> list[Tool]:
    """Create tools from a caller's functions; raises `UsageError` for invalid ones."""
    return [_check_name(tool) for tool in tools_from_functions(functions)]


def plugin_tools(names: Sequence[str]) -> Iterator[Tool]:
    """Yield the tools of the named plug-ins.

    Raises `UsageError` for an unknown name, and for a tool with the name of a built-in tool.
    """
    for name in names:
        found = find_plugin("tools", name)
        if found is None:
            raise UsageError(
                f"no tool named {name!r}", hint="`research plugins` lists all plug-ins."
            )
        tools = [found] if isinstance(found, Tool) else found
        yield from (_check_name(replace(tool, is_source=True)) for tool in tools)


def _check_name(tool: Tool) -> Tool:
    if _normalize_name(tool.name) in _BUILT_IN_NAMES:
        raise UsageError(
            f"{tool.name} is the name of a built-in tool", hint="Give your tool another name."
        )
    return tool


@dataclass(frozen=True, slots=True)
class ToolSelection:
    """Every tool with the reason why it is disabled ("" if it is enabled), and diagnostics.

    `refused` lists the tools disabled by one of the user's rules: calling one returns the reason.
    Other disabled tools are unknown to the run.
    """

    rows: tuple[tuple[Tool, str], ...]
    diagnostics: tuple[str, ...] = ()
    refused: frozenset[str] = frozenset()

    def registry(self) -> Registry:
        """Return the enabled tools."""
        on = [tool for tool, why in self.rows if not why]
        return Registry(on, {t.name: why for t, why in self.rows if t.name in self.refused})

    def to_record(self, options: Options) -> dict[str, Any]:
        """Describe the selection for the record: enabled and disabled tools, rules, diagnostics."""
        on: dict[str, list[str]] = {}
        for tool, why in self.rows:
            if not why:
                on.setdefault(tool.source, []).append(tool.name)
        return {
            "on": on,
            "off": {tool.name: why for tool, why in self.rows if why},
            "groups": self.registry().groups(),
            "activities": {tool.name: tool.activity for tool, why in self.rows if not why},
            "policy": {name: getattr(options, name) for name in _RULE_OPTIONS},
            "diagnostics": list(self.diagnostics),
        }


def apply_tool_rules(
    available: Iterable[tuple[Tool, str]], options: Options, diagnostics: Iterable[str] = ()
) -> ToolSelection:
    """Apply the user's rules (`--tool-deny` and others) to tools, and sort them by source.

    Each tool is given with the reason why this run cannot use it ("" if it can). If two tools have
    the same name, the first takes precedence. `diagnostics` are included in the selection.
    """
    rows: dict[str, tuple[Tool, str]] = {}
    notes, refused = [*diagnostics], set[str]()
    for tool, unusable in available:
        key = _normalize_name(tool.name)
        if key in rows:
            origin = tool.server or tool.source
            notes.append(f"{tool.name} of {origin} has the same name as an earlier tool")
            continue
        rule = _disabling_rule(tool, options)
        rows[key] = (tool, rule or unusable)
        if rule:
            refused.add(tool.name)
    by_source = sorted(rows.values(), key=lambda row: TOOL_SOURCES.index(row[0].source))
    return ToolSelection(tuple(by_source), tuple(notes), frozenset(refused))


def _disabling_rule(tool: Tool, options: Options) -> str:
    """Return the user's rule that disables a tool; "" if there is none."""
    if tool.source not in options.tool_sources:
        return f"its source, {tool.source}, is not in --tool-sources"
    rules = [(options.tool_allow, options.tool_deny, "--tool")]
    if tool.source == "mcp":
        rules.insert(0, (options.mcp_tool_allow, options.mcp_tool_deny, "--mcp-tool"))
    elif tool.source == "memory":
        rules.insert(0, (options.memory_tool_allow, options.memory_tool_deny, "memory-tool"))
    for allow, deny, flag in rules:
        if matches_any(tool.name, deny):
            return f"{flag}-deny names it"
        if allow and not matches_any(tool.name, allow):
            return f"{flag}-allow does not list it"
    return ""


def matches_any(name: str, patterns: Iterable[str]) -> bool:
    """Return whether a name matches any of the patterns; `*` matches any sequence of characters."""
    name = _normalize_name(name)
    return any(fnmatchcase(name, _normalize_name(pattern)) for pattern in patterns)


def _normalize_name(name: str) -> str:
    """Normalize a name or pattern: lower case, with `_` except for letters, digits, `*` and `?`."""
    return re.sub(r"[^a-z0-9*?]", "_", name.casefold())


def guides_for(system: str, selection: Mapping[str, Any] | None = None) -> Guides:
    """Return the guides that a loop with this system prompt may need later.

    `selection` contains the run's tools in the format of `ToolSelection.to_record`.
    """
    selection = selection or {}
    servers = selection.get("on", {}).get("mcp", ())
    return Guides(system, selection.get("groups"), TOOL_NAMES.union(servers))


_BUILT_IN_NAMES: Final = frozenset(map(_normalize_name, BUILT_IN))
_MEMORY_TOOL_NAMES = frozenset(tool.name for tool in (*_STORAGE_TOOLS, *WIKI_TOOLS))
_ECHOED_FIELDS = frozenset({"query", "text", "ref", "error", "url"})
"""Fields of a result that repeat the call's arguments."""


class ProvenanceCalls:
    """Runs calls, live or from a record, and records the provenance of each observation."""

    def __init__(self, calls: Caller, provenance: Provenance, files: frozenset[str]) -> None:
        self._calls = calls
        self._provenance = provenance
        self._files = files

    async def run(self, call: ToolCall, place: str) -> Callable[[], Observation]:
        """Run a call; its provenance is recorded when it is finished, in tag order."""
        finish = await self._calls.run(call, place)

        def finish_and_record() -> Observation:
            result = finish()
            record_provenance(self._provenance, result, self._files)
            return result

        return finish_and_record


def record_provenance(
    provenance: Provenance, observation: Observation, files: frozenset[str]
) -> None:
    """Record who wrote the text of an observation.

    A failed call or a page without text also counts as read. A refused call does not, and neither
    does a file or memory that could not be read. `files` are the URIs of the files that the user
    passed to the run.
    """
    if ToolTrait.CONFIRMS in observation.traits or not observation.was_run:
        return
    if observation.tool == ask_user.name:
        provenance.add(str(observation.get("answer") or ""), Kind.USER)
        return
    # A search result's text is from the search engine, not from the page's site.
    for hit in observation.results:
        kind = Kind.CORPUS if hit.url.startswith("file:") else Kind.WEB
        provenance.add(f"{hit.title} {hit.snippet}\n{hit.url}", kind, SEARCH_SITE)
    for passage in observation.passages if observation.results else ():
        provenance.add(passage.text, Kind.CORPUS, SEARCH_SITE)
    if observation.results or ToolTrait.SEARCHES in observation.traits:
        return

    words_of_call = observation.call.param.replace('"', " ").split()
    requested = next((word for word in words_of_call if "://" in word), "")
    if not parse(requested):
        requested = ""
    prefix, _, rest = observation.tool.partition("__")
    server = SERVER + rest.partition("__")[0] if prefix == "mcp" and rest else ""
    if not server and observation.tool not in BUILT_IN:
        server = FUNCTION + observation.tool
    url = server or observation.url or requested
    new: list[str] = []
    if not observation.failed:
        # The requested address is already known, as are any words repeated from the call.
        provenance.add_links((one for one in (requested, url) if "://" in one), Kind.WEB)
        passages = (passage.text for passage in observation.passages)
        parts = [observation.web or observation.snapshot, *passages, *_strings(observation.data)]
        known = set(words(observation.call.param))
        new = [word for word in "\n".join(parts).split() if known.isdisjoint(words(word))]
    kind = _provenance_kind(provenance, observation, url, files)
    if not (observation.failed and kind in (Kind.FILE, Kind.CORPUS, Kind.MEMORY)):
        provenance.add(" ".join(new), kind, url)


def _provenance_kind(
    provenance: Provenance, observation: Observation, url: str, files: frozenset[str]
) -> Kind:
    tool = observation.tool
    if tool in _MEMORY_TOOL_NAMES:
        return Kind.MEMORY
    if tool == read_skill.name:
        return Kind.MEMORY if observation.get("owner") == "user" else Kind.FILE
    # Computed text may contain private words that the run has read.
    if tool not in BUILT_IN or (tool == "PYTHON" and provenance.has_private_text_for(SEARCH_SITE)):
        return Kind.TOOL
    if url.startswith("file:"):
        return Kind.FILE if url in files else Kind.CORPUS
    # HTTP requests do not use the browser's logins, so anyone could read the same page.
    over_http = observation.get("via") == "http"
    return Kind.PAGE if not over_http and provenance.is_personal(url) else Kind.WEB


def _strings(data: Any) -> Iterator[str]:
    """Yield the strings in a result's data, except fields that repeat the call."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for key, value in data.items():
            if key not in _ECHOED_FIELDS:
                yield from _strings(value)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from _strings(value)
