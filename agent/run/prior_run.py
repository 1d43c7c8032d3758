"""Lets a run start from a record: its own, if resumed, or another run's, as a recorded web."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from agent.errors import ToolError
from agent.guard.provenance import PRIVATE_KINDS, Kind
from agent.journal.events import MAIN, OUTLINE, Journal, utc_now
from agent.loop.subtasks import read_interrupted_pages
from agent.run.record import ResumedModel, skip_recorded_events
from agent.tools.context import ToolContext
from agent.tools.policy import result_event_data, unknown_outcome
from agent.tools.web_tools import READING_TOOLS, WEB_TOOLS, show_page
from agent.types import Observation
from browser.net.url import normalize

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agent.journal.runs import Runs
    from agent.loop.report_sections import Section
    from agent.models.base import Model
    from agent.protocol.call_results import Caller
    from agent.run.record import RunRecord
    from agent.tools.context import InterruptedPage, Record
    from agent.types import Message, ToolCall


_TOOLS: Final = {tool.name: tool for tool in WEB_TOOLS}


@dataclass(frozen=True, slots=True)
class PriorRun:
    """The record that a run starts from.

    A `resumed` run continues the recorded run: its events are reused and not written twice.
    Otherwise another model answers the question, using the recorded web; with `live`, pages and
    searches that are missing from the record come from the live web. With `sections`, the sections
    of the recorded report that have text are kept, with all sources, and the others are researched
    on the web.
    """

    source: RunRecord
    resumed: bool = True
    live: bool = True
    sections: Sequence[Section] = ()

    def open_journal(self, runs: Runs, run: str | None = None) -> Journal:
        """Open the run's journal: the recorded one for a resumed run, otherwise a new one."""
        return Journal(self.source.folder if self.resumed else runs.create(utc_now(), run))

    def opening(self, place: str) -> list[Message] | None:
        """Return the recorded first messages of a loop; None if they must be rebuilt.

        A different model makes its own plan, so only its main loop starts with the same messages.
        """
        if self.sections:
            return None
        return self.source.opening_at(place) if self.resumed or place == MAIN else None

    @property
    def origins_read(self) -> set[str]:
        """The kinds of text that the recorded run read (values of `Kind`)."""
        return {event.data["origin"] for event in self.source.events_of("context.read")}

    @property
    def read_private(self) -> bool:
        """Whether the run read private text; also true if its record is too old to include this."""
        return not self.origins_read or not PRIVATE_KINDS.isdisjoint(self.origins_read)

    @property
    def logged_in(self) -> bool:
        """Whether the browser has any of the user's logins, except those made during the run."""
        # A resumed run starts with the browser state that the interrupted run saved.
        own_state = str(self.source.folder.browser_state)
        starts = self.source.events_of("run.started")
        states = {event.data["options"].get("storage_state") for event in starts}
        named = any(event.data["options"].get("login") for event in starts)
        has_users_state = named or bool(states - {None, own_state})
        return not self.resumed or has_users_state or Kind.PAGE in self.origins_read

    def interrupted_pages(self) -> dict[str, InterruptedPage]:
        """Return the page that each loop had open, to be reopened on demand."""
        if not self.resumed:
            return {}
        return read_interrupted_pages(
            self.source.events_of("page.open"), self.source.folder.browser_state
        )

    def model(self, live: Model) -> Model:
        """Return the model to use: the live one, wrapped if recorded replies can be reused."""
        return ResumedModel(self.source, live) if self.resumed else live

    def calls(self, live: Caller, journal: Journal) -> Caller:
        """Return the tool caller to use: the live one, wrapped to reuse recorded results."""
        if self.resumed:
            return ResumedCalls(self.source, live, journal.write)
        self.source.copy_sources(journal)
        if self.sections:
            rows = [asdict(section) for section in self.sections]
            journal.write("sections.kept", OUTLINE, of=self.source.folder.id, sections=rows)
            return live
        return RecordedWebCalls(self.source, journal.write, live if self.live else None)

    def record(self, write: Record) -> Record:
        """Wrap a function that writes events, so that a resumed run does not write them twice."""
        return skip_recorded_events(self.source, write) if self.resumed else write


class ResumedCalls:
    """Returns recorded results, and makes calls that have none, but never repeats a write."""

    def __init__(self, record: RunRecord, live: Caller, write: Record) -> None:
        self._record = record
        self._live = live
        self._write = write
        # `tool.intent` is recorded before a call that writes, `tool.result` after it.
        self._begun = {event.place for event in record.events_of("tool.intent")}

    async def run(self, call: ToolCall, place: str) -> Callable[[], Observation]:
        """Return a call's recorded result, or make the call."""
        known = self._record.results.get(place)
        # Compare them, since the model may have been asked again and made a different call.
        if known is not None and known.call == call:
            return lambda: known
        if place not in self._begun:
            return await self._live.run(call, place)
        # The run was killed during this write. Whether it took effect is unknown, so it is not
        # repeated.

        def unknown() -> Observation:
            self._write("tool.outcome_unknown", place, name=call.name, param=call.param)
            unknown = unknown_outcome()
            result = Observation(call, unknown.data, hint=unknown.hint)
            self._write("tool.result", place, **result_event_data(result))
            return result

        return unknown


class RecordedWebCalls:
    """Answers another model's tool calls from a run's record.

    Searches are looked up by their words, and pages by their address, regardless of the query.
    Other calls are made with `live`; if it is None, they fail.
    """

    def __init__(self, record: RunRecord, write: Record, live: Caller | None) -> None:
        self._write = write
        self._live = live
        self._results = {_call_key(r.call): r for r in record.results.values()}
        self._pages = {normalize(page.url): (page, part) for page, part in record.pages()}
        self._context = ToolContext(
            question=record.question,
            evidence=record.evidence,
            store_bytes=record.folder.save_blob,
        )

    async def run(self, call: ToolCall, place: str) -> Callable[[], Observation]:
        """Return the recorded result of the same call, from any place."""
        found = self._results.get(_call_key(call)) or self._read_recorded_page(call)
        if found is None and self._live is not None:
            return await self._live.run(call, place)
        missing = Observation(
            call,
            {"error": f"not in the record: {call.name} {call.param}"},
            hint="The record contains only what that run searched for and read. " + ToolError.hint,
        )
        # The recorded call may be spelled differently.
        result = replace(found, call=call) if found is not None else missing

        def finish() -> Observation:
            self._write("tool.result", place, **result_event_data(result))
            return result

        return finish

    def _read_recorded_page(self, call: ToolCall) -> Observation | None:
        """Read a recorded page, with a different query or starting at a different passage."""
        arguments = (
            _parse_web_arguments(call.name, call.param)
            if _TOOLS.get(call.name) in READING_TOOLS
            else None
        )
        if arguments is None or normalize(arguments.url) not in self._pages:
            return None
        # Use the source numbers of the loop that read the page, so that its passages keep their
        # ids.
        page, part = self._pages[normalize(arguments.url)]
        context = replace(self._context, evidence=self._context.evidence.for_loop(part))
        result = show_page(context, call, page)
        return Observation(
            call,
            result.data,
            result.passages,
            web=result.web,
            label=result.label,
            hint=result.hint,
            **_TOOLS[call.name].describe(call),
        )


def _call_key(call: ToolCall) -> tuple[str, str]:
    """Return a key that identifies a call; for searches, the key ignores case and spacing."""
    arguments = _parse_web_arguments(call.name, call.param)
    if arguments is None:
        return call.name, call.param
    fields = arguments.model_dump(exclude_defaults=True)
    if "query" in fields:
        fields["query"] = " ".join(fields["query"].casefold().split())
    return call.name, repr(sorted(fields.items()))


def _parse_web_arguments(name: str, param: str) -> Any:
    """Parse the arguments of a web tool; None for other tools and invalid arguments."""
    tool = _TOOLS.get(name)
    try:
        return tool.parse(param).arguments if tool else None
    except ToolError:
        return None
