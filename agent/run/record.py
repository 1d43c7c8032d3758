"""Reads a run's record: each property is a query over its events.

`ResumedModel` and `skip_recorded_events` are for resumed runs: recorded replies are not
requested again, and recorded events are not written twice.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import fields
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from agent.errors import JournalError, ModelUnavailable, UsageError
from agent.evidence.store import NUMBERS_PER_LOOP, Evidence
from agent.guard.model_client import request_digest
from agent.journal.events import (
    AFTER,
    CHALLENGE,
    CLOSING,
    CONDENSE,
    JUDGE,
    MAIN,
    MISSING,
    OUTLINE,
    PLAN,
    PRIMARY,
    PROPOSAL,
    REPHRASE,
    SYNTHESIS,
    VALUES,
    read_events,
)
from agent.journal.messages import images_from_rows, message_from_row, passages_by_id
from agent.loop.plan_approval import PlanApproval
from agent.loop.report_sections import Section
from agent.models.base import ModelReply, ModelWrapper, Usage, ask_model, start_guided_mode
from agent.models.providers import EXTRACTIVE
from agent.types import Fit, Message, Observation, ToolCall, ToolTrait
from browser.types import Document, Outcome, Page, SearchResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent.evidence.store import Source
    from agent.journal.events import Event, Journal
    from agent.journal.runs import RunFolder
    from agent.models.base import Model, OnText
    from agent.tools.context import Record


_OWN_SYSTEM_PROMPT: Final = (
    REPHRASE,
    PLAN,
    PROPOSAL,
    AFTER,
    JUDGE,
    MISSING,
    CHALLENGE,
    OUTLINE,
    VALUES,
    CONDENSE,
)
"""Places of model calls that do not use the loops' system prompt."""

_ONCE_PER_PLACE: Final = frozenset(
    {
        "model.request",
        "model.reply",
        "thought",
        "tool.call",
        "tool.result",
        "tool.intent",
        "plan.clarified",
        "plan.approved",
        CHALLENGE,
        PRIMARY,
    }
)
"""Events that occur once per place; a resumed run does not write them again."""


class RunRecord:
    """A snapshot of one run's events, and queries over them."""

    def __init__(self, folder: RunFolder, events: Iterable[Event]) -> None:
        self.folder = folder
        self.events = list(events)
        self._by_type: dict[str, list[Event]] = defaultdict(list)
        for event in self.events:
            self._by_type[event.type].append(event)
        if not self.events_of("run.started"):
            raise JournalError(f"{folder.id} was never started")

    @classmethod
    def read(cls, folder: RunFolder) -> RunRecord:
        """Read a run's record; raises `JournalError` if it has no `run.started`."""
        return cls(folder, read_events(folder.journal))

    def events_of(self, kind: str) -> list[Event]:
        """Return the events of a type, in order."""
        return self._by_type[kind]

    # Beginning of the run.

    @property
    def started(self) -> dict[str, Any]:
        """The data of the latest `run.started` event (a resumed run has several)."""
        return self.events_of("run.started")[-1].data

    @property
    def question(self) -> str:
        """The run's question."""
        return str(self.started["question"])

    def require_question(self) -> RunRecord:
        """Return this record; raises `UsageError` for an audit or a recheck, which have no loop."""
        work = self.started.get("work", "question")
        if work != "question":
            hint = "`research verify` compares its quotes with the saved pages; "
            hint += f"`research {work}` reads the pages again."
            name = "an audit" if work == "audit" else f"a {work}"
            raise UsageError(f"{self.folder.id} is {name}, which cannot be replayed", hint=hint)
        return self

    @property
    def day(self) -> str:
        """The day on which the run started (UTC)."""
        return self.events[0].at[:10]

    @property
    def directed_by_code(self) -> bool:
        """Whether code chose the tool calls: for the extractive model and in guided mode."""
        return self.started["model"] == EXTRACTIVE or bool(self.started.get("guided"))

    @property
    def options(self) -> dict[str, Any]:
        """The run's settings."""
        return self.folder.settings_with_paths(self.started["options"])

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON Schema of the requested values."""
        found = self.started.get("schema")
        return found if isinstance(found, dict) else None

    def approval(self) -> PlanApproval:
        """The user's answer and approved plan, as recorded before the run was interrupted."""
        answers = [event.data["answer"] for event in self.events_of("plan.clarified")]
        plans = [event.data["text"] for event in self.events_of("plan.approved")]
        return PlanApproval(
            answered=answers[-1] if answers else None, approved=plans[-1] if plans else None
        )

    @property
    def sections(self) -> list[Section]:
        """The report's sections, as last recorded; empty if the answer has no sections."""
        written = self.events_of("sections")
        return [Section.from_row(row) for row in written[-1].data["sections"]] if written else []

    @property
    def kept_sections(self) -> list[Section]:
        """The sections carried over from an earlier report; those without text are new."""
        kept = self.events_of("sections.kept")
        return [Section.from_row(row) for row in kept[-1].data["sections"]] if kept else []

    # Model calls and tool calls, by their places.

    @property
    def requests(self) -> list[Event]:
        """The model calls in order, each with its digest and its new messages."""
        return self.events_of("model.request")

    @property
    def system(self) -> str:
        """The loops' system prompt; for a resumed run, the latest one."""
        for request in reversed(self.requests):
            if request.data["system"] and not request.place.startswith(_OWN_SYSTEM_PROMPT):
                return str(request.data["system"])
        return ""

    @cached_property
    def replies(self) -> dict[str, ModelReply]:
        """The models' replies, by place."""
        found = {}
        for event in self.events_of("model.reply"):
            data = event.data
            usage = Usage(**{amount.name: data[amount.name] for amount in fields(Usage)})
            fit = Fit(**data["fit"]) if "fit" in data else None
            cut = data.get("cut", False)
            found[event.place] = ModelReply(data["text"], usage, data["model"], fit, cut)
        return found

    @cached_property
    def results(self) -> dict[str, Observation]:
        """The result of each tool call, by place."""
        passage, blob, found = self.evidence.passage, self.folder.blob, {}
        for event in self.events_of("tool.result"):
            data = event.data
            found[event.place] = Observation(
                ToolCall(data["name"], data["param"]),
                data["data"],
                passages=passages_by_id(data.get("passages", ()), passage),
                results=tuple(SearchResult(*hit) for hit in data.get("results", ())),
                snapshot=data["web"][: data.get("snapshot", 0)],
                web=data["web"],
                label=data["label"],
                hint=data["hint"],
                capped=data["capped"],
                was_run=data.get("made", True),
                traits=frozenset(map(ToolTrait, data.get("traits", ()))),
                request=data.get("request", ""),
                images=images_from_rows(data.get("images", ()), blob),
            )
        return found

    def opening_at(self, loop: str) -> list[Message] | None:
        """Return a loop's first messages, or None if the loop never started."""
        for request in self.requests:
            if request.place.startswith(f"{loop}/"):
                return self.messages(request)
            # With subtasks or sections, the main loop is first asked to combine them; that request
            # is its last opening message.
            if loop == MAIN and request.place in (SYNTHESIS, CLOSING):
                return self.messages(request)[:-1]
        if self.approval().approved == "":  # the user rejected the plan, so no loop started
            return [Message("user", self.question)]
        return None

    def messages(self, request: Event) -> list[Message]:
        """Read the messages that a request added, with the passages shown in them."""
        blob, passage = self.folder.blob, self.evidence.passage
        return [message_from_row(row, blob, passage) for row in request.data["messages"]]

    def replies_by_digest(self) -> dict[str, deque[ModelReply]]:
        """Return the replies by their requests' digests, oldest first."""
        found: dict[str, deque[ModelReply]] = defaultdict(deque)
        for request in self.requests:
            if request.place in self.replies:
                found[request.data["sha256"]].append(self.replies[request.place])
        return found

    # The pages and search results that the run read.

    @cached_property
    def evidence(self) -> Evidence:
        """The run's sources with their numbers; a resumed run adds to them.

        Raises `JournalError` if any saved text was changed.
        """
        evidence = Evidence(self.question)
        for event in self.events:
            if event.type == "source.added":
                loop = evidence.for_loop(event.data["n"] // NUMBERS_PER_LOOP)
                page, acted = self._page(event.data), bool(event.data.get("acted"))
                source = loop.add(page, event.data.get("step", ""), acted=acted)
                self._check(source, event.data)
            elif event.type == "results.added":
                at = datetime.fromisoformat(event.data["fetched_at"])
                for row in event.data["results"]:
                    found = {name: row[name] for name in ("url", "title", "snippet", "published")}
                    loop = evidence.for_loop(row["n"] // NUMBERS_PER_LOOP)
                    self._check(loop.add_snippet(SearchResult(**found), at), row)
        return evidence

    @staticmethod
    def _check(source: Source, row: dict[str, Any]) -> None:
        if source.sha256 != row["sha256"]:
            raise JournalError(f"the saved text of S{row['n']} was changed")

    def pages(self) -> list[tuple[Page, int]]:
        """Return the pages that were read, in order, each with the number of its loop."""
        return [
            (self._page(e.data), e.data["n"] // NUMBERS_PER_LOOP)
            for e in self.events_of("source.added")
        ]

    def page(self, url: str, sha256: str) -> Page | None:
        """Return the page that was read with this URL and hash, or None."""
        rows = (event.data for event in self.events_of("source.added"))
        found = next((row for row in rows if (row["url"], row["sha256"]) == (url, sha256)), None)
        return self._page(found) if found else None

    def _page(self, data: dict[str, Any]) -> Page:
        document = Document(
            url=data["url"],
            title=data["title"],
            text=self.folder.blob(data["text"]).decode("utf-8", "surrogatepass"),
            published=data["published"],
            pages=tuple(data["pages"]),
            shown_from=data.get("shown_from"),
            canonical_url=data.get("canonical"),
        )
        return Page(
            requested_url=data["url"],
            url=data["url"],
            via=data["via"],
            outcome=Outcome.OK,
            fetched_at=datetime.fromisoformat(data["fetched_at"]),
            document=document,
        )

    def copy_sources(self, journal: Journal) -> None:
        """Copy the sources into another run's record, so that the record is self-contained."""
        for event in self.events:
            if event.type == "source.added":
                for name in ("text", "body"):
                    if event.data[name]:
                        journal.folder.save_blob(self.folder.blob(event.data[name]))
            if event.type in ("source.added", "results.added"):
                journal.write(event.type, event.place, **event.data)

    # End of the run.

    @property
    def end(self) -> Event | None:
        """The last `run.finished` event, with the report; None if the run did not finish."""
        finished = self.events_of("run.finished")
        return finished[-1] if finished else None

    def events_until_end(self) -> Sequence[Event]:
        """Return the events up to `run.finished`; later events come from the post-run tasks."""
        end = self.end
        return [event for event in self.events if end is None or event.seq <= end.seq]

    @property
    def report(self) -> dict[str, Any]:
        """The report; empty if the run did not finish."""
        return self.end.data["report"] if self.end else {}


class ResumedModel(ModelWrapper):
    """Returns recorded replies; asks the live model if there is none."""

    streams = True

    def __init__(self, record: RunRecord, live: Model) -> None:
        super().__init__(live)
        self._replies = record.replies_by_digest()
        failed = {event.place for event in record.events_of("model.failed")}
        self._failed = {
            request.data["sha256"]
            for request in record.requests
            if request.place.startswith(CONDENSE) and request.place in failed
        }

    async def reply(
        self, system: str, messages: Sequence[Message], on_text: OnText | None = None
    ) -> ModelReply:
        """Return the recorded reply to the same request, or else ask the live model."""
        digest = request_digest(system, messages)
        # The recorded run failed to summarise these old steps and went on without. Adding a summary
        # would make its next requests differ from the record.
        if digest in self._failed:
            raise ModelUnavailable("the recorded run did not summarise these steps")
        if known := self._replies.get(digest):
            return known.popleft()
        return await ask_model(self._model, system, messages, on_text)

    def start_guided_mode(self) -> None:
        """Start guided mode in the live model."""
        start_guided_mode(self._model)


def skip_recorded_events(record: RunRecord, write: Record) -> Record:
    """Wrap `write` so that it skips `_ONCE_PER_PLACE` events that are already recorded."""
    known = {(event.type, event.place) for event in record.events if event.type in _ONCE_PER_PLACE}

    def write_new(kind: str, place: str = "", **data: Any) -> None:
        if (kind, place) not in known:
            write(kind, place, **data)

    return write_new
