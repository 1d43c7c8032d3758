"""What the events of a run say to a person who watches, a line each."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from agent.export.verdicts import asked_for, failure
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent.journal.events import Event


_WIDTH = 110


def told(event: Event, verbose: int) -> list[str]:
    """Say an event in a line or none; `verbose` adds thoughts, results and the model's calls."""
    data = event.data
    say = _SAYINGS.get(event.type)
    lines = [say(data)] if say else []
    if verbose and event.type == "thought":
        lines.append(f"thinks: {data['text']}")
    if verbose and event.type == "model.reply":
        lines.append(f"{data['model']}: {data['output_tokens']} tokens in {data['ms']} ms")
    if verbose and event.type == "call.mended":
        lines.append(f"{data['name']} was not written as asked; read all the same ({data['tier']})")
    if verbose > 1 and event.type == "tool.result":
        lines.append(f"{data['name']} gave {json.dumps(data['data'], ensure_ascii=False)}")
    return [_one_line(text) for text in lines if text]


def _one_line(text: str) -> str:
    flat = " ".join(clean(text).split())
    return flat if len(flat) <= _WIDTH else flat[: _WIDTH - 1] + "…"


def _search(data: dict[str, Any]) -> str:
    if data["outcome"] == "unreachable":
        return ""  # of all providers alike where one is offline, which the end of the run says
    detail = f" ({data['detail']})" if data["detail"] else ""
    found = f"{data['results']} results" if data["outcome"] == "ok" else data["outcome"]
    return f"searched {data['provider']} for {data['query']!r}: {found}{detail}"


def _indexed(data: dict[str, Any]) -> str:
    done = data["files"] - data["left"]
    unread = ""
    if failed := data["unread"]:
        first = f"{PurePath(failed[0]['path']).name}: {failed[0]['reason']}"
        unread = f", {len(failed)} unread ({first})"
    return f"indexed {done} of {data['files']} files{unread}"


def _tool(data: dict[str, Any]) -> str:
    result = data["data"]
    failed = failure(result)
    if failed and set(result.get("providers", {}).values()) == {"unreachable"}:
        return ""  # as above
    if failed:
        return f"{data['name']} failed: {failed.removeprefix(data['name']).lstrip()}"
    if data["name"] in ("WEB_SEARCH", "READ", "FETCH_URL") or not isinstance(result, dict):
        return ""
    return f"{data['name']}: {result.get('did') or asked_for(data['param'], ', ')}"


def _source(data: dict[str, Any]) -> str:
    reason = f" — {data['reason']}" if data["reason"] else ""
    return f"read S{data['n']} via {data['via']}: {data['title'] or data['url']}{reason}"


_SAYINGS: dict[str, Callable[[dict[str, Any]], str]] = {
    "corpus.indexed": _indexed,
    "search.attempt": _search,
    "tool.result": _tool,
    "source.added": _source,
    "policy.refused": lambda data: f"refused: {data['name']} {data['effect']}",
    "run.interrupted": lambda _: "interrupted",
}
