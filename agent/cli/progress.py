"""Shows a run's progress on the terminal, as a line per event or a live view."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from agent.export.event_lines import event_lines
from agent.types import format_usd
from browser.text.words import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Group
    from rich.table import Table

    from agent.journal.events import Event


_MAX_PAST_LINES = 6
"""Number of previous lines that stay visible."""
_MARGIN = 4
"""Columns left free next to the streamed text."""
_BAR_WIDTH = 24
"""Width of the indexing progress bar, in columns."""
_ACTIVITIES = {"model.request": "thinking", "answer.draft": "checking the answer"}


class LiveView:
    """A view of the last steps and a status line, which is cleared at the end."""

    def __init__(self, verbose: int) -> None:
        from rich.console import Console  # noqa: PLC0415 - rich only on a terminal
        from rich.live import Live  # noqa: PLC0415 - as above
        from rich.spinner import Spinner  # noqa: PLC0415 - as above

        self._verbose = verbose
        self._past: list[str] = []
        self._activity = "starting"
        self._activities: dict[str, str] = {}
        """What the run is doing during a call of each tool, as the tools declare it."""
        self._sources = 0
        self._usd = 0.0
        self._started = time.monotonic()
        self._replies = StreamedReplies()
        self._indexing: tuple[int, int] | None = None
        """Number of files done and in total, while a folder is indexed."""
        self._spinner = Spinner("dots")
        self._console = Console(stderr=True)
        self._live = Live(
            console=self._console,
            get_renderable=self._render,
            refresh_per_second=8,
            transient=True,
            redirect_stdout=False,  # redirection would print stdout text on stderr
        )

    def __enter__(self) -> Self:
        """Start drawing."""
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Clear the view."""
        self._live.stop()

    def note(self, event: Event) -> None:
        """Show an event; hide the view while the report or a question to the user is shown."""
        if event.type in ("run.finished", "user.asked"):
            self._live.stop()
        elif event.type == "user.answered":
            self._live.start()
        self._replies.note(event)
        if event.type == "corpus.indexed" and event.data["left"]:
            self._indexing = event.data["files"] - event.data["left"], event.data["files"]
            return
        if event.type == "corpus.indexed":
            self._indexing = None
        self._past = [*self._past, *event_lines(event, self._verbose)][-_MAX_PAST_LINES:]
        self._sources += event.type == "source.added"
        if event.type == "model.reply":
            self._usd += event.data.get("usd", 0.0)
        activity = _ACTIVITIES.get(event.type, self._activity)
        if event.type == "tools.offered":
            self._activities = event.data.get("activities", {})
        elif event.type == "tool.call":
            name = event.data["name"]
            activity = self._activities.get(name) or name.lower().replace("_", " ")
        if activity != self._activity:
            self._activity = activity
            if self._live.is_started:
                self._live.refresh()  # immediately, as the next step may end before the next frame

    def _render(self) -> Group:
        from rich.console import Group  # noqa: PLC0415 - as above
        from rich.text import Text  # noqa: PLC0415 - as above

        elapsed = time.monotonic() - self._started
        cost = f" · {format_usd(self._usd)}" if self._usd else ""
        status = f" {self._activity} · {self._sources} sources · {elapsed:.0f} s{cost}"
        self._spinner.update(text=Text(status, style="bold"))
        past: list[Any] = [Text(f"  {line}", style="dim", no_wrap=True) for line in self._past]
        if words := self._replies.last_words(self._console.width - _MARGIN):
            past.append(Text(f"  {words}", style="italic", no_wrap=True))
        if self._indexing:
            past.append(self._bar(*self._indexing))
        return Group(*past, self._spinner)

    def _bar(self, done: int, total: int) -> Table:
        from rich.progress_bar import ProgressBar  # noqa: PLC0415 - as above
        from rich.table import Table  # noqa: PLC0415 - as above

        row = Table.grid(padding=(0, 1))
        bar = ProgressBar(total, done, width=_BAR_WIDTH)
        row.add_row("  indexing your files", bar, f"{done} of {total}")
        return row


class StreamedReplies:
    """Collects the streamed pieces of replies; if several arrive in parallel, shows the latest."""

    def __init__(self) -> None:
        self._replies: dict[str, str] = {}
        self._latest = ""  # the place of the reply that received the last piece

    def note(self, event: Event) -> None:
        """Add a piece to the reply that it belongs to; a complete reply is no longer shown."""
        if event.type == "model.delta":
            before = "" if event.data["anew"] else self._replies.get(event.place, "")
            self._replies[event.place] = before + event.data["text"]
            self._latest = event.place
        elif event.type == "model.reply":
            self._replies.pop(event.place, None)

    def last_words(self, width: int) -> str:
        """Return the end of the streamed text on one line, or an empty string."""
        reply = self._replies.get(self._latest, "").removesuffix("<")
        words, *pieces = reply.split("<<")
        for piece in pieces:
            is_tag = not piece or piece[0] == "/" or piece[0].isupper()  # may be incomplete
            words += f" {piece.partition('>>')[2]}" if is_tag else f"<<{piece}"
        flat = one_line(words)
        return flat if len(flat) <= width else "…" + flat[1 - width :]


@contextmanager
def progress_view(*, quiet: bool, verbose: int) -> Iterator[Callable[[Event], None]]:
    """Yield an event listener that shows progress for the duration of the block."""
    if quiet:
        yield lambda _: None
    elif sys.stderr.isatty():
        with LiveView(verbose) as view:
            yield view.note
    else:
        started = time.monotonic()
        announced = False

        def print_event(event: Event) -> None:
            nonlocal announced
            if event.type == "corpus.indexed" and event.data["left"]:
                if announced:
                    return  # in a log, the first and last messages are enough
                announced = True
            for line in event_lines(event, verbose):
                seconds = time.monotonic() - started
                print(f"{seconds:6.1f}s  {line}", file=sys.stderr, flush=True)

        yield print_event
