"""Parses HTML and XML into lxml trees of limited size; helpers for text in trees."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, AnyStr

from lxml import etree, html

from browser.errors import ExtractError
from browser.extract.sniff import decode_noted
from browser.text.words import NOT_XML, one_line

if TYPE_CHECKING:
    from collections.abc import Callable

BLOCK_TAGS = frozenset(
    """address article aside blockquote body caption center dd details dialog dir div dl dt
    fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend
    li main menu nav ol p pre search section summary table tbody tfoot thead td th tr ul
    template""".split()
)
"""Tags of elements that begin and end a line of text."""
FOLDED_MARK = "data-folded"
"""Marks an element that a control on the page opens."""
LABEL_MARK = "data-panel-label"
"""Marks a control directly above the element that it opens."""

# The elements that trafilatura expects; lxml.html's own lookup makes a Python call for each.
_LOOKUP = etree.ElementDefaultClassLookup(element=html.HtmlElement)

# A parsed tag takes about 500 bytes, so a compressed body that consists only of tags would take
# gigabytes. The longest articles and lists have 60,000 tags and a few megabytes.
MAX_TAGS = 150_000
_MAX_BYTES = 5_000_000
# If a page exceeds the byte limit, only this many tags are read, which takes at most a few seconds.
_MAX_TAGS_IF_CUT = 50_000

# A <noscript> with this many characters may be the article; a notice about scripts is shorter.
_ARTICLE_CHARS = 500

# libxml2's limit on nested elements.
_MAX_DEPTH = 2_048
_NESTING_TAGS = re.compile(
    r"</?(?:table|thead|tbody|tfoot|tr|td|th|div|section|span|font|center|blockquote|ul|ol|li|dl|dd"
    r"|b|i|em|strong)\b[^>]*>",
    re.IGNORECASE,
)
_HEAD_TAGS = frozenset(("title", "meta", "link", "script", "style", "base", "noscript", "template"))


def parse_html(page: str | bytes, content_type: str = "") -> etree._Element:
    """Parse HTML as leniently as browsers do; comments and processing instructions are dropped.

    `content_type` is the header, which may give the charset of bytes. Raises ExtractError if the
    input contains no element.
    """
    return parse_page(page, content_type)[0]


def parse_page(page: str | bytes, content_type: str = "") -> tuple[etree._Element, tuple[str, ...]]:
    """Like `parse_html`, but also returns notes for the user on what could not be read."""
    cut = page[:_MAX_BYTES]
    text, note = decode_noted(cut, content_type) if isinstance(cut, bytes) else (cut, "")
    read = truncate_tags(text) if len(cut) == len(page) else truncate_tags(text, _MAX_TAGS_IF_CUT)
    notes: tuple[str, ...] = (note,) if note else ()
    if len(cut) < len(page) or len(read) < len(text):
        notes += ("only the beginning was read: the page is too large",)
    root, is_whole = _parse(read)
    if not is_whole:
        root, _ = _parse(_NESTING_TAGS.sub("<p>", read))
        notes += ("its elements are nested too deeply: read without tables and boxes",)
    _repair_head(root)
    _open_noscript(root)
    return root, notes


def _parse(text: str) -> tuple[etree._Element, bool]:
    """Return a tree and whether it is complete: libxml2 stops at elements nested too deeply."""
    parser = etree.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True, collect_ids=False
    )
    parser.set_element_class_lookup(_LOOKUP)
    try:
        data = text.replace("\x00", "").encode("utf-8", "replace")
        root = etree.fromstring(data or b"<html></html>", parser)
    except etree.XMLSyntaxError as error:
        raise ExtractError(f"not readable as HTML: {error}") from error
    if root is None:
        raise ExtractError("not readable as HTML: no element in it")
    last = parser.error_log.last_error if text.count("<") > _MAX_DEPTH else None
    return root, last is None or last.type_name != "ERR_RESOURCE_LIMIT"


def parse_xml(data: str | bytes) -> etree._Element | None:
    """Parse untrusted XML, without entities and network access; None if it is beyond recovery."""
    encoding = "utf-8" if isinstance(data, str) else None
    parser = etree.XMLParser(
        encoding=encoding, resolve_entities=False, no_network=True, remove_comments=True,
        remove_pis=True, recover=True,
    )  # fmt: skip
    try:
        return etree.fromstring(
            data.encode("utf-8", "replace") if isinstance(data, str) else data, parser
        )
    except etree.XMLSyntaxError:
        return None


def truncate_tags(markup: AnyStr, limit: int = MAX_TAGS) -> AnyStr:
    """Truncate markup after `limit` tags."""
    sign = "<" if isinstance(markup, str) else b"<"
    if markup.count(sign) <= limit:
        return markup
    return sign.join(markup.split(sign, limit + 1)[:-1])


def _repair_head(root: etree._Element) -> None:
    """Move content out of the head: libxml2 does not end the head at <main> or <article>."""
    head, body = root.find("head"), root.find("body")
    if head is None:
        return
    stray = next((child for child in head if child.tag not in _HEAD_TAGS), None)
    if stray is None:
        return
    if body is None:
        body = etree.SubElement(root, "body")
    moved = [stray, *stray.itersiblings()]
    moved[-1].tail = _join_texts(moved[-1].tail, body.text)
    body.text = None
    for place, element in enumerate(moved):
        body.insert(place, element)


def _open_noscript(root: etree._Element) -> None:
    """Turn a <noscript> into a <div> if it has more text than the rest of the page.

    In that case, it contains the article, which scripts would otherwise load.
    """
    longest = max(root.iter("noscript"), key=lambda box: len(raw_text(box)), default=None)
    if longest is None or len(text := text_content(longest)) < _ARTICLE_CHARS:
        return
    unseen = ("script", "style", "noscript", "template")
    body = root.find("body")
    seen = root if body is None else body
    outermost = (e for e in seen.iter(*unseen) if next(e.iterancestors(*unseen), None) is None)
    if len(text) > len(text_content(seen)) - sum(len(text_content(e)) for e in outermost):
        longest.tag = "div"


def finder(*paths: str) -> Callable[[etree._Element], list[etree._Element]]:
    """Return a function that finds a page's elements at any of these XPaths, in page order.

    On a large page, the function is faster than a loop over the elements.
    """
    found: Callable[[etree._Element], Any] = etree.XPath("|".join(paths))
    return found


def remove(element: etree._Element) -> None:
    """Remove an element from its tree, but keep the text after it."""
    parent = element.getparent()
    if parent is None:
        return
    if tail := element.tail:
        previous = element.getprevious()
        if previous is None:
            parent.text = _join_texts(parent.text, tail)
        else:
            previous.tail = _join_texts(previous.tail, tail)
    parent.remove(element)


def _join_texts(*texts: str | None) -> str:
    """Join strings, dropping characters that lxml may return but does not accept."""
    return NOT_XML.sub("", "".join(filter(None, texts)))


def raw_text(element: etree._Element) -> str:
    """All text in an element, unchanged."""
    # This takes a quarter of the time of `itertext`.
    return etree.tostring(element, method="text", encoding="unicode", with_tail=False)


def text_content(element: etree._Element) -> str:
    """All text in an element, with whitespace collapsed."""
    return one_line(raw_text(element))


def local_name(element: etree._Element) -> str:
    """The tag without its namespace or an unbound prefix; "" for a comment."""
    tag = element.tag
    return tag.rpartition("}")[2].rpartition(":")[2] if isinstance(tag, str) else ""
