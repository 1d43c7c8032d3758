"""Small tools over an lxml tree: parse, remove, text, leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lxml import etree, html

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.html import HtmlElement

_INVISIBLE = "//script | //style | //noscript | //template | //comment() | //*[@hidden]"
_BLOCKS = frozenset(
    "address article br cite dd div dl dt h1 h2 h3 h4 h5 h6 li ol p section td tr ul".split()
)


def parse_html(body: str) -> HtmlElement | None:
    """Parse a page and take out what a reader does not see; None where there is no markup."""
    if "<" not in body:
        return None
    parser = html.HTMLParser(encoding="utf-8")
    try:
        tree = html.document_fromstring(body.encode("utf-8", "replace"), parser)
    except etree.ParserError:
        return None  # angle brackets, but no element in them
    remove(tree, _INVISIBLE)
    return tree


def remove(tree: HtmlElement, path: str) -> None:
    """Take elements out of the tree; the text that follows them stays."""
    for element in tree.xpath(path):
        if element.getparent() is not None:
            element.drop_tree()


def text(element: HtmlElement) -> str:
    """Give the text of an element on one line, with a space where a block begins or ends."""
    pieces: list[str] = []
    for event, node in etree.iterwalk(element, events=("start", "end")):
        edge = " " if node is not element and _is_set_apart(node) else ""
        if event == "start":
            pieces += (edge, node.text or "")
        elif node is not element:
            pieces += (edge, node.tail or "")
    return " ".join("".join(pieces).split())


def _is_set_apart(node: HtmlElement) -> bool:
    """Whether a reader sees a gap: around a block, and between spans that follow each other."""
    if node.tag == "span":
        following = node.getnext()
        return not node.tail and following is not None and following.tag == "span"
    return node.tag in _BLOCKS


def first_text(item: HtmlElement, paths: tuple[str, ...]) -> str:
    """Give the first non-empty text among the elements that the paths find, in order."""
    for path in paths:
        for element in item.xpath(path):
            found = text(element)
            if found:
                return found
    return ""


def leaves(element: HtmlElement) -> Iterator[HtmlElement]:
    """Yield the blocks within an element that hold no further block but line breaks, in order."""
    for node in element.iter():
        if node.tag in _BLOCKS and not any(
            below.tag in _BLOCKS and below.tag != "br" for below in node.iterdescendants()
        ):
            yield node


def class_(name: str) -> str:
    """XPath condition: the element has this class among its classes."""
    return f"contains(concat(' ', normalize-space(@class), ' '), ' {name} ')"


def classish(part: str) -> str:
    """XPath condition: one of the element's class names contains this part."""
    return f"contains(@class, '{part}')"
