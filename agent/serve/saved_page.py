"""A source as it was saved, with the words that carry a sentence marked: no script, no request.

What a page brought is cleaned to its text and structure (nh3: no script, style, frame, form, no
address that could be asked for), and shown in a sandboxed frame under a policy that loads nothing.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

import nh3
from lxml.html import fragment_fromstring, tostring

from agent.errors import JournalError

if TYPE_CHECKING:
    from lxml.html import HtmlElement

    from agent.export.run_record import FinishedRun
    from agent.types import ReportSource

POLICY: Final = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'self'"
)
_TAGS: Final = set(
    "p br pre ul ol li table thead tbody tr th td caption h1 h2 h3 h4 h5 h6 blockquote hr strong"
    " b em i code dl dt dd figure figcaption section article main sub sup div span".split()
)
_GONE: Final = set("script style noscript template svg nav footer iframe form head title".split())
_PAGE: Final = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="color-scheme" content="light dark"><title>{title}</title><style>
body {{ font: 16px/1.6 Georgia, serif; max-width: 42rem; margin: 1.5rem auto; padding: 0 1rem;
  overflow-wrap: anywhere }}
mark {{ background: #ffe58a; color: #1c1a17; padding: .1em 0 }} pre {{ white-space: pre-wrap }}
table {{ border-collapse: collapse }} td, th {{ border: 1px solid #8886; padding: .2rem .5rem }}
</style></head><body>{body}</body></html>"""
_BIGGEST: Final = 3 * 2**20
"""Bytes of HTML that are laid out; what is longer is shown as its text."""


def saved_page(record: FinishedRun, source: ReportSource) -> bytes:
    """Write the page of a source; the first mark can be gone to as `#words`."""
    body = _as_html(record, source) or _as_text(record, source)
    title = escape(source.title or source.url)
    return _PAGE.format(title=title, body=body).encode("utf-8", "replace")


def _as_html(record: FinishedRun, source: ReportSource) -> str:
    """Give the saved HTML with all quotes marked; empty where it is none, or one is not found."""
    row = record.source_on_record(source)
    if not row or source.via not in ("http", "browser") or not row.get("body"):
        return ""
    try:
        raw = record.folder.blob(row["body"])
    except JournalError:
        return ""
    if len(raw) > _BIGGEST or b"<" not in raw[:2000] or b"\0" in raw[:1000]:
        return ""
    text = raw.decode("utf-8", "replace")
    clean = nh3.clean(text, tags=_TAGS, clean_content_tags=_GONE, attributes={}, link_rel=None)
    tree = fragment_fromstring(clean, create_parent="div")
    found = [_mark(tree, quote, first=n == 0) for n, quote in enumerate(source.quotes)]
    return str(tostring(tree, encoding="unicode")) if all(found) else ""


def _mark(tree: HtmlElement, quote: str, *, first: bool) -> bool:
    """Mark a quote where it stands, over the borders of elements too.

    Spaces are left aside, and the bars between the cells of a table: the page has them as cells.
    """
    wanted = _bare(quote)
    ordered = _in_order(tree)
    flat = "".join(_bare(text) for _, _, text in ordered)
    start = flat.find(wanted)
    if start < 0 or not wanted:
        return False
    end, at = start + len(wanted), 0
    spans = []
    for element, is_tail, text in ordered:
        begin = None
        stop = 0
        for index, letter in enumerate(text):
            if not _bare(letter):
                continue
            if start <= at < end:
                begin = index if begin is None else begin
                stop = index + 1
            at += 1
        if begin is not None:
            spans.append((element, is_tail, begin, stop))
    for number, (element, is_tail, begin, stop) in enumerate(reversed(spans)):
        last = number == len(spans) - 1
        _wrap(element, begin, stop, is_tail=is_tail, named=first and last)
    return True


def _bare(text: str) -> str:
    return "".join(text.replace("|", " ").split())


def _in_order(tree: HtmlElement) -> list[tuple[HtmlElement, bool, str]]:
    """List the texts of a tree as they are read."""
    found: list[tuple[HtmlElement, bool, str]] = []

    def walk(element: HtmlElement) -> None:
        found.append((element, False, element.text or ""))
        for child in element:
            walk(child)
            found.append((child, True, child.tail or ""))

    walk(tree)
    return found


def _wrap(element: HtmlElement, begin: int, stop: int, *, is_tail: bool, named: bool) -> None:
    mark = element.makeelement("mark", {"id": "words"} if named else {})
    if is_tail:
        text = element.tail
        element.tail, mark.text, mark.tail = text[:begin], text[begin:stop], text[stop:]
        parent = element.getparent()
        parent.insert(parent.index(element) + 1, mark)
        # lxml moves a tail with its element: what was set above stays where it belongs.
    else:
        text = element.text
        element.text, mark.text, mark.tail = text[:begin], text[begin:stop], text[stop:]
        element.insert(0, mark)


def _as_text(record: FinishedRun, source: ReportSource) -> str:
    """Give the saved text with its quotes marked."""
    text = record.source_text(source)
    parts: list[str] = []
    at = 0
    places = sorted((text.find(quote), quote) for quote in source.quotes if quote in text)
    for begin, quote in places:
        if begin >= at:
            name = ' id="words"' if not parts else ""
            parts += [escape(text[at:begin]), f"<mark{name}>{escape(quote)}</mark>"]
            at = begin + len(quote)
    return f"<pre>{''.join(parts)}{escape(text[at:])}</pre>"
