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
from typing import TYPE_CHECKING, Literal
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
from browser.net.url import host, join, registrable_domain
from browser.page.walls import Wall, asks_captcha, find_wall, stands_alone
from browser.read.habits import Habits
from browser.text.words import count_words
from browser.types import Outcome, Page

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from browser.net.polite import Polite
    from browser.net.transport import Response
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
# The same limit as for a body over HTTP: nothing readable is larger.
_LARGEST_FILE = 32 * 1024 * 1024

# Headers that tell of the document. Others may hold what is meant for one reader: cookies, tokens,
# the name of a session.
_TELLING = tuple(
    """Content-Type Content-Language Content-Location Content-Disposition Date Last-Modified ETag
    Expires Cache-Control Vary Link Server X-Robots-Tag""".split()
)


class Reader:
    """Reads pages. `browser` is asked for a session only when a page needs one.

    `files` are the files and folders whose `file://` addresses may be read.
    """

    def __init__(
        self,
        http: Polite,
        *,
        browser: Callable[[], Awaitable[Browser]] | None = None,
        files: Iterable[Path | str] = (),
        habits: Habits | Path | None = None,
    ) -> None:
        self._http = http
        self._browser = browser
        # Links are resolved once: one that changes later opens nothing new.
        self._files = [Path(path).expanduser().resolve() for path in files]
        self.habits = habits if isinstance(habits, Habits) else Habits(habits)

    async def read(self, url: str, mode: Mode = "auto", deadline: float = DEADLINE) -> Page:
        """Read a page; what goes wrong is in `Page.outcome` and `reason`, never raised.

        `deadline` is in seconds and covers all that is tried.
        """
        until = time.monotonic() + deadline
        try:
            if url.lower().startswith("file:"):
                return await asyncio.to_thread(_read_file, url, self._files)
            if mode == "browser":
                return await self._browse(url, until, "asked to read it in the browser")
            return await (self._fetch(url, until) if mode == "http" else self._choose(url, until))
        except BrowserError as error:
            return _page_of_error(url, error)

    async def read_tab(self, tab: Tab) -> Page:
        """Read the page that a tab shows, as it stands now."""
        return await read_rendered(tab)

    async def _choose(self, url: str, until: float) -> Page:
        """Read by HTTP, unless the site is known to need the browser; then by it, if that helps."""
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
            target = _refresh_target(page)
            if target is None:
                break
            page = await self._get(url, target, until)
        return page

    async def _get(self, requested: str, url: str, until: float) -> Page:
        response = await self._http.get(url, deadline=_left(until))
        page = await asyncio.to_thread(_page_of_response, requested, response)
        if page.outcome is not Outcome.OK:  # a wall, or nothing: not to be met again from the cache
            await self._http.forget(response.url)
        return page

    async def _browse(self, url: str, until: float, reason: str) -> Page:
        if self._browser is None:
            raise SessionError("no browser is at hand", hint="Read it with mode http.")
        await self._http.turn(url, _left(until))
        session = await self._browser()
        tab = await session.open(url, deadline=_left(until))
        try:
            page = await read_rendered(tab)
        finally:
            await session.close(tab)
        return replace(page, requested_url=url, reason=page.reason or reason)


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise DeadlineExceeded("the page took longer than its deadline")
    return left


def _size(page: Page) -> int:
    return len(page.document.text) if page.document and page.outcome is Outcome.OK else 0


def _read_file(url: str, allowed: list[Path]) -> Page:
    """Read a `file://` URL.

    Raises Refused outside what is allowed, FetchError and ExtractError where it is no document.
    """
    parts = urlsplit(url)
    name = unquote(parts.path)
    local = parts.netloc in {"", "localhost"} and "\x00" not in name
    path = Path(name).resolve() if local else Path()
    if not local or not any(path.is_relative_to(root) for root in allowed):
        raise Refused(
            f"{url} is outside the files and folders that were named",
            hint="Name the file with --file or its folder with --corpus.",
        )
    if not path.is_file():
        raise BadResponse(f"no file {path}", hint="Check the path.")
    if path.stat().st_size > _LARGEST_FILE:
        raise TooLarge(f"{path} is larger than {_LARGEST_FILE >> 20} MB")
    body = path.read_bytes()
    kind = mimetypes.guess_type(path.name)[0] or ""
    return Page(
        requested_url=url, url=path.as_uri(), via="file", outcome=Outcome.OK, body=body,
        fetched_at=datetime.now(UTC), content_type=kind, document=extract_body(body, kind, url),
        reason="a local file",
    )  # fmt: skip


def _page_of_response(requested: str, response: Response) -> Page:
    """Read what HTTP brought; a body that is no document makes the outcome `error`."""
    kind, sent = response.content_type, response.headers
    way = "plain HTTP" if response.age is None else "plain HTTP, from the cache"
    if response.age == 0.0:
        way += ", confirmed by the site"
    page = Page(
        requested_url=requested, url=response.url, via="http", outcome=Outcome.OK,
        fetched_at=datetime.now(UTC) - timedelta(seconds=response.age or 0.0),
        status=response.status, content_type=kind,
        headers=tuple((name, " ".join(sent[name].split())) for name in _TELLING if name in sent),
        body=response.body, reason=way,
    )  # fmt: skip
    document, html = None, ""
    try:
        if response.body:
            document = extract_body(response.body, kind, response.url)
            html = decode(response.body, kind) if document.kind == "html" else ""
    except BrowserError as error:
        page = replace(page, outcome=Outcome.ERROR, reason=_reason_of(error))
    else:
        page = replace(page, outcome=_outcome(document), document=document)
    if wall := find_wall(response.status, requested, response.url, html, document):
        return replace(page, outcome=wall.outcome, reason=wall.reason)
    return page


async def read_rendered(tab: Tab) -> Page:
    """Read a live page as it stands now. Raises SessionError where the page is gone."""
    html = await tab.rendered_html()
    url = tab.url
    # What a person sees is completed from what the whole DOM says on a known platform.
    whole = (await tab.html()).encode("utf-8", "replace") if may_be_platform(url) else b""
    document = await asyncio.to_thread(
        lambda: on_platform(document_of_rendered(html, url), whole, url)
    )
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


def _page_of_error(url: str, error: BrowserError) -> Page:
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
        outcome=outcome, fetched_at=datetime.now(UTC), reason=_reason_of(error),
    )  # fmt: skip


def _reason_of(error: BrowserError) -> str:
    """What happened; of a document that cannot be read also what to do with it."""
    hint = error.hint if isinstance(error, ExtractError) else ""
    return f"{error}. {hint}" if hint else str(error)


def _outcome(document: Document | None) -> Outcome:
    return Outcome.OK if document and document.text.strip() else Outcome.EMPTY


# Dialogs that ask for something instead of saying something.
_ASKING = ("cookie", "consent", "einwilligung", "newsletter", "subscribe", "abonnier")


def document_of_rendered(html: str, url: str) -> Document:
    """Extract a rendered page; the text of its open dialogs stands at the end."""
    document = extract(html, url)
    if "data-front" not in html:
        return document
    texts = [
        extract(etree.tostring(dialog, encoding="unicode", with_tail=False), url).text
        for dialog in parse_html(html).iterfind(".//section[@data-front]")
        if not any(word in text_content(dialog).lower() for word in _ASKING)
    ]
    texts = [text for text in texts if text and text not in document.text]
    if not texts:
        return document
    return replace(
        document,
        text="\n\n".join([document.text, *texts]).strip(),
        markdown="\n\n".join([document.markdown, *texts]).strip(),
    )


# `0; url=/next`, the address perhaps quoted (HTML standard, "shared declarative refresh steps").
_REFRESH = re.compile(r"\s*(\d+(?:\.\d*)?)\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"']+)", re.IGNORECASE)
# A page that waits longer is meant to be read first; one with more text is no mere signpost.
_LONGEST_WAIT = 10.0
_MOST_WORDS = 100


def _refresh_target(page: Page) -> str | None:
    """Where a signpost page sends its reader, as an absolute URL; None for every other page."""
    document = page.document
    if b"refresh" not in page.body[:16_384].lower():
        return None
    if document is None or document.kind != "html" or len(document.text.split()) > _MOST_WORDS:
        return None
    for meta in parse_html(decode(page.body, page.content_type)).iter("meta"):
        named = (meta.get("http-equiv") or "").strip().lower() == "refresh"
        if not named or next(meta.iterancestors("noscript"), None) is not None:
            continue
        match = _REFRESH.match(meta.get("content") or "")
        if match and float(match[1]) <= _LONGEST_WAIT:
            return join(page.url, match[2].strip()) or None
    return None


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


def _why_browser(page: Page) -> str:
    """One line that says why a browser is needed, or an empty string."""
    document = page.document
    if page.outcome in _BROWSER_MAY_PASS:
        return page.reason
    if page.outcome not in {Outcome.OK, Outcome.EMPTY} or not document or document.kind != "html":
        return ""
    words = count_words(document.text)
    if words >= _ENOUGH_WORDS:
        return ""
    root = parse_html(decode(page.body, page.content_type))
    if any(map(_has_content, root.iter("iframe", "frame"))):
        return "its content stands in a frame"
    return _why_scripts(root, document.text, words)


def _why_scripts(root: etree._Element, text: str, words: int) -> str:
    scripts = [element for element in root.iter("script") if _runs(element)]
    if not scripts:
        return ""
    noscript = " ".join(text_content(element) for element in root.iter("noscript"))
    if _NEEDS_SCRIPT.search(f"{text} {noscript}"):
        return "the page says that it needs JavaScript"
    if words <= _NOTHING_WORDS:
        return f"an empty shell: {words} words without its scripts"
    code = "\n".join(script.text or "" for script in scripts)
    for element in filter(_is_hole, root.iter(etree.Element)):
        name = element.get("id") or ""
        named = name and any(f"{q}{mark}{name}{q}" in code for q in "\"'`" for mark in ("", "#"))
        if named or "-" in element.tag or name in _MOUNTS:
            return f"scripts fill <{element.tag}{f' id={name}' if name else ''}>"
    return ""


def _has_content(frame: etree._Element) -> bool:
    source = frame.get("src") or ""
    local = source and not urlsplit(source).netloc and not source.startswith("about:")
    return bool(frame.get("srcdoc") or local)


def _runs(script: etree._Element) -> bool:
    kind = (script.get("type") or "text/javascript").split(";")[0].strip().lower()
    return kind in {"module", ""} or "javascript" in kind or "ecmascript" in kind


def _is_hole(element: etree._Element) -> bool:
    """Whether an element that may hold content has none yet, or says that it is loading."""
    if "-" not in element.tag and element.tag not in _CONTAINERS:
        return False
    if any(child.tag not in {"template", "tbody"} for child in element):
        return False
    return raw_text(element).strip(f"…{punctuation}{whitespace}").lower() in {"", *_LOADING}
