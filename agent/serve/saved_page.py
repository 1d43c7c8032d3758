"""A source as it was saved, with the words that carry a sentence marked: no script, no request.

What a page brought is cleaned to its text and structure (nh3: no script, style, frame, form, no
address that could be asked for), and shown in a sandboxed frame under a policy that loads nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import nh3
from lxml.html import Element, fragment_fromstring, tostring
from markupsafe import Markup

from agent.errors import JournalError
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

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
_REMOVED: Final = set(
    "script style noscript template svg nav footer iframe form head title".split()
)
_NOT_XML: Final = re.compile("[\ud800-\udfff\ufffe\uffff]")
MAX_HTML_BYTES: Final = 3 * 2**20
"""A longer page is shown as text: a browser takes too long to lay it out."""


def saved_body(record: FinishedRun, source: ReportSource) -> Markup:
    """The page of a source, or its text, as safe HTML; `#words` is where a quote is marked."""
    page = _saved_html(record, source)
    # Where a quote is not found, it was cut out of the text that the page was read as.
    if page is None or not mark_quotes(page, source.quotes):
        page = Element("pre")
        page.text = _NOT_XML.sub("\ufffd", clean(record.source_text(source)))
        mark_quotes(page, source.quotes)
    return Markup(tostring(page, encoding="unicode"))  # noqa: S704 - cleaned, or a text


def _saved_html(record: FinishedRun, source: ReportSource) -> HtmlElement | None:
    """The HTML that a page brought, without what could act; None where it brought none."""
    row = record.source_on_record(source)
    if not row or source.via not in ("http", "browser") or not row.get("body"):
        return None
    try:
        raw = record.folder.blob(row["body"])
    except JournalError:
        return None
    if len(raw) > MAX_HTML_BYTES or b"<" not in raw[:2000] or b"\0" in raw[:1000]:
        return None
    text = raw.decode("utf-8", "replace")
    html = nh3.clean(text, tags=_TAGS, clean_content_tags=_REMOVED, attributes={}, link_rel=None)
    return fragment_fromstring(html, create_parent="div")


def mark_quotes(tree: HtmlElement, quotes: Sequence[str]) -> bool:
    """Mark quotes where they stand, over the borders of elements too; False if one is not found.

    Spaces count for nothing, nor do the bars between the cells of a table: the page has them as
    cells. The mark in which the first quote begins is named `words`.
    """
    nodes = tree.xpath(".//text()")
    node_letters = [_letters(node) for node in nodes]
    page_letters = "".join(node_letters)
    wanted = [_letters(quote) for quote in quotes]
    starts = [page_letters.find(letters) if letters else -1 for letters in wanted]
    found = [(at, at + len(quote)) for at, quote in zip(starts, wanted, strict=True) if at >= 0]
    spans: list[tuple[int, int]] = []
    for start, end in sorted(found):  # one mark for quotes that overlap
        if spans and start < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    node_start = 0
    for node, letters in zip(nodes, node_letters, strict=True):
        node_end = node_start + len(letters)
        marks: list[tuple[int, int, bool]] = []
        places: list[int] = []
        for start, end in spans:
            first, last = max(start, node_start), min(end, node_end) - 1
            if first <= last:
                places = places or [n for n, letter in enumerate(node) if _letters(letter)]
                named = first <= found[0][0] <= last
                marks.append((places[first - node_start], places[last - node_start] + 1, named))
        if marks:
            _wrap(node, marks)
        node_start = node_end
    return len(found) == len(quotes)


def _letters(text: str) -> str:
    return "".join(text.replace("|", " ").split())


def _wrap(node: Any, ranges: Sequence[tuple[int, int, bool]]) -> None:
    """Put ranges of a text node into `<mark>`s; `node` is a text as lxml's XPath gives it."""
    element = node.getparent()
    before = node[: ranges[0][0]]
    if node.is_tail:
        element.tail = before
        parent, at = element.getparent(), element.getparent().index(element) + 1
    else:
        element.text = before
        parent, at = element, 0
    ends = [start for start, _, _ in ranges[1:]] + [len(node)]
    for n, ((start, end, named), next_start) in enumerate(zip(ranges, ends, strict=True)):
        mark = Element("mark", {"id": "words"} if named else {})
        mark.text, mark.tail = node[start:end], node[end:next_start]
        parent.insert(at + n, mark)
