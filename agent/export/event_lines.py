"""Formats a run's events as lines of text, for the terminal and for other programs."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from agent.export.report_view import parameter_text, tool_error
from agent.options import hint_for
from agent.types import ToolTrait
from browser.text.words import clean, shorten

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent.journal.events import Event
    from agent.options import Surface

_WIDTH = 110
"""Maximum number of characters in an event's line."""
_WITHHELD_PREFIX = "not sent to search engines: "


def event_lines(event: Event, verbose: int = 0, surface: Surface = "shell") -> list[str]:
    """Format an event as zero or more lines; `verbose` adds thoughts, results and model calls."""
    data = event.data
    write = _FORMATS.get(event.type)
    lines = [write(data)] if write else []
    if event.type == "query.withheld":
        before, after = _WITHHELD_PREFIX, f". {hint_for(surface, '--share KIND allows it.')}"
        room = _WIDTH - len(before) - len(after)
        lines.append(f"{before}{shorten(clean(data['text']), room)}{after}")
    if verbose and event.type == "thought":
        lines.append(f"thinking: {data['text']}")
    if verbose and event.type == "model.reply":
        lines.append(f"{data['model']}: {data['output_tokens']} tokens in {data['ms']} ms")
    if verbose and event.type == "call.repaired":
        lines.append(
            f"the call to {data['name']} was malformed but could be parsed ({data['tier']})"
        )
    if verbose > 1 and event.type == "tool.result":
        lines.append(f"{data['name']} returned {json.dumps(data['data'], ensure_ascii=False)}")
    return [shorten(clean(line), _WIDTH) for line in lines if line]


def _format_search(data: dict[str, Any]) -> str:
    if data["outcome"] == "unreachable":
        return ""  # the computer is offline, which the end of the run reports
    detail = f" ({data['detail']})" if data["detail"] else ""
    found = f"{data['results']} results" if data["outcome"] == "ok" else data["outcome"]
    return f"searched {data['provider']} for {data['query']!r}: {found}{detail}"


def _format_indexing(data: dict[str, Any]) -> str:
    unread = ""
    if failed := data["unread"]:
        first = f"{PurePath(failed[0]['path']).name}: {failed[0]['reason']}"
        unread = f", {len(failed)} unread ({first})"
    done = "indexing your files:" if data["left"] else "indexed"
    return f"{done} {data['files'] - data['left']} of {data['files']} files{unread}"


def _format_result(data: dict[str, Any]) -> str:
    result = data["data"]
    failed = tool_error(result)
    if failed and set(result.get("providers", {}).values()) == {"unreachable"}:
        return ""  # as above
    if failed:
        return f"{data['name']} failed: {failed.removeprefix(data['name']).lstrip()}"
    # Searches and pages have their own events, which are more informative.
    if ToolTrait.HAS_EVENTS in data.get("traits", ()) or not isinstance(result, dict):
        return ""
    return f"{data['name']}: {result.get('did') or parameter_text(data['param'], ', ')}"


def _format_source(data: dict[str, Any]) -> str:
    reason = f" — {data['reason']}" if data["reason"] else ""
    return f"read S{data['n']} via {data['via']}: {data['title'] or data['url']}{reason}"


_FORMATS: dict[str, Callable[[dict[str, Any]], str]] = {
    "corpus.indexed": _format_indexing,
    "search.attempt": _format_search,
    "tool.result": _format_result,
    "source.added": _format_source,
    "policy.refused": lambda data: f"refused: {data['name']} {data['effect']}",
    "policy.approved": lambda data: f"approved by {data['by']}: {data['effect']}",
    "run.interrupted": lambda _: "interrupted",
    "skill.proposed": lambda data: (
        f"{data['site']} failed {data['times']} times in a row, so a skill is proposed: "
        "see `research skills list`"
    ),
}
