"""What a run takes over from a record: its own, which it goes on in, or another one's web."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from agent.errors import ToolError
from agent.guard.provenance import PRIVATE, Kind
from agent.journal.events import MAIN, Journal, utc_now
from agent.loop.subtasks import left_pages
from agent.protocol.results import CallResult
from agent.run.record import ResumedModel, once_each
from agent.tools.context import Limits, ToolContext
from agent.tools.policy import result_event_data
from agent.tools.web_tools import WEB_TOOLS, fetch_result, read_result
from browser.net.url import normalize

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent.journal.runs import Runs
    from agent.models.base import Model
    from agent.protocol.results import Caller
    from agent.run.record import RunRecord
    from agent.tools.context import InterruptedPage, Record
    from agent.types import Message, ToolCall


_TOOLS: Final = {tool.name: tool for tool in WEB_TOOLS}
_READING: Final = ("READ", "FETCH_URL")
_HARMLESS: Final = frozenset(
    "depth report site since lang region max_steps max_sources timeout budget".split()
)
"""Settings of a run that reach nothing on this machine: no file, host, proxy, browser or memory."""


@dataclass(frozen=True, slots=True)
class PriorRun:
    """What a run takes over from a record.

    A `resumed` run is the recorded one: what stands there is used, and not written twice. Another
    one asks another model on the same web; it opens the web where it is `live`, for what the
    record does not hold.
    """

    source: RunRecord
    resumed: bool = True
    live: bool = True

    def open_journal(self, runs: Runs) -> Journal:
        """Open the journal to write to."""
        return Journal(self.source.folder if self.resumed else runs.create(utc_now()))

    def opening(self, place: str) -> list[Message] | None:
        """Give the messages that a loop begins with; None where they are laid out anew.

        Another model plans for itself, so that only its main loop begins alike.
        """
        return self.source.opening_at(place) if self.resumed or place == MAIN else None

    @property
    def origins_read(self) -> set[str]:
        """The kinds of texts that the recorded run read."""
        return {event.data["origin"] for event in self.source.events_of("context.read")}

    @property
    def read_private(self) -> bool:
        """Whether the record tells of private texts, or does not tell what was read at all."""
        return not self.origins_read or not PRIVATE.isdisjoint(self.origins_read)

    @property
    def logged_in(self) -> bool:
        """Whether the person's logins are in the browser: those of the site's forms are not."""
        own = str(self.source.folder.browser_state)  # what each resumption begins with
        begun = self.source.events_of("run.started")
        given = {event.data["options"].get("storage_state") for event in begun}
        return not self.resumed or bool(given - {None, own}) or Kind.PAGE in self.origins_read

    def left_open(self) -> dict[str, InterruptedPage]:
        """Give the pages that were open, by the loops that had them; opened again when needed."""
        if not self.resumed:
            return {}
        return left_pages(self.source.events_of("page.open"), self.source.folder.browser_state)

    def model(self, live: Model) -> Model:
        """Give the model to ask, given the live one."""
        return ResumedModel(self.source, live) if self.resumed else live

    def calls(self, live: Caller, journal: Journal) -> Caller:
        """Give who makes the tool calls, given the live policy."""
        if self.resumed:
            return ResumedCalls(self.source, live, journal.write)
        self.source.copy_sources(journal)
        return RecordedWebCalls(self.source, journal.write, live if self.live else None)

    def record(self, write: Record) -> Record:
        """Give how events are written."""
        return once_each(self.source, write) if self.resumed else write


def with_harmless_settings(record: RunRecord) -> RunRecord:
    """Give the record of an archive without the settings that would open this machine to it.

    A run that goes on from it (another model, the live web) has its reach from the person's own
    settings, not from whoever made the archive.
    """
    asked = record.started.get("options", {})
    return record.with_options({name: asked[name] for name in asked if name in _HARMLESS})


class ResumedCalls:
    """Gives recorded results, does what was never done, and repeats no write of unknown outcome."""

    def __init__(self, record: RunRecord, live: Caller, write: Record) -> None:
        self._record = record
        self._live = live
        self._write = write
        self._begun = {event.place for event in record.events_of("tool.intent")}

    async def run(self, call: ToolCall, place: str) -> Callable[[], CallResult]:
        """Find a call's result, or make the call."""
        known = self._record.results.get(place)
        # The model may have been asked anew, and call something else in this place.
        if known is not None and known[:2] == (call.name, call.param):
            return lambda: known[2]
        if place not in self._begun:  # an effect that it may have had is not had twice
            return await self._live.run(call, place)

        def unknown() -> CallResult:
            self._write("tool.outcome_unknown", place, name=call.name, param=call.param)
            error = "outcome unknown: the run was cut off while this was being done"
            hint = "It is not repeated. Look whether it took effect."
            result = CallResult(call.name, {"error": error}, hint=hint)
            self._write("tool.result", place, **result_event_data(call, result))
            return result

        return unknown


class RecordedWebCalls:
    """Tool calls of another model on the recorded web: known ones are answered from the record.

    A search is known by its words, a page by its address, whatever is asked of it. The others go
    to `live` where there is one, and are errors where there is none.
    """

    def __init__(self, record: RunRecord, write: Record, live: Caller | None) -> None:
        self._write = write
        self._live = live
        self._results = {_key(name, param): r for name, param, r in record.results.values()}
        self._pages = {normalize(page.url): (page, part) for page, part in record.pages()}
        self._context = ToolContext(
            question=record.question,
            evidence=record.evidence,
            limits=Limits(),
            keep=record.folder.keep,
        )

    async def run(self, call: ToolCall, place: str) -> Callable[[], CallResult]:
        """Find the result of the same call anywhere in the record."""
        found = self._results.get(_key(call.name, call.param)) or self._page_shown(call)
        if found is None and self._live is not None:
            return await self._live.run(call, place)
        result = found or CallResult(
            call.name,
            {"error": f"not in the record: {call.name} {call.param}"},
            hint="Only what the recorded run searched and read is there. " + ToolError.hint,
        )

        def finish() -> CallResult:
            self._write("tool.result", place, **result_event_data(call, result))
            return result

        return finish

    def _page_shown(self, call: ToolCall) -> CallResult | None:
        """Show a page on record, with another query or from another passage on."""
        arguments = _arguments(call.name, call.param) if call.name in _READING else None
        if arguments is None or normalize(arguments.url) not in self._pages:
            return None
        page, part = self._pages[normalize(arguments.url)]
        context = replace(self._context, evidence=self._context.evidence.for_loop(part))
        if call.name == "READ":
            made = read_result(context, page, arguments.query, arguments.start)
        else:
            made = fetch_result(context, page)
        return CallResult(
            call.name,
            made.data,
            made.web,
            made.label,
            made.hint,
            capped=_TOOLS[call.name].capped,
            passages=made.passages,
        )


def _key(name: str, param: str) -> tuple[str, str]:
    """Give what a call is known by: the same words in another form or case are the same search."""
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
        return tool.parse(param).arguments if tool else None
    except ToolError:
        return None
