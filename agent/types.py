"""What the rooms of the agent hand each other: tool calls, replies, verdicts, the report."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field

if TYPE_CHECKING:
    from browser.types import SearchResult

Status = Literal["answered", "not_found", "partial", "failed"]
Answers = Literal["fully", "in part", "no"]
"""A judge's word on whether an answer answers its question."""


class VerdictState(StrEnum):
    """What checking a sentence came to. People see undecided as not verified."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"
    UNCITED = "uncited"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call: `param` is the raw text between the tags, a JSON object or a bare string."""

    name: str
    param: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply, parsed: `text` is what is left when thoughts are taken out.

    `unclosed` says that a thought never ended, so that what it swallowed was not run; `broken` that
    a call was begun which cannot be read, and none that can.
    """

    thoughts: tuple[str, ...]
    calls: tuple[ToolCall, ...]
    text: str
    unclosed: bool = False
    broken: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a saved text that can be cited: `text` is `source.text[start:end]`, literally.

    `id` is `S3¶12` (source 3, passage 12, both from 1); `heading` the path of headings above it,
    joined by ` › `; `page` the page number of a paged document; `kind` one of text, heading, list,
    table, snippet.
    """

    id: str
    source: int
    text: str
    start: int = 0
    end: int = 0
    heading: str = ""
    page: int | None = None
    kind: str = "text"


@dataclass(frozen=True, slots=True)
class Observation:
    """What one tool call brought, as data; a language model reads the same as text.

    `call` is the call as it was made, `data` the JSON of its result. `passages` are those that it
    showed, `results` the hits of a search, `snapshot` the text of a live page with its refs: as it
    is after OPEN, what changed after an action.
    """

    call: ToolCall
    data: Any
    passages: tuple[Passage, ...] = field(default=(), repr=False)
    results: tuple[SearchResult, ...] = field(default=(), repr=False)
    snapshot: str = field(default="", repr=False)

    @property
    def tool(self) -> str:
        """The name of the tool."""
        return self.call.name

    @property
    def failed(self) -> bool:
        """The tool answered with an error."""
        return bool(self.get("error"))

    @property
    def url(self) -> str:
        """The address that the result names, or nothing."""
        return str(self.get("url") or "")

    @property
    def title(self) -> str:
        """The title that the result names, or nothing."""
        return str(self.get("title") or "")

    def get(self, key: str) -> Any:
        """A field of the result; None where it has none."""
        return self.data.get(key) if isinstance(self.data, dict) else None


@dataclass(frozen=True, slots=True)
class Image:
    """A picture shown to the model: its bytes, their media type, and their SHA-256 (hex)."""

    media_type: str
    data: bytes = field(repr=False)
    sha256: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the conversation; a language model gets the text, and pictures if it sees.

    `observations` are the tool results of the message as data, one for each call and in the same
    order; in the question's own message the files and the page that were put into it. `question`
    is the person's own words, where `content` has memory and context around them.
    """

    role: Literal["user", "assistant"]
    content: str
    images: tuple[Image, ...] = ()
    observations: tuple[Observation, ...] = field(default=(), repr=False, compare=False)
    question: str = field(default="", repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A claim against passages: the quote that carries (or contradicts) it, and the reason.

    `missing` are its figures, dates and names that do not stand in what is cited.
    """

    state: VerdictState
    quote: str = ""
    reason: str = ""
    decided_by: Literal["code", "judge"] = "code"
    passage: str | None = None
    missing: tuple[str, ...] = ()


class Sentence(BaseModel):
    """A sentence of the answer; `citations` are source numbers of the report.

    `weak` says that it is supported by search results alone: no page that was read carries it.
    `about_search` marks what is no claim but says what the search found or did not. `missing` are
    the figures, dates and names that do not stand in what it cites, where no judge decided it.
    """

    text: str
    citations: list[int] = Field(default_factory=list)
    verdict: VerdictState = VerdictState.UNCITED
    decided_by: Literal["code", "judge"] = "code"
    reason: str = ""
    weak: bool = False
    about_search: bool = False
    missing: list[str] = Field(default_factory=list)


class ReportSource(BaseModel):
    """A source that the answer cites; each quote stands literally in the saved text.

    Of one that came `via` a `snippet` that is what a search result says of it: it was not read. One
    that was `computed` says from which passages, and by what code.
    """

    n: int
    url: str
    title: str = ""
    fetched_at: str
    sha256: str
    via: Literal["http", "browser", "file", "snippet", "mcp", "computed"]
    quotes: list[str] = Field(default_factory=list)


class Conflict(BaseModel):
    """A source that says otherwise than a sentence of the answer which another source carries.

    `citations` are the sources that carry the sentence, `source` the one that speaks against it,
    with the words in which it does; all are source numbers of the report.
    """

    text: str
    citations: list[int] = Field(default_factory=list)
    source: int
    quote: str
    reason: str = ""


class Fit(BaseModel):
    """How well a quoted sentence fits a question: what an answer by rules is rated by.

    `own` is the share (0-1) of the question's words, weighed by how rare they are, that it says
    itself; `margin` by how much its score is above the next sentence's, 0 to 2.5. Where a part of
    the question is left `open`, that counts as the worst fit.
    """

    own: float
    margin: float
    open: bool = False


class ConfidenceParts(BaseModel):
    """What the confidence is made of, each 0 to 1 unless said otherwise.

    `supported` is the share of claims that are carried, an undecided one counting half and one that
    only a search result carries 0.7 (of a draft, the plain share of what cites); `sites` how many
    independent sites carry them; `agreement` the share of the sources speaking of them that say the
    same; `coverage` the share of the question that the cited passages speak of; `freshness` the age
    in days of the newest dated source, None where none has a date; `answers` a judge's word on
    whether the question is answered, None where none was asked; `fit` what an answer by rules is
    rated by, None for a language model's.
    """

    supported: float = 0.0
    sites: int = 0
    agreement: float = 1.0
    coverage: float = 0.0
    freshness: int | None = None
    answers: Answers | None = None
    fit: Fit | None = None


class DataValue(BaseModel):
    """A value of `data`: where it stands (a JSON Pointer), what carries it, literally quoted.

    `citations` are source numbers of the report.
    """

    pointer: str
    value: Any
    citations: list[int] = Field(default_factory=list)
    verdict: VerdictState = VerdictState.UNCITED
    quote: str = ""
    reason: str = ""


class CheckedReference(BaseModel):
    """A reference of an audited draft as it was found to be.

    `source` is the number that its page has in the report, where it was read and cited. `now` is
    where it has moved to, `archived` the address of a copy of a dead page. `wrong` is what does not
    hold of it, `notes` what a reader should know, and what could not be checked.
    """

    key: str = ""
    text: str
    url: str = ""
    doi: str = ""
    state: Literal["ok", "moved", "dead", "not_read", "not_checked"] = "not_checked"
    source: int | None = None
    now: str = ""
    archived: str = ""
    wrong: list[str] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)


class SearchLine(BaseModel):
    """One line of the search trail."""

    query: str
    provider: str
    outcome: str
    results: int = 0
    ms: int = 0
    detail: str = ""


class UsageTotals(BaseModel):
    """What the run used; USD by the real price of the model, 0 where it is free or unknown."""

    model: str = ""
    model_calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0


class ErrorInfo(BaseModel):
    """Why a run failed: the error's type, what happened, what to do."""

    type: str
    message: str
    hint: str = ""


class Report(BaseModel):
    """The result of a run, as `--json` prints it.

    `confidence` is the probability that the answer is right and answers the question, None where
    no calibrated number can be given.
    With `--schema`, `data` is the answer in that form, `values` its single values with what carries
    them, and `data_notes` says what was left out, and what the schema still wants. `references` are
    those of an audited draft, which is the answer then.
    """

    run: str
    question: str
    status: Status
    answer: str = ""
    confidence: float | None = 0.0
    confidence_parts: ConfidenceParts = Field(default_factory=ConfidenceParts)
    sentences: list[Sentence] = Field(default_factory=list)
    sources: list[ReportSource] = Field(default_factory=list)
    conflicts: list[Conflict] = Field(default_factory=list)
    data: Any = None
    values: list[DataValue] = Field(default_factory=list)
    data_notes: list[str] = Field(default_factory=list)
    references: list[CheckedReference] = Field(default_factory=list)
    searches: list[SearchLine] = Field(default_factory=list)
    usage: UsageTotals = Field(default_factory=UsageTotals)
    steps: int = 0
    elapsed_s: float = 0.0
    error: ErrorInfo | None = None

    def to_json(self, **options: Any) -> str:
        """Serialise as JSON, two spaces deep unless told otherwise."""
        return self.model_dump_json(**{"indent": 2, **options})
