"""Data types shared by the agent's packages: tool calls, replies, verdicts, the report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, PrivateAttr, computed_field

from agent import jsvalues as js
from agent.errors import UsageError

if TYPE_CHECKING:
    from browser.types import SearchResult

Status = Literal["answered", "not_found", "partial", "failed"]
Answers = Literal["fully", "in part", "no"]
"""The extent to which an answer answers its question, according to a judge."""
Standing = Literal["supported", "in_part", "disputed", "contradicted", "not_verified"]
"""The verdict on an answer as a whole."""
DOUBTFUL_BELOW = 0.7
"""An answer with a lower confidence is marked as doubtful wherever it is shown.

Checked on 40 answers over a closed web that was not used to choose the threshold, judged by their
passages alone: all 28 answers at or above the threshold are right, and 2 of the 12 below it.
"""


FINAL_STATUSES = frozenset({"answered", "not_found"})
"""The statuses of runs that cannot be resumed."""


class VerdictState(StrEnum):
    """The result of checking a sentence; `undecided` is shown to readers as "not verified".

    `done` and `attempted` apply to the run's actions. `done` means that the outcome and the page
    afterwards confirm the action; `attempted` means that it was started, but nothing shows that it
    took effect.
    """

    SUPPORTED = "supported"
    DONE = "done"
    ATTEMPTED = "attempted"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"
    UNCITED = "uncited"

    @property
    def holds(self) -> bool:
        """Whether the sentence is supported, or the action was done."""
        return self in (VerdictState.SUPPORTED, VerdictState.DONE)


class ToolTrait(StrEnum):
    """A property of a tool's results, which the tool declares; recorded with each result."""

    READS = "reads"
    """It changes nothing, so more calls are allowed in a loop that learns nothing new."""
    LOOKS = "looks"
    """It only shows more of a page, so it is left out when the browser session is rerun."""
    CONFIRMS = "confirms"
    """Its result only confirms what was requested; it contains no text whose origin matters."""
    REPORTS = "reports"
    """Its success message is part of the answer, because the user requested its effect."""
    ON_PAGE = "on_page"
    """It uses the page that is open in the browser."""
    SHOWS_PAGE = "shows_page"
    """It shows the open page, or its changes; only the newest such result is up to date."""
    SEARCHES = "searches"
    """It lists search results, which must be read before they are good evidence."""
    REMEMBERS = "remembers"
    """It saves or returns memories."""
    HAS_EVENTS = "has_events"
    """Its searches and pages have events of their own, so progress does not show its result."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call: `param` is the raw text between the tags, a JSON object or a bare string."""

    name: str
    param: str = ""

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of a parameter that is a JSON object; empty for any other parameter."""
        try:
            value = json.loads(self.param, strict=False)  # models write newlines inside strings
        except (ValueError, RecursionError):  # RecursionError is raised for deep nesting
            return {}
        return value if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True)
class Reply:
    """A parsed reply of a model: `text` is the reply without its thoughts.

    `unclosed` means that a thought has no end tag, so calls in it were not run; `broken` that the
    reply contains calls, but none can be parsed; `nested` that a call is inside another;
    `is_truncated` that the reply was cut off at its length limit.
    """

    thoughts: tuple[str, ...]
    calls: tuple[ToolCall, ...]
    text: str
    unclosed: bool = False
    broken: bool = False
    nested: bool = False
    is_truncated: bool = False


MAX_CLOSEST = 5
"""Maximum number of passages that a report without an answer shows (`Report.closest`)."""
PASSAGE_MARK = "¶"
"""A character that occurs in every passage id (`S2¶7`), and is rare in other text."""
PASSAGE_ID = rf"S\d+{PASSAGE_MARK}\d+"
"""The form of a passage's id, as a regular expression: `S3¶12`."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a saved text that can be cited: `text` is exactly `source.text[start:end]`.

    `id` is `S3¶12` (source 3, passage 12, both counted from 1). `heading` joins the headings above
    it with ` › `. `page` is the page number in a paged document. `kind` is one of text, heading,
    list, table, snippet and act. An `act` passage describes the run's action that led to this state
    of a page.
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
    """The result of one tool call: JSON data, and web text labelled with its source.

    A language model gets it as text (`agent.protocol.call_results`), in which long data is cut if
    `capped` is set, and a failed call has its `hint`. For other models, the web text is also
    available as data: `passages` contains its passages, `results` the search results, and
    `snapshot` the text of a live page with its refs: the complete page after OPEN, only the changes
    after an action. `was_run` is False for a call that was refused before its tool ran, so that
    nothing was read. `traits` contains the traits that the tool declares. `request` is the
    argument that a playbook shows for the call, on one line; "" if playbooks leave out the tool.
    """

    call: ToolCall
    data: Any
    passages: tuple[Passage, ...] = field(default=(), repr=False)
    results: tuple[SearchResult, ...] = field(default=(), repr=False)
    snapshot: str = field(default="", repr=False)
    web: str = field(default="", repr=False)
    label: str = ""
    hint: str = ""
    capped: bool = True
    images: tuple[Image, ...] = ()
    was_run: bool = True
    traits: frozenset[ToolTrait] = frozenset()
    request: str = ""

    @property
    def tool(self) -> str:
        """The name of the tool."""
        return self.call.name

    @property
    def failed(self) -> bool:
        """Whether the tool returned an error."""
        return has_error(self.data)

    @property
    def url(self) -> str:
        """The field `url` of the result, or ""."""
        return str(self.get("url") or "")

    @property
    def title(self) -> str:
        """The field `title` of the result, or ""."""
        return str(self.get("title") or "")

    def get(self, key: str) -> Any:
        """Return a field of the result, or None."""
        return self.data.get(key) if isinstance(self.data, dict) else None


def has_error(data: Any) -> bool:
    """Return whether a result's data has an `error`, that is, whether the call failed."""
    return isinstance(data, Mapping) and js.truthy(data.get("error"))


@dataclass(frozen=True, slots=True)
class Image:
    """An image for the model: its bytes, their media type, and their SHA-256 (hex)."""

    media_type: str
    data: bytes = field(repr=False)
    sha256: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the conversation; a language model gets `content`, and images if supported.

    `observations` are the tool results in the message as data, in the order of the calls; in the
    question's own message they are the files and the open page. `question` is the question as the
    user wrote it; `content` adds memory and context. `searches` are the searches that the user
    approved for it.
    """

    role: Literal["user", "assistant"]
    content: str
    images: tuple[Image, ...] = ()
    observations: tuple[Observation, ...] = field(default=(), repr=False, compare=False)
    question: str = field(default="", repr=False, compare=False)
    searches: tuple[str, ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a claim, with the quote that supports or contradicts it, and the reason.

    `missing` lists figures, dates and names in the claim that the cited passages do not contain. A
    judge may give several `quotes`; `quote` is the longest of them.
    """

    state: VerdictState
    quote: str = ""
    reason: str = ""
    decided_by: Literal["code", "judge"] = "code"
    passage: str | None = None
    missing: tuple[str, ...] = ()
    quotes: tuple[str, ...] = ()


class ReportPart(BaseModel):
    """A report, or a part of one; its schema is built on first use instead of at import."""

    model_config = ConfigDict(defer_build=True)


class Sentence(ReportPart):
    """A sentence of the answer; `citations` are source numbers in the report.

    `weak` means that it is supported only by search results, not by a page that was read.
    `about_search` means that it makes no claim, but describes what the search found or did not
    find. `missing` lists the figures, dates and names that its citations do not contain, if no
    judge ruled on it. `step` is the position in the journal of the action that the sentence
    describes as done or attempted. `secondary_to` is the address of the source that the supporting
    pages cite for it, if this was looked up; `primary` is the number of that source, if it was read
    and supports the sentence.
    """

    text: str
    citations: list[int] = []
    verdict: VerdictState = VerdictState.UNCITED
    decided_by: Literal["code", "judge"] = "code"
    reason: str = ""
    weak: bool = False
    about_search: bool = False
    missing: list[str] = []
    step: str = ""
    secondary_to: str = ""
    primary: int | None = None

    @property
    def holds(self) -> bool:
        """Whether the sentence is supported, or the action was done."""
        return self.verdict.holds


class ReportSource(ReportPart):
    """A source that the answer cites; each quote appears verbatim in the saved text.

    A source whose `via` is `snippet` was not read: its text is the search result's description. The
    text of a `tool` or `mcp` source is what a tool call returned. The text of a `computed` source
    names the passages and the code it was computed from. `published` is the date that the page
    gives for itself (ISO), or None. `pages` contains the page number of each quote from a paged
    document; it is empty for other sources. If this source is a copy, `copy_of` is the number of
    the earliest source with the same text.
    """

    n: int
    url: str
    title: str = ""
    fetched_at: str
    sha256: str
    via: Literal["http", "browser", "file", "snippet", "mcp", "tool", "computed"]
    quotes: list[str] = []
    published: str | None = None
    copy_of: int | None = None
    pages: list[int] = []


class Conflict(ReportPart):
    """A source that contradicts a sentence of the answer that other sources support.

    `citations` are the sources that support the sentence; `source`, with `quote`, contradicts it.
    All are source numbers in the report. `newer` lists the sources on the side that has the later
    date; it is empty if a date is missing or both are the same.
    """

    text: str
    citations: list[int] = []
    source: int
    quote: str
    reason: str = ""
    newer: list[int] = []


class ContrarySearch(ReportPart):
    """A search for evidence against a claim: the query, and the addresses that were read for it.

    `found` says whether a source contradicts the claim; the report's `conflicts` quote that source.
    """

    text: str
    query: str
    read: list[str] = []
    found: bool = False


class ClosePassage(ReportPart):
    """A passage relevant to an unanswered question; `page` is set for paged documents.

    `source` is the number of its source in the report.
    """

    text: str
    url: str
    title: str = ""
    page: int | None = None
    heading: str = ""
    source: int


class Fit(ReportPart):
    """A measure of how well the extractive model's quoted sentence fits the question.

    `covered` is the share (0 to 1) of the question's words that occur in the sentence, its heading
    or its page's title, weighted by rarity; words found only next to the sentence count as half.
    `stated` is the total rarity (IDF) of these words, without those found only next to the
    sentence. `margin` is the amount by which its score exceeds that of the next-best sentence (0 to
    2.5). `has_value` says whether it contains a value of the requested kind (a date, a number, a
    name, a reason); it is None if the question does not ask for such a value, or if the value is
    far from the question's words. A question with an unanswered part gets the worst fit.
    """

    # Named `own` in records written by earlier versions.
    covered: float = Field(0.0, validation_alias=AliasChoices("covered", "own"))
    margin: float
    stated: float = 0.0
    has_value: bool | None = None


class ConfidenceParts(ReportPart):
    """The parts of the confidence, each 0 to 1 unless another unit is given.

    `supported` is the share of claims that are supported. An undecided claim counts as 0.5, and one
    that only a search result supports counts as 0.7. In an audit, it is the share of sentences with
    citations that are supported. `pages` is the number of pages that support the claims, `sites`
    the number of their sites, and `origins` the number of independent ones (near-copies count as
    one). `agreement` is the share of agreeing origins among those that support or contradict the
    claims. `coverage` is the share of the question that the cited passages cover. `freshness` is
    the age in days of the newest dated source, None without a date. `answers` says whether the
    question is answered; None if no judge was asked. `fit` rates an answer by the extractive model;
    None for a language model.
    """

    supported: float = 0.0
    pages: int = 0
    sites: int = 0
    origins: int = 0
    agreement: float = 1.0
    coverage: float = 0.0
    freshness: int | None = None
    answers: Answers | None = None
    fit: Fit | None = None


class DataValue(ReportPart):
    """A value in `data`: its position (a JSON Pointer) and the verbatim quote that supports it.

    `citations` are source numbers in the report.
    """

    pointer: str
    value: Any
    citations: list[int] = []
    verdict: VerdictState = VerdictState.UNCITED
    quote: str = ""
    reason: str = ""


class CheckedReference(ReportPart):
    """A reference of an audited draft, with the results of its check.

    `source` is the number of its page in the report, if it was read and cited. `now` is the address
    that it moved to; `archived` is the address of an archived copy of a dead page. `wrong` lists
    errors; `notes` lists remarks for the reader and checks that could not be made.
    """

    key: str = ""
    text: str
    url: str = ""
    doi: str = ""
    state: Literal["ok", "moved", "dead", "not_read", "not_checked"] = "not_checked"
    source: int | None = None
    now: str = ""
    archived: str = ""
    wrong: list[str] = []
    notes: list[str] = []


CheckState = Literal["stands", "moved", "changed", "gone", "contradicted", "not_checked"]


class RecheckedSentence(ReportPart):
    """A sentence of an earlier report, compared with the current versions of the pages it cites.

    `moved` means that the same words are at another address or under another heading, which `now`
    contains; `changed` that the words are different; `gone` that none of the pages contain them;
    `contradicted` that a page contradicts the sentence. `source` is the number of the page that
    decided this, and `url` its address in the earlier report. `old` is the earlier wording, `new`
    the current wording, and `archived` the address of an archived copy. `holds` says whether the
    sentence is still supported; None if it could not be checked.
    """

    text: str
    state: CheckState
    holds: bool | None = None
    source: int | None = None
    url: str = ""
    old: str = ""
    new: str = ""
    now: str = ""
    archived: str = ""
    reason: str = ""


class SearchLine(ReportPart):
    """One search that the run made; `withheld` lists what was not sent to the engine, and why."""

    query: str
    provider: str
    outcome: str
    results: int = 0
    ms: int = 0
    detail: str = ""
    withheld: str = ""


def files_note(searches: Sequence[SearchLine]) -> str:
    """Describe which files in the user's folder the last search missed; "" if it missed none."""
    details = [line.detail for line in searches if line.provider == "corpus"]
    return f"Your files: {details[-1]}." if details and details[-1] else ""


def format_usd(usd: float) -> str:
    """Format a cost for display: `$0.0042`, `$3.50`; "" if it is 0 or unknown."""
    return f"${usd:,.{4 if usd < 1 else 2}f}" if usd else ""


class UsageTotals(ReportPart):
    """The usage of a run; `usd` is based on the model's price, 0 if it is free or unknown."""

    model: str = ""
    model_calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0


class ErrorInfo(ReportPart):
    """The reason why a run failed: the error's type, what happened, and what to do."""

    type: str
    message: str
    hint: str = ""


class Report(ReportPart):
    """The result of a run, as printed by `--json`.

    `confidence` is the probability that the answer is correct and answers the question; None if no
    calibrated value can be given. `standing` is the verdict on the answer as a whole. `doubt` is
    the reason why it may be wrong; None unless the confidence is below `DOUBTFUL_BELOW`. If there
    is no answer, `answer` is the model's description of the search and its recorded outcome, and
    `closest` contains up to five passages relevant to the question, best first. With `--schema`,
    `data` is the answer in the format of the schema, `values` lists its values with the quotes that
    support them, and `data_notes` lists omitted and missing values. In an audit, the answer is the
    draft, and `references` are its references. In a recheck, the answer is the earlier report's,
    and `rechecked` gives the result for each of its sentences.
    """

    run: str
    question: str
    status: Status
    answer: str = ""
    confidence: float | None = 0.0
    confidence_parts: ConfidenceParts = Field(default_factory=ConfidenceParts)
    sentences: list[Sentence] = []
    sources: list[ReportSource] = []
    conflicts: list[Conflict] = []
    challenges: list[ContrarySearch] = []
    data: Any = None
    values: list[DataValue] = []
    data_notes: list[str] = []
    references: list[CheckedReference] = []
    rechecked: list[RecheckedSentence] = []
    closest: list[ClosePassage] = []
    searches: list[SearchLine] = []
    usage: UsageTotals = Field(default_factory=UsageTotals)
    steps: int = 0
    elapsed_s: float = 0.0
    error: ErrorInfo | None = None

    # Computed whenever a report is read or written, so these always match the verdicts.

    @property
    def badge(self) -> str:
        """Status and standing together: `answered, disputed`; if supported, only the status."""
        status = self.status.replace("_", " ")
        has_standing = self.status in ("answered", "partial") and self.claims
        if not has_standing or self.standing == "supported":
            return status
        return f"{status}, {self.standing.replace('_', ' ')}"

    @computed_field  # type: ignore[prop-decorator] # mypy does not know decorated properties
    @property
    def standing(self) -> Standing:
        """The verdict on the answer as a whole: its claims, its values, and its relevance."""
        if self.status not in ("answered", "partial") or not self.claims:
            return "not_verified"
        verdicts = [s.verdict for s in self.claims]
        verdicts += [v.verdict for v in self.values if v.value is not None]
        holding = sum(verdict.holds for verdict in verdicts)
        if VerdictState.CONTRADICTED in verdicts:
            return "contradicted"
        if not holding:
            return "not_verified"
        if self.conflicts:
            return "disputed"
        # The extractive model rates its own answers. Drafts and completed actions do not answer a
        # question.
        parts, acts = self.confidence_parts, set(verdicts) == {VerdictState.DONE}
        no_question = parts.fit or self.references or self.rechecked or acts
        answers = "fully" if no_question else parts.answers
        if answers not in ("fully", "in part"):
            return "not_verified"
        return "supported" if answers == "fully" and holding == len(verdicts) else "in_part"

    @computed_field  # type: ignore[prop-decorator] # as above
    @property
    def doubt(self) -> str | None:
        """The main reason why the answer may be wrong."""
        value, parts, claims = self.confidence, self.confidence_parts, self.claims
        if self.status not in ("answered", "partial") or not claims:
            return None
        if value is None or value >= DOUBTFUL_BELOW:
            return None
        contradicted = any(s.verdict is VerdictState.CONTRADICTED for s in claims)
        count, open_claims = len(claims), len(self.unsupported)
        share = f"{open_claims} of {count} sentences {'is' if open_claims == 1 else 'are'}"
        reasons = {
            "a source contradicts it": contradicted,
            "it does not answer the question": parts.answers == "no",
            "it answers only part of the question": parts.answers == "in part",
            "sources disagree about it": bool(self.conflicts),
            f"{share if count > 1 else 'it is'} not verified": open_claims > 0,
            "only search results support it": any(s.weak for s in claims),
        }
        return next((reason for reason, holds in reasons.items() if holds), "it is uncertain")

    def rows(self) -> list[dict[str, Any]]:
        """Return the data of a schema as rows, for a table or a DataFrame; empty without data.

        A list of objects becomes one row per item. If an object contains exactly one such list, the
        list's items become the rows, and the object's other values are repeated in each row. The
        column `sources` contains the addresses that a row cites.
        """
        return _data_rows(self.data, self.values, {s.n: s.url for s in self.sources})

    @property
    def claims(self) -> list[Sentence]:
        """The sentences that make a claim, that is, all except those about the search."""
        return [sentence for sentence in self.sentences if not sentence.about_search]

    @property
    def unsupported(self) -> list[Sentence]:
        """The claims that are not supported."""
        return [sentence for sentence in self.claims if not sentence.holds]

    def to_json(self, **options: Any) -> str:
        """Serialise as JSON, by default with an indent of two spaces."""
        return self.model_dump_json(**{"indent": 2, **options})

    # Exports that need the run's record, since they also show its saved pages and steps.

    _record: Path | None = PrivateAttr(default=None)

    def with_record(self, folder: Path) -> Self:
        """Set the folder of the run, which the export methods below read."""
        self._record = folder
        return self

    def to_html(self) -> str:
        """Render as HTML, as `--export report.html` does; raises `UsageError` without a record.

        Reports returned by `research` have a record; reports read from JSON do not.
        """
        return self._render_export("report.html")

    def to_markdown(self) -> str:
        """Render as Markdown; raises `UsageError` without a record."""
        return self._render_export("report.md")

    def to_bibtex(self) -> str:
        """Render the sources as BibTeX; raises `UsageError` without a record."""
        return self._render_export("report.bib")

    def to_frame(self) -> Any:
        """Return the sentences as a pandas `DataFrame`, one row each.

        The columns are text, verdict, reason, citations (source numbers) and urls. Raises
        `UsageError` if pandas, which is not a dependency, is not installed.
        """
        try:
            pandas = import_module("pandas")
        except ModuleNotFoundError as error:
            hint = "`pip install pandas`, or use `report.sentences`."
            raise UsageError(
                "to_frame() needs pandas, which is not installed", hint=hint
            ) from error
        urls = {source.n: source.url for source in self.sources}
        rows = [
            (s.text, s.verdict.value, s.reason, s.citations, [urls[n] for n in s.citations])
            for s in self.sentences
        ]
        return pandas.DataFrame(rows, columns=["text", "verdict", "reason", "citations", "urls"])

    def _repr_html_(self) -> str:
        """Render for a notebook: badge, answer, passages and sources."""
        # Imported by name, because `agent.export` is a layer above this module. The two functions
        # used here only read a report.
        return str(import_module("agent.export.markup").notebook_html(self))

    def _render_export(self, name: str) -> str:
        if self._record is None:
            raise UsageError(
                f"no record of the run {self.run or 'behind this report'} was found",
                hint="Use the report that `research` returns, or run `research export RUN FILE`.",
            )
        writer = import_module("agent.export").writer(Path(name))
        return str(writer(self._record).decode())


def _data_rows(
    data: Any, values: Sequence[DataValue], urls: Mapping[int, str]
) -> list[dict[str, Any]]:
    common: dict[str, Any] = {}
    base, items = "", data if isinstance(data, list) else [data]
    if isinstance(data, dict):
        lists = {key: value for key, value in data.items() if _are_objects(value)}
        if len(lists) == 1:
            [(key, items)] = lists.items()
            base = f"/{key}"
            common = _flatten({name: value for name, value in data.items() if name != key})
    rows = []
    for number, item in enumerate(items if data is not None else ()):
        at = f"{base}/{number}" if base or isinstance(data, list) else ""
        own = [value for value in values if f"{value.pointer}/".startswith(f"{at}/")]
        cited = dict.fromkeys(urls[n] for one in own for n in one.citations if n in urls)
        row = _flatten(item) if isinstance(item, dict) else {"value": item}
        rows.append({**common, **row, "sources": " ".join(cited)})
    return rows


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)


def _flatten(data: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Name nested values by path, such as `pier.length`; a list of values becomes one string."""
    found: dict[str, Any] = {}
    for key, value in data.items():
        if isinstance(value, dict):
            found |= _flatten(value, f"{prefix}{key}.")
        elif isinstance(value, list):
            found[f"{prefix}{key}"] = "; ".join(map(str, value))
        else:
            found[f"{prefix}{key}"] = value
    return found
