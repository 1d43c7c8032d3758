"""What a person who watches a run is shown: a line for each event, or a live view."""

from __future__ import annotations

import json
import re
import sys
import time
from contextlib import contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Self

from agent.export.report_view import parameter_text, tool_error
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Group

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
    failed = tool_error(result)
    if failed and set(result.get("providers", {}).values()) == {"unreachable"}:
        return ""  # as above
    if failed:
        return f"{data['name']} failed: {failed.removeprefix(data['name']).lstrip()}"
    if data["name"] in ("WEB_SEARCH", "READ", "FETCH_URL") or not isinstance(result, dict):
        return ""
    return f"{data['name']}: {result.get('did') or parameter_text(data['param'], ', ')}"


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


_LINES = 6
"""Lines of the past that stay in view."""
_MARGIN = 4


class LiveView:
    """Shows the last few steps and a line that counts; leaves nothing behind when it ends."""

    def __init__(self, verbose: int) -> None:
        self._verbose = verbose
        self._lines: list[str] = []
        self._doing = "starting"
        self._sources = 0
        self._usd = 0.0
        self._started = time.monotonic()
        self._speech = Speech()
        from rich.console import Console  # noqa: PLC0415 - rich only on a terminal
        from rich.live import Live  # noqa: PLC0415 - as above
        from rich.spinner import Spinner  # noqa: PLC0415 - as above

        self._spinner = Spinner("dots")
        self._console = Console(stderr=True)
        self._live = Live(
            console=self._console,
            get_renderable=self._view,
            refresh_per_second=8,
            transient=True,
            redirect_stdout=False,  # it would print what belongs on stdout to stderr
        )

    def __enter__(self) -> Self:
        """Begin to draw."""
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Clear the view."""
        self._live.stop()

    def note(self, event: Event) -> None:
        """Take up an event; the view makes room for the report, and for the person."""
        if event.type in ("run.finished", "person.asked"):
            self._live.stop()
        elif event.type == "person.answered":
            self._live.start()
        self._speech.note(event)
        self._lines = [*self._lines, *told(event, self._verbose)][-_LINES:]
        self._now(_doing(event))
        self._sources += event.type == "source.added"
        self._usd += event.data.get("usd", 0.0) if event.type == "model.reply" else 0.0

    def _now(self, doing: str) -> None:
        """Show at once that something else is being done, however short it is."""
        if doing and doing != self._doing:
            self._doing = doing
            if self._live.is_started:
                self._live.refresh()

    def _view(self) -> Group:
        from rich.console import Group  # noqa: PLC0415 - as above
        from rich.text import Text  # noqa: PLC0415 - as above

        elapsed = time.monotonic() - self._started
        cost = f" · ${self._usd:.4f}" if self._usd else ""
        status = f" {self._doing} · {self._sources} sources · {elapsed:.0f} s{cost}"
        self._spinner.update(text=Text(status, style="bold"))
        past: list[Any] = [Text(f"  {line}", style="dim", no_wrap=True) for line in self._lines]
        if words := self._speech.last_words(self._console.width - _MARGIN):
            past.append(Text(f"  {words}", style="italic", no_wrap=True))
        return Group(*past, self._spinner)


def _doing(event: Event) -> str:
    if event.type == "model.request":
        return "thinking"
    if event.type == "tool.call":
        return f"{event.data['name'].lower().replace('_', ' ')}"
    if event.type == "answer.draft":
        return "checking the answer"
    return ""


_CALL = re.compile(r"<<TOOL:.*?(?:>>|$)|<<[A-Z/]*>?$|<$", re.DOTALL)


class Speech:
    """Listens to the pieces of replies; of several at a time the one that spoke last is shown."""

    def __init__(self) -> None:
        self._said: dict[str, str] = {}
        self._speaker = ""

    def note(self, event: Event) -> None:
        """Take up an event: pieces add up until the whole reply stands."""
        if event.type == "model.delta":
            before = "" if event.data["anew"] else self._said.get(event.place, "")
            self._said[event.place] = before + event.data["text"]
            self._speaker = event.place
        elif event.type == "model.reply":
            self._said.pop(event.place, None)

    def last_words(self, width: int) -> str:
        """Give what was said last, on one line; empty while nothing is being said."""
        said = _CALL.sub(" ", self._said.get(self._speaker, ""))
        said = said.replace("<<THINK>>", " ").replace("<</THINK>>", " ")
        flat = " ".join(clean(said).split())
        return flat if len(flat) <= width else "…" + flat[1 - width :]


@contextmanager
def progress_view(*, quiet: bool, verbose: int) -> Iterator[Callable[[Event], None]]:
    """Give a listener of events that shows progress while the block lasts."""
    if quiet:
        yield lambda _: None
    elif sys.stderr.isatty():
        with LiveView(verbose) as view:
            yield view.note
    else:
        started = time.monotonic()

        def line(event: Event) -> None:
            for text in told(event, verbose):
                print(f"{time.monotonic() - started:6.1f}s  {text}", file=sys.stderr, flush=True)

        yield line
