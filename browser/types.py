"""The data types that the browser package returns: frozen dataclasses without behaviour."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

Via = Literal["http", "browser", "file", "snippet", "mcp", "tool", "computed"]
"""How a page was obtained: over HTTP, from the real browser, from a local file, a search engine's
snippet, an MCP tool, or a tool of the caller or a plug-in; or computed from other pages."""

PDF = "application/pdf"


class Outcome(StrEnum):
    """The outcome of a search or a page read: one enum for search engines, pages and limits.

    A search ends with one of the first ten or with `refused`; a page read may end with any of them.
    `empty` is a real "nothing found"; `blocked` means that the site rejected the request.
    `unreachable` is an `error` before any response: an unknown name, or no connection.
    """

    OK = "ok"
    EMPTY = "empty"
    BLOCKED = "blocked"
    RATE_LIMITED = "rate_limited"
    QUOTA = "quota"
    UNAUTHORIZED = "unauthorized"
    TIMEOUT = "timeout"
    ERROR = "error"
    UNREACHABLE = "unreachable"
    SKIPPED = "skipped"
    CAPTCHA = "captcha"
    BOT_CHECK = "bot_check"
    CONSENT = "consent"
    LOGIN = "login"
    PAYWALL = "paywall"
    NOT_FOUND = "not_found"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A query for a search provider; `since` is an ISO date, `limit` the number of results."""

    text: str
    site: str | None = None
    since: str | None = None
    lang: str | None = None
    region: str | None = None
    limit: int = 10
    page: int = 1


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One hit: `url` is the real target, never a redirect wrapper."""

    url: str
    title: str
    snippet: str = ""
    provider: str = ""
    published: str | None = None


@dataclass(frozen=True, slots=True)
class SearchPage:
    """One provider's answer. `retry_after` is in seconds; None if the provider gave none."""

    outcome: Outcome
    results: tuple[SearchResult, ...] = ()
    detail: str = ""
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class SearchAttempt:
    """One line of the search trail: the provider, the outcome, and the time it took (ms)."""

    query: str
    provider: str
    outcome: Outcome
    results: int = 0
    ms: int = 0
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """A link on a page, with its absolute URL, visible text, and `rel` tokens such as `next`."""

    url: str
    text: str
    rel: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table as rows of cell contents; the first row is the header if `header` is true."""

    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    header: bool = True


@dataclass(frozen=True, slots=True)
class Publication:
    """Where a work was published, for references; unknown fields are empty.

    `venue` is the journal or, with `in_proceedings`, the conference or book; `doi` and `arxiv` are
    bare identifiers, not URLs.
    """

    venue: str = ""
    in_proceedings: bool = False
    volume: str = ""
    issue: str = ""
    pages: str = ""
    publisher: str = ""
    doi: str = ""
    arxiv: str = ""


UNKNOWN_PUBLICATION = Publication()
"""The publication of a page that does not state one."""


@dataclass(frozen=True, slots=True)
class Document:
    """The content of a page, as the user sees it.

    `text` is the saved text that evidence offsets refer to: blocks separated by a blank line,
    headings as `# …`, list items as `- …`, table rows as `| a | b |`; apart from that, only
    whitespace differs from the page. `markdown` adds emphasis and links. For a paged document,
    `pages` contains the offset in `text` at which each page begins. For a live page, `shown_from`
    is the offset where the snapshot-only content begins. `notes` say what was left out or could not
    be read. `controls` lists the content's form controls, such as `searchbox Search the
    collection`. `needs_scripts` explains why a browser, which runs the page's scripts, may show
    more. Dates are ISO 8601 strings.
    """

    url: str
    title: str = ""
    text: str = ""
    markdown: str = ""
    author: str | None = None
    published: str | None = None
    modified: str | None = None
    language: str | None = None
    site: str | None = None
    canonical_url: str | None = None
    kind: str = "html"
    links: tuple[Link, ...] = ()
    tables: tuple[Table, ...] = ()
    pages: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()
    needs_scripts: str = ""
    shown_from: int | None = None
    publication: Publication = UNKNOWN_PUBLICATION


@dataclass(frozen=True, slots=True)
class Page:
    """A page that was read: where, when and how it was read, the outcome, and the content.

    `url` is the final URL. `body` contains the bytes as fetched; for a page from the browser, the
    DOM serialised as UTF-8 HTML. `headers` are the HTTP response headers that describe the
    document. `reason` is one line for the user: why the page was read in this way, or what went
    wrong. `document` is None if nothing could be read. `shown` is the content of a live page's
    snapshot, as Markdown without refs.
    """

    requested_url: str
    url: str
    via: Via
    outcome: Outcome
    fetched_at: datetime
    status: int | None = None
    content_type: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = field(default=b"", repr=False)
    document: Document | None = field(default=None, repr=False)
    reason: str = ""
    shown: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class PageContext:
    """What the user sees: the visible tab of an attached browser, or a page in our own browser."""

    url: str
    title: str = ""
    selection: str = ""
    visible_text: str = ""
    canonical_url: str | None = None
    focused: str | None = None
    language: str | None = None
    published: str | None = None


class HttpLogin(NamedTuple):
    """The credentials sent to a site that asks for HTTP authentication."""

    user: str
    password: str


@dataclass(frozen=True, slots=True)
class TabInfo:
    """A tab as TABS lists it: `id` is a name such as `t2`; `ours` is false for the user's tabs."""

    id: str
    url: str
    title: str
    active: bool = False
    ours: bool = True


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A live page as the model sees it: text with refs, within a budget.

    `refs` maps a ref such as `e12` or `f1e3` to the role and name of its element. FIND also reaches
    lines that were left out.
    """

    url: str
    title: str
    text: str = field(repr=False)
    refs: dict[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class FindResult:
    """Lines of a live page, with refs; `found` is false if they are only the closest matches.

    `citable` contains the same lines as Markdown without refs.
    """

    text: str
    found: bool
    citable: tuple[str, ...] = ()


REF = r"(?:f\d+)?e\d+"
"""The form of a ref, as a regular expression: `e12`, in a frame `f2e12`."""
DOI_START = r"10\.\d{4,9}/"
"""The start of every DOI, as a regular expression."""
CROSSREF_API = "https://api.crossref.org"
"""Describes the publications with a DOI."""
ARXIV_API = "https://export.arxiv.org/api/query"


@dataclass(frozen=True, slots=True)
class Challenge:
    """A captcha, as passed to a solver: its kind, its site key and the page's address.

    `data` is a value that some sites pass to the widget in addition to the key (`data-s`, `cdata`).
    """

    kind: Literal["recaptcha", "hcaptcha", "turnstile"]
    site_key: str
    url: str
    invisible: bool = False
    enterprise: bool = False
    action: str = ""
    data: str = ""


@dataclass(frozen=True, slots=True)
class ActionOutcome:
    """The outcome of an action: what was done (`action`, one line) and what changed on the page.

    `changes` is a diff with refs, or the new snapshot if that is shorter; `events` are navigation,
    dialogs, downloads, new tabs and console errors, one line each. `new_lines` contains the lines,
    without refs, that the page did not show before. `unanswered` names a request that the action
    caused and that has no response yet, so whether it took effect is unknown.
    """

    action: str
    changes: str = ""
    url: str = ""
    events: tuple[str, ...] = ()
    new_lines: tuple[str, ...] = ()
    unanswered: str = ""


@dataclass(frozen=True, slots=True)
class SavedFile:
    """The result of a download: the file or, if there is none, the `reason`."""

    name: str
    path: Path | None = None
    reason: str = ""
