"""Reads a URL into a Page with a typed outcome, over HTTP or, if necessary, in the browser."""

from __future__ import annotations

import asyncio
import mimetypes
import re
import time
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from lxml import etree

from browser.errors import (
    BadResponse,
    BrowserError,
    ConnectFailed,
    DeadlineExceeded,
    ExtractError,
    NoAnswer,
    Refused,
    SessionError,
    TooLarge,
)
from browser.extract import add_platform_record, extract_body, may_be_platform, prepare
from browser.extract.hidden import strip_hidden
from browser.extract.html import extract
from browser.extract.links import embedded_pdf
from browser.extract.sniff import decode
from browser.extract.tree import parse_html, raw_text, text_content
from browser.extract.weighing import MAJORITY
from browser.net.local_files import MAX_FILE_BYTES, LocalFiles
from browser.net.url import host, join, registrable_domain
from browser.page.block_pages import (
    CAPTCHA_REASON,
    BlockPage,
    find_block_page,
    is_bare_page,
    may_be_paywall,
    mentions_captcha,
)
from browser.read.habits import FAILURES, Habits
from browser.read.online_metadata import OnlineMetadata
from browser.text.words import count_words, says_loading
from browser.types import PDF, Outcome, Page

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from browser.net.polite import Polite
    from browser.net.transport import Response
    from browser.page.tab import Tab
    from browser.session.session import Browser
    from browser.types import Document

Mode = Literal["auto", "http", "browser"]

# Seconds for one page, including all attempts.
DEADLINE = 20.0
# Maximum time to wait for content that a page loads late, in seconds.
_LATE_CONTENT_SECONDS = 6.0
# Maximum number of consecutive redirects by pages (refreshes); a longer chain is a loop.
_MAX_REFRESHES = 2
# Files that a browser saves or shows in a viewer; only HTTP returns their bytes.
_DOCUMENT_SUFFIXES = frozenset(
    """.pdf .doc .docx .xls .xlsx .ppt .pptx .odt .ods .odp .epub .eml .mbox .json .xml .csv .txt
    .md""".split()
)
# Block pages that a real browser may get past, because it runs scripts and has cookies.
_OUTCOMES_TO_RETRY_IN_BROWSER = frozenset((Outcome.BOT_CHECK, Outcome.CONSENT, Outcome.BLOCKED))

# Only headers about the document are kept. Others may be specific to a user, such as cookies,
# tokens and session names.
_DOCUMENT_HEADERS = tuple(
    """Content-Type Content-Language Content-Location Content-Disposition Date Last-Modified ETag
    Expires Cache-Control Vary Link Refresh Server X-Robots-Tag""".split()
)


class Reader:
    """Reads pages.

    `browser` starts or returns a browser session, and is called only if a page needs one. `files`
    are the files and folders whose `file://` addresses may be read. `habits` remembers which sites
    need the browser. With `metadata`, the publication data of PDFs is completed from registries.
    """

    def __init__(
        self,
        http: Polite,
        *,
        browser: Callable[[], Awaitable[Browser]] | None = None,
        files: LocalFiles | Iterable[Path | str] = (),
        habits: Habits | Path | None = None,
        metadata: OnlineMetadata | bool = False,
    ) -> None:
        self._http = http
        self._browser = browser
        self.files = files if isinstance(files, LocalFiles) else LocalFiles(files)
        if isinstance(metadata, bool):
            self._metadata = OnlineMetadata(http.client) if metadata else None
        else:
            self._metadata = metadata
        self.habits = habits if isinstance(habits, Habits) else Habits(habits)

    async def read(self, url: str, mode: Mode = "auto", deadline: float = DEADLINE) -> Page:
        """Read a page; errors are in `Page.outcome` and `Page.reason`, never raised.

        `deadline` is in seconds and covers all attempts.
        """
        started = time.monotonic()
        page = await self._read(url, mode, started + deadline)
        if page.via != "file":
            site = registrable_domain(host(url))
            if page.outcome in FAILURES:
                self.habits.read_failed(site, page.outcome)
            elif page.outcome is Outcome.OK:
                self.habits.read_succeeded(site, time.monotonic() - started)
        return page

    def deadline_of(self, url: str, usual: float) -> float:
        """Return how many seconds reading this site may take, based on earlier reads."""
        return self.habits.for_site(registrable_domain(host(url))).deadline(usual)

    async def _read(self, url: str, mode: Mode, until: float) -> Page:
        try:
            if url.lower().startswith("file:"):
                page = await asyncio.to_thread(_read_file, url, self.files)
            elif mode == "browser":
                page = await self._read_in_browser(
                    url, until, "reading in the browser was requested"
                )
            elif mode == "http":
                page = await self._fetch(url, until)
            else:
                page = await self._read_auto(url, until)
            page = _with_note(page, self._http.remark(url))
            if self._metadata is None or page.document is None:
                return page
            return replace(page, document=await self._metadata.complete(page.document))
        except BrowserError as error:
            return _page_from_error(url, error)

    async def read_tab(self, tab: Tab) -> Page:
        """Read the page that a tab currently shows."""
        return await read_rendered(tab)

    async def _read_auto(self, url: str, until: float) -> Page:
        """Read over HTTP, then in the browser if the result shows that it is needed.

        If a site is known to need the browser, HTTP is skipped.
        """
        site = registrable_domain(host(url))
        habit = self.habits.for_site(site)
        is_document = PurePosixPath(urlsplit(url).path.lower()).suffix in _DOCUMENT_SUFFIXES
        if self._browser is not None and habit.needs_browser and not is_document:
            reason = f"{site} previously needed the browser: {habit.reason}"
            with suppress(BrowserError):  # fall back to HTTP
                return await self._read_in_browser(url, until, reason)
        page = await self._fetch(url, until)
        reason = _reason_for_browser(page)
        if not reason:
            self.habits.http_was_enough(site)
            return page
        if self._browser is None:
            return _with_missing_content_note(page, f"{reason}; no browser is available")
        try:
            browsed = await self._read_in_browser(page.url, until, reason)
        except BrowserError as error:
            return _with_missing_content_note(
                page, f"{reason}; the browser returned nothing more: {error}"
            )
        # The HTML hides text; only the browser knows whether it is eventually shown.
        hides = page.document is not None and page.document.needs_scripts
        if _text_length(browsed) <= _text_length(page) * (MAJORITY if hides else 1):
            return _with_missing_content_note(page, f"{reason}; the browser shows no more")
        self.habits.needed_browser(site, reason)
        status = browsed.status or page.status
        return replace(browsed, requested_url=page.requested_url, status=status)

    async def _fetch(self, url: str, until: float) -> Page:
        page = await self._get(url, url, until)
        for _ in range(_MAX_REFRESHES):
            target = _refresh_target(page)
            if target is None:
                break
            page = await self._get(url, target, until)
        return page

    async def _get(self, requested: str, url: str, until: float) -> Page:
        prepare()
        response = await self._http.get(url, deadline=_remaining(until))
        page = await asyncio.to_thread(_page_from_response, requested, response)
        if page.outcome is not Outcome.OK:  # it must not come from the cache next time
            await self._http.forget(response.url)
        return page

    async def _read_in_browser(self, url: str, until: float, reason: str) -> Page:
        if self._browser is None:
            raise SessionError("no browser is available", hint="Use mode http.")
        await self._http.wait_turn(url, _remaining(until))  # obeys robots.txt and the host's pace
        session = await self._browser()
        tab = await session.open(url, deadline=_remaining(until))
        try:
            page = await read_rendered(tab, check_status=True)
            if _is_unfinished(await tab.html()):
                await tab.wait_until_idle(min(_LATE_CONTENT_SECONDS, _remaining(until)))
                page = await read_rendered(tab, check_status=True)
                if _is_unfinished(await tab.html()) and page.document is not None:
                    notes = (
                        *page.document.notes,
                        "scripts did not finish filling the page in time",
                    )
                    page = replace(page, document=replace(page.document, notes=notes))
        finally:
            await session.close(tab)
        return replace(page, requested_url=url, reason=page.reason or reason)


def _with_missing_content_note(page: Page, reason: str) -> Page:
    """Add a note on why content that scripts add may be missing from the page."""
    note = f"may be incomplete: {reason}" if page.outcome is Outcome.OK else ""
    return _with_note(replace(page, reason=reason), note)


def _with_note(page: Page, note: str) -> Page:
    if not note or page.document is None:
        return page
    return replace(page, document=replace(page.document, notes=(*page.document.notes, note)))


def _remaining(until: float) -> float:
    seconds = until - time.monotonic()
    if seconds <= 0:
        raise DeadlineExceeded("the page did not load before its deadline")
    return seconds


def _text_length(page: Page) -> int:
    return len(page.document.text) if page.document and page.outcome is Outcome.OK else 0


def _read_file(url: str, files: LocalFiles) -> Page:
    """Read a `file://` URL.

    Raises Refused outside `files`, FetchError and ExtractError if it is not a document.
    """
    path = files.path(url)
    address = files.address(path)
    if not path.is_file():
        raise BadResponse(f"no file {address}", hint="Check the path.")
    if path.stat().st_size > MAX_FILE_BYTES:
        raise TooLarge(f"{address} is larger than {MAX_FILE_BYTES >> 20} MB")
    body = path.read_bytes()
    kind = mimetypes.guess_type(path.name)[0] or ""
    document = extract_body(body, kind, address)
    # If only this page was saved, its link to the next page leads nowhere.
    links = tuple(
        link
        for link in document.links
        if "next" not in link.rel.split() or _is_readable(link.url, files)
    )
    return Page(
        requested_url=address, url=address, via="file", outcome=Outcome.OK, body=body,
        fetched_at=datetime.now(UTC), content_type=kind, reason="a local file",
        document=replace(document, links=links),
    )  # fmt: skip


def _is_readable(url: str, files: LocalFiles) -> bool:
    """Whether an address can be read: any web address, and files in `files` that exist."""
    if not url.startswith("file:"):
        return True
    with suppress(Refused):
        return files.path(url).is_file()
    return False


def _page_from_response(requested: str, response: Response) -> Page:
    """Make a Page from an HTTP response; if the body is not a document, the outcome is `error`."""
    kind, headers = response.content_type, response.headers
    reason = "plain HTTP" if response.age is None else "plain HTTP, from the cache"
    if response.age == 0.0:
        reason += ", confirmed by the site"
    page = Page(
        requested_url=requested, url=response.url, via="http", outcome=Outcome.OK,
        fetched_at=datetime.now(UTC) - timedelta(seconds=response.age or 0.0),
        status=response.status, content_type=kind,
        headers=tuple(
            (name, " ".join(headers[name].split())) for name in _DOCUMENT_HEADERS if name in headers
        ),
        body=response.body, reason=reason,
    )  # fmt: skip
    document, html = None, ""
    try:
        if response.body:
            document = extract_body(response.body, kind, response.url)
            html = decode(response.body, kind) if document.kind == "html" else ""
    except BrowserError as error:
        page = replace(page, outcome=Outcome.ERROR, reason=_reason_of(error))
    else:
        if document and response.is_truncated:
            note = "the connection ended too early: the end of the page is missing"
            document = replace(document, notes=(*document.notes, note))
        page = replace(page, outcome=_outcome(document), document=document)
    shown = _shown_text(html) if may_be_paywall(html, document) else ""
    if blocked := find_block_page(response.status, requested, response.url, html, document, shown):
        return replace(page, outcome=blocked.outcome, reason=blocked.reason)
    return page


async def read_rendered(tab: Tab, *, check_status: bool = False) -> Page:
    """Read a live page in its current state. Raises SessionError if the page no longer exists.

    With `check_status`, a page with an HTTP error status is treated as a block page, as over plain
    HTTP. In a tab in which the user or a model acts, the page is accepted as it is.
    """
    if body := await tab.pdf():
        return await asyncio.to_thread(_page_of_pdf, tab.url, body)
    html = await tab.rendered_html()
    url = tab.url
    # On a known platform, the full DOM with its scripts contains more than what the user sees.
    dom = (await tab.html()).encode("utf-8", "replace") if may_be_platform(url) else b""
    document = await asyncio.to_thread(
        lambda: add_platform_record(extract_rendered(html, url), dom, url)
    )
    shown = _shown_text(html) if may_be_paywall(html, document) else ""
    status = tab.status if check_status else None
    blocked = find_block_page(status, url, url, html, document, shown)
    if (
        blocked is None
        and is_bare_page(html, document)
        and (mentions_captcha(document) or await tab.challenge() is not None)
    ):
        blocked = BlockPage(Outcome.CAPTCHA, CAPTCHA_REASON)
    return Page(
        requested_url=url, url=url, via="browser",
        outcome=blocked.outcome if blocked else _outcome(document), fetched_at=datetime.now(UTC),
        status=status, content_type="text/html; charset=utf-8",
        body=html.encode("utf-8", "replace"), document=document,
        reason=blocked.reason if blocked else "", shown=tab.citable(),
    )  # fmt: skip


def _page_of_pdf(url: str, body: bytes) -> Page:
    """Make a Page from the content of a PDF that is open in a tab."""
    document, reason = None, ""
    try:
        document = extract_body(body, PDF, url)
    except BrowserError as error:
        reason = _reason_of(error)
    return Page(
        requested_url=url, url=url, via="browser", fetched_at=datetime.now(UTC), content_type=PDF,
        outcome=Outcome.ERROR if reason else _outcome(document), body=body, document=document,
        reason=reason,
    )  # fmt: skip


def _shown_text(html: str) -> str:
    """All text that a page shows, on one line."""
    root = parse_html(html)
    strip_hidden(root)
    etree.strip_elements(root, "script", "style", "template", "noscript", "head", with_tail=False)
    return text_content(root)


def _page_from_error(url: str, error: BrowserError) -> Page:
    """Make a Page whose `reason` explains why it could not be read."""
    outcome = Outcome.ERROR
    if isinstance(error, Refused):
        outcome = Outcome.REFUSED
    elif isinstance(error, DeadlineExceeded):
        outcome = Outcome.TIMEOUT
    elif isinstance(error, ConnectFailed | NoAnswer):
        outcome = Outcome.UNREACHABLE
    return Page(
        requested_url=url, url=url, via="file" if url.lower().startswith("file:") else "http",
        outcome=outcome, fetched_at=datetime.now(UTC), reason=_reason_of(error),
    )  # fmt: skip


def _reason_of(error: BrowserError) -> str:
    """Return the error's message; for an unreadable document, also its hint."""
    hint = error.hint if isinstance(error, ExtractError) else ""
    return f"{error}. {hint}" if hint else str(error)


def _outcome(document: Document | None) -> Outcome:
    return Outcome.OK if document and document.text.strip() else Outcome.EMPTY


# Dialogs that contain one of these words are not part of the content.
_DIALOG_NOISE = ("cookie", "consent", "einwilligung", "newsletter", "subscribe", "abonnier")


def extract_rendered(html: str, url: str) -> Document:
    """Extract a rendered page, and add the text of its open dialogs at the end."""
    document = extract(html, url)
    if "data-front" not in html:
        return document
    texts: list[str] = []
    for dialog in parse_html(html).iterfind(".//section[@data-front]"):
        content = text_content(dialog).lower()
        if any(word in content for word in _DIALOG_NOISE):
            continue
        text = extract(etree.tostring(dialog, encoding="unicode", with_tail=False), url).text
        if text and text not in document.text:
            texts.append(text)
    if not texts:
        return document
    return replace(
        document,
        text="\n\n".join([document.text, *texts]).strip(),
        markdown="\n\n".join([document.markdown, *texts]).strip(),
    )


# `0; url=/next`; the address may be quoted (HTML standard, "shared declarative refresh steps").
_REFRESH = re.compile(r"\s*(\d+(?:\.\d*)?)\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"']+)", re.IGNORECASE)
# A page that waits longer than this, or has more words, is meant to be read.
_MAX_REFRESH_SECONDS = 10.0
_MAX_REDIRECT_WORDS = 100


# Matches a script that sets a literal address; a longer script may choose between several.
_SCRIPT_REDIRECT = re.compile(
    r"""\blocation(?:\.href)?\s*(?:=|\.(?:replace|assign)\s*\()\s*(["'`])([^"'`\s]+)\1"""
)
_MAX_REDIRECT_SCRIPT_CHARS = 1_000


def _refresh_target(page: Page) -> str | None:
    """The absolute URL that a page redirects to; None if there is none or the page has content.

    The URL may come from a Refresh header, a meta element or a script, or from a frame with a PDF.
    """
    document = page.document
    header = next((value for name, value in page.headers if name == "Refresh"), "")
    start = page.body[:16_384].lower()
    signs = (b"refresh", b"location", b".pdf", b"application/pdf")
    if not header and not any(sign in start for sign in signs):
        return None
    if (
        document is None
        or document.kind != "html"
        or len(document.text.split()) > _MAX_REDIRECT_WORDS
    ):
        return None
    root = parse_html(decode(page.body, page.content_type))
    found = [header] if header else []
    for meta in root.iter("meta"):
        is_refresh = (meta.get("http-equiv") or "").strip().lower() == "refresh"
        if is_refresh and next(meta.iterancestors("noscript"), None) is None:
            found.append(meta.get("content") or "")
    for content in found:
        match = _REFRESH.match(content)
        if match and float(match[1]) <= _MAX_REFRESH_SECONDS:
            return join(page.url, match[2].strip()) or None
    return embedded_pdf(root, page.url) or _scripted_target(root, page.url)


def _scripted_target(root: etree._Element, url: str) -> str | None:
    """Return the address that a page's only script opens immediately."""
    codes = [code for script in root.iter("script") if (code := (script.text or "").strip())]
    match = _SCRIPT_REDIRECT.search(codes[0]) if len(codes) == 1 else None
    if (
        match is None
        or len(codes[0]) > _MAX_REDIRECT_SCRIPT_CHARS
        or "if" in codes[0].split("(")[0]
    ):
        return None
    target = join(url, match[2])
    return target if target and target.partition("#")[0] != url.partition("#")[0] else None


# A page with at least this many words is rendered only if a script fills one of its sections.
_MIN_CONTENT_WORDS = 150
# A page with scripts and at most this many words is an empty shell.
_MAX_SHELL_WORDS = 6
_NEEDS_SCRIPT = re.compile(
    r"(?:enable|activate|requires?|turn on|need(?:s)? to enable|aktivieren sie|activez)"
    r"[^.]{0,40}java ?script|java ?script[^.]{0,40}(?:is required|is disabled|must be enabled|"
    r"to run this app|aktivieren|benötigt|erforderlich)|(?:without|no) java ?script",
    re.IGNORECASE,
)
# Ids of the elements into which frameworks render.
_MOUNT_IDS = frozenset(("root", "app", "__next", "__nuxt", "___gatsby", "main", "content", "q-app"))
_CONTAINERS = ("div", "main", "section", "article", "ul", "ol", "tbody", "table", "p", "span", "dl")


def _reason_for_browser(page: Page) -> str:
    """Return the reason why a browser is needed, in one line; "" if none is."""
    document = page.document
    if page.outcome in _OUTCOMES_TO_RETRY_IN_BROWSER:
        return page.reason
    if page.outcome not in {Outcome.OK, Outcome.EMPTY} or not document or document.kind != "html":
        return ""
    if document.needs_scripts:
        return document.needs_scripts
    words = count_words(document.text)
    if words >= _MIN_CONTENT_WORDS and b"<script" not in page.body:
        return ""
    root = parse_html(decode(page.body, page.content_type))
    if words >= _MIN_CONTENT_WORDS:
        heading = _unfilled_section(root)
        return f"a script fills the section {heading!r}" if heading else ""
    if any(map(_is_content_frame, root.iter("iframe", "frame"))):
        return "the page's content is in a frame"
    return _reason_for_scripts(root, document.text, words)


def _reason_for_scripts(root: etree._Element, text: str, words: int) -> str:
    scripts = [element for element in root.iter("script") if _is_javascript(element)]
    if not scripts:
        return ""
    noscript = " ".join(text_content(element) for element in root.iter("noscript"))
    if _NEEDS_SCRIPT.search(f"{text} {noscript}"):
        return "the page says that it needs JavaScript"
    if words <= _MAX_SHELL_WORDS:
        return f"the page is empty without its scripts ({words} words)"
    # Looks for an empty element whose id a script mentions, a custom element, or a framework's
    # root.
    code = "\n".join(script.text or "" for script in scripts)
    for element in filter(_is_empty_container, root.iter(etree.Element)):
        name = element.get("id") or ""
        in_code = name and any(f"{q}{mark}{name}{q}" in code for q in "\"'`" for mark in ("", "#"))
        if in_code or "-" in element.tag or name in _MOUNT_IDS:
            return f"scripts fill <{element.tag}{f' id={name}' if name else ''}>"
    return ""


def _unfilled_section(root: etree._Element) -> str:
    """Return a heading in the main part directly above an element that a script fills, or ""."""
    for heading in root.iter("h2", "h3"):
        below = heading.getnext()
        if below is None or not below.get("id") or (heading.tail or "").strip():
            continue
        in_frame = next(heading.iterancestors("aside", "footer", "nav"), None) is not None
        name = text_content(heading)
        if name and not in_frame and _is_empty_container(below):
            return name
    return ""


def _is_unfinished(html: str) -> bool:
    """Whether a live page still shows that it is loading, or has a section without content."""
    root = parse_html(html)
    return bool(_unfilled_section(root)) or any(
        raw_text(element).strip() and _is_empty_container(element)
        for element in root.iter(*_CONTAINERS)
    )


def _is_content_frame(frame: etree._Element) -> bool:
    """Whether a frame's content is from the page's own site."""
    source = frame.get("src") or ""
    is_local = source and not urlsplit(source).netloc and not source.startswith("about:")
    return bool(frame.get("srcdoc") or is_local)


def _is_javascript(script: etree._Element) -> bool:
    kind = (script.get("type") or "text/javascript").split(";")[0].strip().lower()
    return kind in {"module", ""} or "javascript" in kind or "ecmascript" in kind


def _is_empty_container(element: etree._Element) -> bool:
    """Whether a content element is empty or shows that it is loading."""
    if "-" not in element.tag and element.tag not in _CONTAINERS:
        return False
    if any(child.tag not in {"template", "tbody"} for child in element):
        return False
    text = raw_text(element)
    return not any(map(str.isalnum, text)) or says_loading(text)
