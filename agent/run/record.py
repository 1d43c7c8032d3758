"""What a run left on record, in the form in which it can be used again, and its model's replies."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from agent.config import CONTEXT_WINDOW
from agent.errors import JournalError, ModelUnavailable, UsageError
from agent.evidence.store import BLOCK, Evidence
from agent.journal.events import (
    AFTER,
    CLOSING,
    CONDENSE,
    JUDGE,
    MAIN,
    MEND,
    MISSING,
    OUTLINE,
    PLAN,
    REPHRASE,
    REVIEW,
    SYNTHESIS,
    VALUES,
    read_events,
)
from agent.journal.messages import images_from_rows, message_from_row, passages_by_id
from agent.limits import EFFORTS
from agent.loop.loop import NUDGED, request_digest
from agent.models.base import (
    ModelReply,
    ModelWrapper,
    Usage,
    guide,
    stream_reply,
)
from agent.protocol.results import CallResult
from agent.types import ErrorInfo, Fit, Message
from browser.types import Document, Outcome, Page, SearchResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.evidence.store import Source
    from agent.journal.events import Event, Journal
    from agent.journal.runs import RunFolder
    from agent.limits import Effort
    from agent.models.base import Model, OnText
    from agent.tools.context import Record


_OTHERS = (MEND, REPHRASE, PLAN, AFTER, JUDGE, MISSING, OUTLINE, VALUES, CONDENSE)
"""Places of calls that have a system prompt of their own."""
_ONCE = frozenset({"model.request", "thought", "tool.call", "tool.result", "tool.intent"})
"""Events that name one effect: at a place where one stands on record, it is not written again."""


@dataclass(frozen=True, slots=True)
class Request:
    """A model call: its place, its digest, and the messages that were new in it, as recorded."""

    place: str
    sha256: str
    rows: tuple[dict[str, Any], ...] = field(default=(), repr=False)


@dataclass(slots=True)
class RunRecord:
    """The record of one run, read whole."""

    folder: RunFolder
    events: list[Event]
    started: dict[str, Any] = field(default_factory=dict)
    system: str = ""
    requests: list[Request] = field(default_factory=list)
    replies: dict[str, ModelReply] = field(default_factory=dict)
    results: dict[str, tuple[str, str, CallResult]] = field(default_factory=dict)
    intents: set[str] = field(default_factory=set)
    limit: str | None = None
    limits: dict[str, str] = field(default_factory=dict)
    review: str | None = None
    review_kept: list[str] = field(default_factory=list)
    section_reviews: dict[str, str] = field(default_factory=dict)
    verdicts: list[dict[str, str]] = field(default_factory=list)
    failures: dict[str, ErrorInfo] = field(default_factory=dict)
    answer: str | None = None
    status: str | None = None
    error: ErrorInfo | None = None
    elapsed_s: float = 0.0
    _read: Evidence | None = None
    _shown: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: RunFolder) -> RunRecord:
        """Read a run; raises `JournalError` where it holds no beginning."""
        record = cls(folder, list(read_events(folder.journal)))
        for event in record.events:
            record._take(event)
        if not record.started:
            raise JournalError(f"{folder.id} never began")
        return record

    @property
    def question(self) -> str:
        """What was asked."""
        return str(self.started["question"])

    def require_question(self) -> RunRecord:
        """Give this record; raises `UsageError` for an audit, which has no loop to repeat."""
        if self.started.get("work") == "audit":
            hint = "`research verify` holds its quotes against the saved pages; "
            hint += "`research audit FILE` reads them anew."
            raise UsageError(f"{self.folder.id} is an audit, which is not replayed", hint=hint)
        return self

    @property
    def began(self) -> str:
        """When it began: ISO 8601, UTC."""
        return self.events[0].at

    @property
    def guided(self) -> bool:
        """Whether its model was guided from the beginning."""
        return bool(self.started.get("guided"))

    @property
    def effort(self) -> Effort:
        """How far the run went."""
        return EFFORTS[self.started["options"].get("depth", "standard")]

    @property
    def context_window(self) -> int:
        """The window that its conversations were kept in, in tokens."""
        return int(self.started["options"].get("context_window", CONTEXT_WINDOW))

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON Schema that values were asked for in."""
        found = self.started.get("schema")
        return found if isinstance(found, dict) else None

    @property
    def as_report(self) -> bool:
        """Whether a report was asked for."""
        return bool(self.started["options"].get("report"))

    @property
    def tools(self) -> dict[str, Any]:
        """What was noted of the tools that the run had."""
        noted = (event.data for event in self.events if event.type == "tools.offered")
        return next(noted, {})

    def opening_at(self, loop: str) -> list[Message] | None:
        """The messages with which a loop began; None where it never did."""
        for request in self.requests:
            if request.place.startswith(f"{loop}/"):
                return self.messages(request.rows)
            if loop == MAIN and request.place in (SYNTHESIS, CLOSING):
                return self.messages(request.rows[:-1])
        return None

    def messages(self, rows: Sequence[dict[str, Any]]) -> list[Message]:
        """Read messages again, with the passages that they showed."""
        read = self._read or self.evidence()
        return [message_from_row(row, self.folder.blob, read.passage) for row in rows]

    def steps_at(self, loop: str) -> int:
        """Steps that a loop began, the wrap-up not counted."""
        places = (request.place.partition("/") for request in self.requests)
        return sum(head == loop and step.isdigit() for head, _, step in places)

    @property
    def nudged(self) -> bool:
        """Whether a model that had read nothing was asked once more."""
        return any(
            event.type == "guard.noticed" and event.data["circle"] == NUDGED
            for event in self.events
        )

    def asked_for(self, place: str) -> bool:
        """Whether the model was asked for this."""
        return any(request.place == place for request in self.requests)

    def replies_by_digest(self) -> dict[str, deque[ModelReply]]:
        """The recorded replies by what was asked."""
        found: dict[str, deque[ModelReply]] = defaultdict(deque)
        for request in self.requests:
            if request.place in self.replies:
                found[request.sha256].append(self.replies[request.place])
        return found

    def evidence(self) -> Evidence:
        """The sources of the run, as they were numbered.

        With them the `results` get the passages back that they showed.
        """
        evidence = Evidence(self.question)
        for event in self.events:
            if event.type == "source.added":
                loop = evidence.part(event.data["n"] // BLOCK)
                _the_same(loop.add(_page(event.data, self.folder)), event.data)
            elif event.type == "results.added":
                at = datetime.fromisoformat(event.data["fetched_at"])
                for row in event.data["results"]:
                    loop = evidence.part(row["n"] // BLOCK)
                    _the_same(loop.add_snippet(_result(row), at), row)
        for place, (name, param, result) in self.results.items():
            shown = passages_by_id(self._shown[place], evidence.passage)
            self.results[place] = (name, param, replace(result, passages=shown))
        self._read = evidence
        return evidence

    def pages(self) -> list[tuple[Page, int]]:
        """The pages that were read, in order, each with the number of the loop that read it."""
        added = (event.data for event in self.events if event.type == "source.added")
        return [(_page(data, self.folder), data["n"] // BLOCK) for data in added]

    def copy_sources(self, journal: Journal) -> None:
        """Make the sources part of another run's record, so that it stands on its own."""
        for event in self.events:
            if event.type == "source.added":
                for name in ("text", "body"):
                    if event.data[name]:
                        journal.keep(self.folder.blob(event.data[name]))
            if event.type in ("source.added", "results.added"):
                journal.write(event.type, event.place, **event.data)

    def _take(self, event: Event) -> None:
        data = event.data
        match event.type:
            case "run.started":
                self.started = data
            case "model.request":
                if not event.place.startswith(_OTHERS):
                    self.system = data["system"] or self.system
                rows = tuple(data["messages"])
                self.requests.append(Request(event.place, data["sha256"], rows))
            case "model.reply":
                counted = (data["input_tokens"], data["cached_tokens"], data["output_tokens"])
                usage = Usage(*counted, data["usd"])
                fit = Fit(**data["fit"]) if "fit" in data else None
                self.replies[event.place] = ModelReply(data["text"], usage, data["model"], fit)
            case "tool.intent":
                self.intents.add(event.place)
            case "tool.result":
                result = CallResult(
                    data["name"],
                    data["data"],
                    data["web"],
                    data["label"],
                    data["hint"],
                    capped=data["capped"],
                    images=images_from_rows(data.get("images", ()), self.folder.blob),
                    results=tuple(SearchResult(*hit) for hit in data.get("results", ())),
                    snapshot=data["web"][: data.get("snapshot", 0)],
                )
                self._shown[event.place] = data.get("passages", [])
                self.results[event.place] = (data["name"], data["param"], result)
            case _:
                self._take_ending(event)

    def _take_ending(self, event: Event) -> None:
        data = event.data
        match event.type:
            case "limit.reached":
                self.limits[event.place] = data["limit"]
            case "judge":
                self.verdicts += data["verdicts"]
            case "review":
                loop = event.place.partition("/")[0]
                if loop == REVIEW:
                    self.review = data["said"]
                    self.review_kept = data.get("kept", [])
                else:
                    self.section_reviews[loop] = data["said"]
            case "answer.draft":
                self.limit = data["limit"]
            case "model.failed":
                self.failures[event.place] = ErrorInfo(**data)
            case "run.finished":
                self.answer = data["report"]["answer"]
                self.status = data["report"]["status"]
                self.elapsed_s = data["report"]["elapsed_s"]
                error = data["report"].get("error")
                self.error = ErrorInfo(**error) if error else None


def _the_same(source: Source, row: dict[str, Any]) -> None:
    """Make sure that a source is the one on record; raises `JournalError`."""
    if source.sha256 != row["sha256"]:
        raise JournalError(f"the saved text of S{row['n']} was changed")


def _result(row: dict[str, Any]) -> SearchResult:
    return SearchResult(row["url"], row["title"], row["snippet"], published=row["published"])


def _page(data: dict[str, Any], folder: RunFolder) -> Page:
    text = folder.blob(data["text"]).decode("utf-8", "surrogatepass")
    document = Document(
        url=data["url"],
        title=data["title"],
        text=text,
        published=data["published"],
        pages=tuple(data["pages"]),
    )
    return Page(
        requested_url=data["url"],
        url=data["url"],
        via=data["via"],
        outcome=Outcome.OK,
        fetched_at=datetime.fromisoformat(data["fetched_at"]),
        document=document,
    )


class ResumedModel(ModelWrapper):
    """Gives recorded replies as long as the record has them, then asks the model."""

    def __init__(self, record: RunRecord, live: Model) -> None:
        super().__init__(live)
        self._replies = record.replies_by_digest()
        self._failed = {
            request.sha256
            for request in record.requests
            if request.place.startswith(CONDENSE) and request.place in record.failures
        }

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:
        """Answer from the record, or live."""
        known = self._known(system, messages)
        return known or await self._model.reply(system, messages)

    async def stream(self, system: str, messages: Sequence[Message], heard: OnText) -> ModelReply:
        """Answer from the record, or live and heard while it speaks."""
        known = self._known(system, messages)
        return known or await stream_reply(self._model, system, messages, heard)

    def _known(self, system: str, messages: Sequence[Message]) -> ModelReply | None:
        digest = request_digest(system, messages)
        if digest in self._failed:  # what stands behind it on record went on without it
            raise ModelUnavailable("old steps were not summed up when this was asked")
        known = self._replies.get(digest)
        return known.popleft() if known else None

    def guide(self) -> None:
        """Guide the live model."""
        guide(self._model)


def once_each(record: RunRecord, write: Record) -> Record:
    """Wrap the writing of events, so that what is on record is not written twice."""
    known = {(event.type, event.place) for event in record.events if event.type in _ONCE}
    replied = set(record.replies)

    def note(kind: str, place: str = "", **data: Any) -> None:
        if (kind, place) in known or (kind == "model.reply" and place in replied):
            return
        write(kind, place, **data)

    return note
