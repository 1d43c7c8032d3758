"""Asking another model the same question on the web that a run recorded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from agent.config import options
from agent.errors import ToolError
from agent.journal import Journal, utc_now
from agent.journal.places import MAIN
from agent.protocol import CallResult
from agent.run.execute import execute
from agent.run.inputs import Given
from agent.tools import Limits, ToolContext
from agent.tools.policy import result_data
from agent.tools.web_tools import WEB_TOOLS, fetch_result, read_result
from browser.net.url import normalize

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from agent.evidence import Evidence
    from agent.journal import Runs
    from agent.loop import Caller
    from agent.models import Message, Model
    from agent.run.outcome import Ledger
    from agent.run.record import RunRecord
    from agent.tools.context import LeftPage, Record
    from agent.types import Report, ToolCall


async def on_recorded_web(
    record: RunRecord,
    *,
    model: str | None,
    base_url: str | None = None,
    data_dir: Path | None = None,
    live: bool = False,
) -> Report:
    """Ask another model the same question, on the recorded web; gives a run of its own."""
    settings = {
        **record.started["options"],
        "schema_file": record.schema,
        "model": model,
        "base_url": base_url,
        "data_dir": data_dir,
        "memory": False,
        "session": None,
        "continue_run": None,
    }
    given = Given(config=True, past=OnRecordedWeb(record, live))
    return await execute(record.question, options(settings), given)


@dataclass(frozen=True, slots=True)
class OnRecordedWeb:
    """A new run on the sources and tool results of another one."""

    source: RunRecord
    live: bool

    def begin(self, runs: Runs, ledger: Ledger) -> Journal:  # noqa: ARG002 - it starts from nothing
        """Begin a record of its own."""
        return Journal(runs.create(utc_now()))

    def evidence(self) -> Evidence:
        """The sources of the recorded run."""
        return self.source.evidence()

    def opening(self, place: str) -> list[Message] | None:
        """The messages with which the recorded run began; another model plans for itself."""
        return self.source.opening_at(MAIN) if place == MAIN else None

    def left_open(self) -> dict[str, LeftPage]:
        """None: a new run opens pages for itself."""
        return {}

    def model(self, live: Model) -> Model:
        """The model itself."""
        return live

    def calls(self, live: Caller, journal: Journal) -> Caller:
        """What is on record comes from there."""
        self.source.copy_sources(journal)
        return SameWeb(self.source, journal.write, live if self.live else None)

    def record(self, write: Record) -> Record:
        """All events are new."""
        return write


_TOOLS = {tool.name: tool for tool in WEB_TOOLS}
_READING = ("READ", "FETCH_URL")


class SameWeb:
    """Tool calls of another model on the recorded web: known ones are answered from the record.

    A search is known by its words, a page by its address, whatever is asked of it. The others go
    to `live` where there is one, and are errors where there is none.
    """

    def __init__(self, record: RunRecord, note: Record, live: Caller | None) -> None:
        self._note = note
        self._live = live
        self._results = {_asked(name, param): r for name, param, r in record.results.values()}
        self._pages = _Pages(record)

    async def run(self, call: ToolCall, place: str) -> Callable[[], CallResult]:
        """Find the result of the same call anywhere in the record."""
        found = self._results.get(_asked(call.name, call.param)) or self._pages.shown(call)
        if found is None and self._live is not None:
            return await self._live.run(call, place)
        result = found or CallResult(
            call.name,
            {"error": f"not in the record: {call.name} {call.param}"},
            hint="Only what the recorded run searched and read is there. " + ToolError.hint,
        )
        return lambda: self._noted(call, place, result)

    def _noted(self, call: ToolCall, place: str, result: CallResult) -> CallResult:
        self._note("tool.result", place, **result_data(call, result))
        return result


class _Pages:
    """The pages on record, to be read with another query, or from another passage on."""

    def __init__(self, record: RunRecord) -> None:
        self._pages = {normalize(page.url): (page, part) for page, part in record.pages()}
        self._evidence = record.evidence()
        self._context = ToolContext(
            question=record.question,
            evidence=self._evidence,
            limits=Limits(),
            record=_nothing,
            keep=record.folder.keep,
        )

    def shown(self, call: ToolCall) -> CallResult | None:
        """Show a page as the tool does; None where it is not on record."""
        arguments = _arguments(call.name, call.param) if call.name in _READING else None
        if arguments is None or normalize(arguments.url) not in self._pages:
            return None
        page, part = self._pages[normalize(arguments.url)]
        context = replace(self._context, evidence=self._evidence.part(part))
        if call.name == "READ":
            made = read_result(context, page, arguments)
        else:
            made = fetch_result(context, page)
        capped = _TOOLS[call.name].capped
        return CallResult(
            call.name,
            made.data,
            made.web,
            made.label,
            made.hint,
            capped=capped,
            passages=made.passages,
        )


def _asked(name: str, param: str) -> tuple[str, str]:
    """What a call asks for: the same words in another form or case are the same search."""
    arguments = _arguments(name, param)
    if arguments is None:
        return name, param
    fields = arguments.model_dump(exclude_defaults=True)
    if "query" in fields:
        fields["query"] = " ".join(fields["query"].casefold().split())
    return name, repr(sorted(fields.items()))


def _arguments(name: str, param: str) -> Any:
    """Read what a tool of the web is asked; None where it is none, or asked in a wrong way."""
    tool = _TOOLS.get(name)
    try:
        return tool.read(param).arguments if tool else None
    except ToolError:
        return None


def _nothing(_kind: str, _place: str = "", **_data: Any) -> None:
    """What is on record needs no record."""


HARMLESS: Final = frozenset(
    "depth report site since lang region max_steps max_sources timeout budget".split()
)
"""Settings of a run that reach nothing on this machine: no file, host, proxy, browser or memory."""


def without_reach(record: RunRecord) -> RunRecord:
    """Give the record of an archive without the settings that would open this machine to it.

    A run that goes on from it (another model, the live web) has its reach from the person's own
    settings, not from whoever made the archive.
    """
    asked = record.started.get("options", {})
    kept = {name: value for name, value in asked.items() if name in HARMLESS}
    return replace(record, started={**record.started, "options": kept})
