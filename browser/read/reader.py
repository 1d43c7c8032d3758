"""A URL in, a Page with a typed outcome out: HTTP first, the browser where evidence asks for it."""

from __future__ import annotations

import asyncio
import mimetypes
import re
import time
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from string import punctuation, whitespace
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import unquote, urlsplit

from lxml import etree

from browser.errors import (
    BadResponse,
    BrowserError,
    ConnectFailed,
    DeadlineExceeded,
    ExtractError,
    Refused,
    SessionError,
    TooLarge,
)
from browser.extract import extract_body, may_be_platform, on_platform
from browser.extract.html import extract
from browser.extract.sniff import decode
from browser.extract.tree import parse_html, raw_text, text_content
from browser.net.polite import Polite
from browser.net.url import host, join, registrable_domain
from browser.page.walls import Wall, asks_captcha, find_wall, stands_alone
from browser.read.habits import Habits
from browser.text.words import count_words
from browser.types import Outcome, Page

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from browser.net.http import HttpClient, Response
    from browser.page.tab import Tab
    from browser.session.session import Browser
    from browser.types import Document

Mode = Literal["auto", "http", "browser"]

# Seconds for one page, all ways tried taken together.
DEADLINE = 20.0
# Browsers stop at 20 redirects; a page that refreshes more than twice goes in circles.
_MOST_REFRESHES = 2
# The browser shows these in a viewer or saves them; HTTP brings them as they are.
_DOCUMENT = frozenset(
    """.pdf .doc .docx .xls .xlsx .ppt .pptx .odt .ods .odp .epub .eml .mbox .json .xml .csv .txt
    .md""".split()
)
# Walls that a real browser, with its scripts and cookies, may pass.
_BROWSER_MAY_PASS = frozenset((Outcome.BOT_CHECK, Outcome.CONSENT, Outcome.BLOCKED))


class Reader:
    """Reads pages. `browser` is asked for a session only when a page needs one."""

    def __init__(
        self,
        http: HttpClient | Polite,
        *,
        browser: Callable[[], Awaitable[Browser]] | None = None,
        files: Iterable[Path | str] = (),
        habits: Habits | Path | None = None,
    ) -> None:
        self._http = http
        self._browser = browser
        self._files = LocalFiles(files)
        self.habits = habits if isinstance(habits, Habits) else Habits(habits)

    async def read(self, url: str, mode: Mode = "auto", deadline: float = DEADLINE) -> Page:
        """Read a page; what goes wrong is in `Page.outcome` and `reason`, never raised.

        `deadline` is in seconds and covers all that is tried. `file://` URLs are read only
        inside the files and folders that the reader was given.
        """
        until = time.monotonic() + deadline
        try:
            if url.lower().startswith("file:"):
                return await asyncio.to_thread(self._files.read, url)
            if mode == "browser":
                return await self._browse(url, until, "asked to read it in the browser")
            return await (self._fetch(url, until) if mode == "http" else self._choose(url, until))
        except BrowserError as error:
            return page_of_error(url, error)

    async def read_tab(self, tab: Tab) -> Page:
        """Read the page that a tab shows, as it stands now."""
        return await read_rendered(tab)

    async def _choose(self, url: str, until: float) -> Page:
        site = registrable_domain(host(url))
        habit = self.habits.of(site)
        is_document = PurePosixPath(urlsplit(url).path.lower()).suffix in _DOCUMENT
        if self._browser is not None and habit.wants_browser and not is_document:
            why = f"{site} needed the browser before: {habit.reason}"
            with suppress(BrowserError):  # then the plain way is tried after all
                return await self._browse(url, until, why)
        page = await self._fetch(url, until)
        reason = _why_browser(page)
        if not reason:
            self.habits.http_was_enough(site)
            return page
        return await self._second_way(page, reason, site, until)

    async def _second_way(self, page: Page, reason: str, site: str, until: float) -> Page:
        if self._browser is None:
            return replace(page, reason=f"{reason}; no browser is at hand")
        try:
            browsed = await self._browse(page.url, until, reason)
        except BrowserError as error:
            return replace(page, reason=f"{reason}; the browser did not bring more: {error}")
        if _size(browsed) <= _size(page):
            return replace(page, reason=f"{reason}; the browser shows no more")
        self.habits.needed_browser(site, reason)
        return replace(browsed, requested_url=page.requested_url, status=page.status)

    async def _fetch(self, url: str, until: float) -> Page:
        page = await self._get(url, url, until)
        for _ in range(_MOST_REFRESHES):
            target = refresh_target(page)
            if target is None:
                break
            page = await self._get(url, target, until)
        return page

    async def _get(self, requested: str, url: str, until: float) -> Page:
        response = await self._http.get(url, deadline=_left(until))
        page = await asyncio.to_thread(page_of_response, requested, response)
        if page.outcome is not Outcome.OK:  # a wall, or nothing: not to be met again from the cache
            await self._http.forget(response.url)
        return page

    async def _browse(self, url: str, until: float, reason: str) -> Page:
        if self._browser is None:
            message = "no browser is at hand"
            raise SessionError(message, hint="Read it with mode http.")
        session = await self._browser()
        if isinstance(self._http, Polite):
            await self._http.turn(url, _left(until))
        tab = await session.open(url, deadline=_left(until))
        try:
            page = await read_rendered(tab)
        finally:
            await session.close(tab)
        return replace(page, requested_url=url, reason=page.reason or reason)


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        message = "the page took longer than its deadline"
        raise DeadlineExceeded(message)
    return left


def _size(page: Page) -> int:
    return len(page.document.text) if page.document and page.outcome is Outcome.OK else 0


def _why_browser(page: Page) -> str:
    if page.outcome in _BROWSER_MAY_PASS:
        return page.reason
    if page.outcome not in {Outcome.OK, Outcome.EMPTY} or page.document is None:
        return ""
    if page.document.kind != "html":
        return ""
    return needs_browser(decode(page.body, page.content_type), page.document)


# `0; url=/next`, the address perhaps quoted (HTML standard, "shared declarative refresh steps").
_REFRESH = re.compile(r"\s*(\d+(?:\.\d*)?)\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"']+)", re.IGNORECASE)
# A page that waits longer is meant to be read first; one with more text is no mere signpost.
_LONGEST_WAIT = 10.0
_MOST_WORDS = 100


def refresh_target(page: Page) -> str | None:
    """Where a signpost page sends its reader, as an absolute URL; None for every other page."""
    document = page.document
    if b"efresh" not in page.body[:16_384] and b"EFRESH" not in page.body[:16_384]:
        return None
    if document is None or document.kind != "html" or len(document.text.split()) > _MOST_WORDS:
        return None
    for meta in parse_html(decode(page.body, page.content_type)).iter("meta"):
        if (meta.get("http-equiv") or "").strip().lower() != "refresh" or _in_noscript(meta):
            continue
        match = _REFRESH.match(meta.get("content") or "")
        if match and float(match[1]) <= _LONGEST_WAIT:
            return join(page.url, match[2].strip()) or None
    return None


def _in_noscript(meta: etree._Element) -> bool:
    return next(meta.iterancestors("noscript"), None) is not None


# The same limit as for a body over HTTP: nothing readable is larger.
MAX_BYTES = 32 * 1024 * 1024


class LocalFiles:
    """The files and folders that may be read."""

    def __init__(self, paths: Iterable[Path | str]) -> None:
        # Links are resolved once: one that changes later opens nothing new.
        self._allowed = [Path(path).expanduser().resolve() for path in paths]

    def read(self, url: str) -> Page:
        """Read a `file://` URL.

        Raises Refused outside what is allowed, FetchError and ExtractError where it is no document.
        """
        path = self._resolve(url)
        if not path.is_file():
            message = f"no file {path}"
            raise BadResponse(message, hint="Check the path.")
        if path.stat().st_size > MAX_BYTES:
            message = f"{path} is larger than {MAX_BYTES // 1024 // 1024} MB"
            raise TooLarge(message)
        body = path.read_bytes()
        kind = mimetypes.guess_type(path.name)[0] or ""
        document = extract_body(body, kind, url)
        return Page(
            requested_url=url, url=path.as_uri(), via="file", outcome=Outcome.OK, body=body,
            fetched_at=datetime.now(UTC), content_type=kind, document=document,
            reason="a local file",
        )  # fmt: skip

    def _resolve(self, url: str) -> Path:
        parts = urlsplit(url)
        if parts.netloc not in {"", "localhost"} or "\x00" in unquote(parts.path):
            raise _refused(url)
        path = Path(unquote(parts.path)).resolve()
        if not any(path == root or path.is_relative_to(root) for root in self._allowed):
            raise _refused(url)
        return path


def _refused(url: str) -> Refused:
    message = f"{url} is outside the files and folders that were named"
    return Refused(message, hint="Name the file with --file or its folder with --corpus.")


def page_of_response(requested: str, response: Response) -> Page:
    """Read what HTTP brought; a body that is no document makes the outcome `error`."""
    kind = response.headers.get("content-type", "")
    page = Page(
        requested_url=requested, url=response.url, via="http", outcome=Outcome.OK,
        fetched_at=datetime.now(UTC) - timedelta(seconds=response.age or 0.0),
        status=response.status, content_type=kind,
        headers=described(response.headers), body=response.body, reason=_way(response),
    )  # fmt: skip
    try:
        document = extract_body(response.body, kind, response.url) if response.body else None
    except BrowserError as error:
        wall = find_wall(response.status, requested, response.url, "", None)
        return replace(
            page,
            outcome=wall.outcome if wall else Outcome.ERROR,
            reason=wall.reason if wall else _told(error),
        )
    html = decode(response.body, kind) if document and document.kind == "html" else ""
    wall = find_wall(response.status, requested, response.url, html, document)
    if wall:
        return replace(page, outcome=wall.outcome, reason=wall.reason, document=document)
    return replace(page, outcome=_outcome(document), document=document)


def _way(response: Response) -> str:
    if response.age is None:
        return "plain HTTP"
    return "plain HTTP, from the cache" + ("" if response.age else ", confirmed by the site")


async def read_rendered(tab: Tab) -> Page:
    """Read a live page as it stands now. Raises SessionError where the page is gone."""
    html = await tab.rendered_html()
    url = tab.url
    whole = await tab.html() if may_be_platform(url) else ""
    document = await asyncio.to_thread(_document_of_live, html, whole, url)
    wall = find_wall(None, url, url, html, document)
    alone = wall is None and stands_alone(html, document)
    if alone and (asks_captcha(document) or await tab.challenge() is not None):
        wall = Wall(Outcome.CAPTCHA, "the site asks to solve a captcha")
    return Page(
        requested_url=url, url=url, via="browser",
        outcome=wall.outcome if wall else _outcome(document), fetched_at=datetime.now(UTC),
        content_type="text/html; charset=utf-8", body=html.encode("utf-8", "replace"),
        document=document, reason=wall.reason if wall else "",
    )  # fmt: skip


def _document_of_live(shown: str, whole: str, url: str) -> Document:
    """What a person sees of a page, completed from what its whole DOM says on a known platform."""
    return on_platform(document_of_rendered(shown, url), whole.encode("utf-8", "replace"), url)


def page_of_error(url: str, error: BrowserError) -> Page:
    """Say in a Page what kept it from being read."""
    outcome = Outcome.ERROR
    if isinstance(error, Refused):
        outcome = Outcome.REFUSED
    elif isinstance(error, DeadlineExceeded):
        outcome = Outcome.TIMEOUT
    elif isinstance(error, ConnectFailed):
        outcome = Outcome.UNREACHABLE
    return Page(
        requested_url=url, url=url, via="file" if url.lower().startswith("file:") else "http",
        outcome=outcome, fetched_at=datetime.now(UTC), reason=_told(error),
    )  # fmt: skip


def _told(error: BrowserError) -> str:
    """What happened; of a document that cannot be read also what to do with it."""
    return (
        f"{error}. {error.hint}" if isinstance(error, ExtractError) and error.hint else str(error)
    )


def _outcome(document: Document | None) -> Outcome:
    return Outcome.OK if document and document.text.strip() else Outcome.EMPTY


# Dialogs that ask for something instead of saying something.
_ASKING = ("cookie", "consent", "einwilligung", "newsletter", "subscribe", "abonnier")


def document_of_rendered(html: str, url: str) -> Document:
    """Extract a rendered page; the text of its open dialogs stands at the end."""
    document = extract(html, url)
    if "data-front" not in html:
        return document
    said = [text for text in _front(html, url) if text and text not in document.text]
    if not said:
        return document
    return replace(
        document,
        text="\n\n".join([document.text, *said]).strip(),
        markdown="\n\n".join([document.markdown, *said]).strip(),
    )


def _front(html: str, url: str) -> list[str]:
    dialogs = parse_html(html).iterfind(".//section[@data-front]")
    return [
        extract(etree.tostring(dialog, encoding="unicode", with_tail=False), url).text
        for dialog in dialogs
        if not any(word in text_content(dialog).lower() for word in _ASKING)
    ]


_TELLING: Final = (
    "Content-Type",
    "Content-Language",
    "Content-Location",
    "Content-Disposition",
    "Date",
    "Last-Modified",
    "ETag",
    "Expires",
    "Cache-Control",
    "Vary",
    "Link",
    "Server",
    "X-Robots-Tag",
)
"""Others may hold what is meant for one reader: cookies, tokens, the name of a session."""


def described(headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Give the headers that tell of the document, each on one line."""
    return tuple((name, " ".join(headers[name].split())) for name in _TELLING if name in headers)


# A page with so many words reads well without scripts, whatever else they may add.
_ENOUGH_WORDS = 150
# With fewer, a page that runs scripts has shown next to nothing.
_NOTHING_WORDS = 6
_LOADING = frozenset(
    ("loading", "please wait", "wird geladen", "laden", "chargement", "cargando", "one moment")
)
_NEEDS_SCRIPT = re.compile(
    r"(?:enable|activate|requires?|turn on|need(?:s)? to enable|aktivieren sie|activez)"
    r"[^.]{0,40}java ?script|java ?script[^.]{0,40}(?:is required|is disabled|must be enabled|"
    r"to run this app|aktivieren|benötigt|erforderlich)|(?:without|no) java ?script",
    re.IGNORECASE,
)
_MOUNTS = frozenset(("root", "app", "__next", "__nuxt", "___gatsby", "main", "content", "q-app"))
_CONTAINERS = ("div", "main", "section", "article", "ul", "ol", "tbody", "table", "p", "span", "dl")


def needs_browser(page: str, document: Document) -> str:
    """One line that says why a browser is needed, or an empty string."""
    words = count_words(document.text)
    if words >= _ENOUGH_WORDS:
        return ""
    root = parse_html(page)
    scripts = [element for element in root.iter("script") if _runs(element)]
    if frame := _frame(root):
        return frame
    if not scripts:
        return ""
    return _by_words(root, document.text, words) or _by_holes(root, scripts)


def _by_words(root: etree._Element, text: str, words: int) -> str:
    noscript = " ".join(text_content(element) for element in root.iter("noscript"))
    if _NEEDS_SCRIPT.search(f"{text} {noscript}"):
        return "the page says that it needs JavaScript"
    if words <= _NOTHING_WORDS:
        return f"an empty shell: {words} words without its scripts"
    return ""


def _by_holes(root: etree._Element, scripts: list[etree._Element]) -> str:
    code = "\n".join(script.text or "" for script in scripts)
    for element in root.iter():
        if not isinstance(element.tag, str) or not _is_hole(element):
            continue
        name = element.get("id") or ""
        if "-" in element.tag or name in _MOUNTS or (name and _mentions(code, name)):
            return f"scripts fill <{element.tag}{f' id={name}' if name else ''}>"
    return ""


def _is_hole(element: etree._Element) -> bool:
    if "-" not in element.tag and element.tag not in _CONTAINERS:
        return False
    if any(child.tag not in {"template", "tbody"} for child in element):
        return False
    return raw_text(element).strip(f"…{punctuation}{whitespace}").lower() in {"", *_LOADING}


def _mentions(code: str, name: str) -> bool:
    return any(f"{quote}{mark}{name}{quote}" in code for quote in "\"'`" for mark in ("", "#"))


def _runs(script: etree._Element) -> bool:
    kind = (script.get("type") or "text/javascript").split(";")[0].strip().lower()
    return kind in {"module", ""} or "javascript" in kind or "ecmascript" in kind


def _frame(root: etree._Element) -> str:
    for element in root.iter("iframe", "frame"):
        source = element.get("src") or ""
        local = source and not urlsplit(source).netloc and not source.startswith("about:")
        if element.get("srcdoc") or local:
            return "its content stands in a frame"
    return ""
