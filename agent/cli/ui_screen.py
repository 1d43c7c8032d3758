"""The `research ui` screen, based on the stores and event stream that `research serve` uses."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import TYPE_CHECKING, ClassVar, Final

from rich.markdown import Markdown
from rich.text import Text
from textual import on, work
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Container
from textual.widgets import DataTable, Footer, Input, RichLog, Static, TabbedContent, TabPane

from agent.cli.settings_commands import save_setting, setting_rows, unset_setting
from agent.cli.stores import memory_at, open_jobs
from agent.errors import ResearchError
from agent.export.event_lines import event_lines
from agent.export.report_view import saved_text
from agent.journal.events import read_event
from agent.journal.runs import Runs
from agent.memory.kinds import INTERNAL
from agent.serve.event_stream import EventStream
from agent.serve.library import Library
from browser.text.words import clean, one_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from textual import events
    from textual.binding import BindingType

    from agent.jobs.jobs import Jobs
    from agent.memory.memory_api import Memory
    from agent.memory.memory_types import Hit

REFRESH_SECONDS: Final = 2.0
"""Seconds between refreshes of the visible list; a run's steps come from its event stream."""
MAX_ROWS: Final = 200
"""Maximum number of rows in a list; a search finds older ones."""
_COLUMNS: Final = {
    "runs": ("when", "state", "question"),
    "queue": ("state", "question", "result"),
    "memory": ("id", "kind", "text"),
    "settings": ("setting", "value", "from"),
}
_PROMPTS: Final = {
    "runs": "Search runs",
    "queue": "Add a question to the queue",
    "memory": "Search memory",
    "settings": "Select a setting, then Enter to change it",
}

Row = tuple[str, tuple[str, ...], str]
"""A row's key, its cells, and the details shown next to the list (empty for a run)."""


class ListPane(TabPane):
    """A tab that contains a list.

    Textual shows a tab as soon as something in it receives focus. At startup, the focus event
    arrives late, and would undo a tab switch that the user has made in the meantime.
    """

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Do not switch tabs on focus."""
        event.prevent_default()


class ResearchScreen(App[None]):
    """A screen with four lists, each with an input line and the selected item's details."""

    TITLE = "research"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012 - textual's own type
    CSS = """
    TabbedContent, ContentSwitcher { height: 1fr; }
    TabPane { padding: 0; height: 1fr; }
    .body { layout: vertical; height: 1fr; }
    .-wide .body { layout: horizontal; }
    DataTable, RichLog { scrollbar-size: 1 1; }
    DataTable { height: 2fr; width: 1fr; }
    RichLog { height: 3fr; width: 1fr; border-top: solid $primary; padding: 0 1; }
    .-wide DataTable { height: 1fr; }
    .-wide RichLog { height: 1fr; border-top: none; border-left: solid $primary; }
    Input { border: none; height: 1; margin: 0 0 1 0; }
    .-narrow Input { margin: 0; }
    #note { height: auto; color: $text-muted; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(n), f"go({name!r})", show=False) for n, name in enumerate(_COLUMNS, 1)),
        Binding("slash", "input", "Input", key_display="/"),
        Binding("escape", "list", "List"),
        Binding("p", "pause", "Pause or resume"),
        Binding("c", "cancel", "Cancel job"),
        Binding("t", "retry", "Retry job"),
        Binding("u", "unset", "Unset"),
        Binding("q", "quit", "Quit"),
    ]
    _ONLY_IN: ClassVar[dict[str, str]] = {
        "pause": "queue",
        "cancel": "queue",
        "retry": "queue",
        "unset": "settings",
    }

    def __init__(self, data_dir: Path, namespace: str, jobs_url: str | None) -> None:
        super().__init__()
        self._data, self._namespace, self._jobs_url = data_dir, namespace, jobs_url
        self._runs = Runs(data_dir)
        self._library = Library(self._runs, data_dir)
        self._stores = ExitStack()
        self._jobs: Jobs | None = None
        self._memory: Memory | None = None
        self._rows: dict[str, list[Row]] = {name: [] for name in _COLUMNS}
        self._queries: dict[str, str] = {"runs": "", "memory": ""}
        self._shown: tuple[str, str] = ("", "")

    def compose(self) -> ComposeResult:
        """Lay out the four lists."""
        with TabbedContent(initial="runs"):
            for number, (name, prompt) in enumerate(_PROMPTS.items(), 1):
                with ListPane(f"{number} {name.capitalize()}", id=name):
                    yield Input(placeholder=prompt, id=f"{name}-input")
                    with Container(classes="body"):
                        yield DataTable(id=f"{name}-list", cursor_type="row")
                        yield RichLog(
                            id=f"{name}-detail", wrap=True, min_width=0, auto_scroll=False
                        )
        yield Static(id="note")
        yield Footer()

    def on_mount(self) -> None:
        """Show the runs, and start polling for changes."""
        self._data.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name, columns in _COLUMNS.items():
            self._table(name).add_columns(*columns)
        self.action_list()
        self.refresh_list()
        self.set_interval(REFRESH_SECONDS, self.refresh_list)

    def on_unmount(self) -> None:
        """Close the stores."""
        self._stores.close()

    # Lists

    @property
    def _tab(self) -> str:
        return self.query_one(TabbedContent).active

    def _table(self, name: str) -> DataTable[Text]:
        return self.query_one(f"#{name}-list", DataTable)

    def _detail(self, name: str) -> RichLog:
        return self.query_one(f"#{name}-detail", RichLog)

    def refresh_list(self) -> None:
        """Refresh the visible list, keeping the selection."""
        name = self._tab
        try:
            rows: list[Row] = getattr(self, f"_{name}_rows")()
        except ResearchError as error:
            self._report(error)
            return
        if rows == self._rows[name] and rows:
            return
        table, selected = self._table(name), self._selected(name)
        self._rows[name] = rows
        table.clear()
        for key, cells, _ in rows:
            table.add_row(*(Text(clean(cell)) for cell in cells), key=key)
        at = next((n for n, row in enumerate(rows) if row[0] == selected), 0)
        table.move_cursor(row=at)
        self._show_selected()
        self._note(
            "" if rows else "Nothing here yet." if not self._queries.get(name) else "No match."
        )

    def _selected(self, name: str) -> str:
        """Return the key of the selected row; "" if no row is selected."""
        rows, at = self._rows[name], self._table(name).cursor_row
        return rows[at][0] if at < len(rows) else ""

    def _runs_rows(self) -> list[Row]:
        found = self._library.search(self._queries["runs"], limit=MAX_ROWS)
        return [
            (
                one.run,
                (one.at[:16].replace("T", " "), one.badge or one.status, one_line(one.question)),
                "",
            )
            for one in found
        ]

    def _queue_rows(self) -> list[Row]:
        if self._jobs is None:
            self._jobs = self._stores.enter_context(open_jobs(self._jobs_url, self._data))
        rows: list[Row] = []
        for job in self._jobs.list(limit=MAX_ROWS):
            result = job.error or job.badge or job.status
            data = job.model_dump(mode="json", exclude={"report"}, exclude_defaults=True)
            lines = "\n".join(f"{key}: {value}" for key, value in data.items())
            rows.append((job.id, (job.state, one_line(job.question), result), lines))
        return rows

    def _memory_rows(self) -> list[Row]:
        if self._memory is None:
            location = (self._data, self._namespace)
            self._memory = self._stores.enter_context(memory_at(location))
        query = self._queries["memory"]
        found = self._memory.search(query, MAX_ROWS) if query else self._memory.newest()
        return [
            (
                str(hit.id),
                (str(hit.id), hit.kind, one_line(hit.text)),
                f"{hit.text}\n\n{_origin(hit)}",
            )
            for hit in found
            if hit.kind != INTERNAL  # internal counters
        ]

    def _settings_rows(self) -> list[Row]:
        return [
            (row.name, (row.name, row.value, row.origin), f"{row.name} = {row.value}\n\n{row.help}")
            for row in setting_rows()
        ]

    # Details of the selection

    @on(DataTable.RowHighlighted)
    def _show_selected(self) -> None:
        name = self._tab
        selected = name, self._selected(name)
        if name == "runs":
            if selected != self._shown:
                self._shown = selected
                self._follow(selected[1])
            return
        detail = self._detail(name)
        detail.clear()
        detail.write(
            next((Text(clean(text)) for key, _, text in self._rows[name] if key == selected[1]), "")
        )

    @work(exclusive=True, group="follow")
    async def _follow(self, run: str) -> None:
        """Show a run's steps as they are written, then the answer."""
        log = self._detail("runs")
        log.clear()
        if not run:
            return
        folder = self._runs.find(run)
        stream = EventStream(folder.journal, lambda: False)
        async for frame in stream.frames():
            if frame is None:
                continue
            event = read_event(frame.data, folder.id)
            for line in event_lines(event, verbose=1):
                log.write(Text(clean(line)), scroll_end=log.is_vertical_scroll_end)
        if folder.report.exists():
            log.write(Markdown("---"))
            log.write(Markdown(clean(saved_text(json.loads(folder.report.read_bytes())))))
            log.scroll_end(animate=False)

    # Actions

    @on(Input.Submitted)
    def _submit(self, event: Input.Submitted) -> None:
        name, text = self._tab, event.value.strip()
        try:
            if name in self._queries:
                self._queries[name] = text
            elif name == "queue" and text and self._jobs is not None:
                self._note(f"Added {self._jobs.add(text).id}; `research worker` answers it.")
                event.input.clear()
            elif name == "settings":
                setting, _, value = text.partition("=")
                self._note(save_setting(setting.strip(), value.strip()))
                event.input.clear()
        except ResearchError as error:
            self._report(error)
            return
        self.refresh_list()
        self.action_list()

    @on(DataTable.RowSelected, "#settings-list")
    def _edit(self) -> None:
        entry = self.query_one("#settings-input", Input)
        row = next(row for row in self._rows["settings"] if row[0] == self._selected("settings"))
        value = "" if row[1][1] == "-" else row[1][1]
        entry.value = f"{row[0]} = {value}"
        entry.focus()

    @on(TabbedContent.TabActivated)
    def _changed_tab(self) -> None:
        self.refresh_bindings()
        self.action_list()
        self.refresh_list()

    def action_go(self, name: str) -> None:
        """Show one of the lists."""
        self.query_one(TabbedContent).active = name

    def action_input(self) -> None:
        """Move the focus to the input line."""
        self.query_one(f"#{self._tab}-input", Input).focus()

    def action_list(self) -> None:
        """Move the focus back to the list."""
        self._table(self._tab).focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002 - as textual calls it
        """Offer an action only in the tabs where it applies."""
        return self._ONLY_IN.get(action, self._tab) == self._tab

    def action_pause(self) -> None:
        """Pause the queue, or resume it."""
        self._act(lambda jobs: jobs.resume() if jobs.paused else jobs.pause())

    def action_cancel(self) -> None:
        """Cancel the selected job."""
        self._act(lambda jobs: jobs.cancel(self._selected("queue")))

    def action_retry(self) -> None:
        """Run the selected job again."""
        self._act(lambda jobs: jobs.retry(self._selected("queue")))

    def action_unset(self) -> None:
        """Remove the selected setting from the settings file."""
        try:
            self._note(unset_setting(self._selected("settings")))
        except ResearchError as error:
            self._report(error)
        self.refresh_list()

    def _act(self, act: Callable[[Jobs], object]) -> None:
        if self._jobs is None:
            return
        try:
            act(self._jobs)
        except ResearchError as error:
            self._report(error)
        self.refresh_list()
        self._note(f"The queue is paused: {self._jobs.paused}" if self._jobs.paused else "")

    def _report(self, error: ResearchError) -> None:
        self._note(f"{error}. {error.hint}" if error.hint else str(error))

    def _note(self, text: str) -> None:
        self.query_one("#note", Static).update(Text(clean(text)))


def _origin(hit: Hit) -> str:
    run = f"run {hit.origin.run}" if hit.origin.run else ""
    time = f"{hit.at:%Y-%m-%d %H:%M}" if hit.at else ""
    return "  ".join(filter(None, (time, run, hit.origin.url or "")))
