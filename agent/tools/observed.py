"""Telling a run's provenance of what a tool call brought: the one place for all tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent.guard.provenance import SEARCH, SERVER, Kind, Provenance, words_but
from agent.protocol.results import failed
from agent.tools.memory_tools import GOAL_TOOLS, MEMORY_TOOLS
from agent.tools.skills import SKILL_TOOLS
from agent.tools.toolset import TOOL_NAMES
from agent.tools.wiki import WIKI_TOOLS
from browser.net.url import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from agent.protocol.results import Caller, CallResult
    from agent.types import Observation, ToolCall

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
