"""Responses, live pages and errors as Pages with a typed outcome."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from string import punctuation, whitespace
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from lxml import etree

from browser.errors import BrowserError, ConnectFailed, DeadlineExceeded, ExtractError, Refused
from browser.extract import extract_body, may_be_platform, on_platform
from browser.extract.html import extract
from browser.extract.tree import decode, parse_html, raw_text, text_content
from browser.page.walls import find_wall
from browser.text.words import count_words
from browser.types import Outcome, Page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from browser.net.http import Response
    from browser.page.tab import Tab
    from browser.types import Document


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
