"""Small tools over BeautifulSoup: parse, text as a reader sees it, blocks within blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bs4 import BeautifulSoup, Tag
from bs4.element import NavigableString

if TYPE_CHECKING:
    from collections.abc import Iterator

_INVISIBLE = ["script", "style", "noscript", "template"]
_BLOCKS = frozenset(
    "address article br cite dd div dl dt h1 h2 h3 h4 h5 h6 li ol p section td tr ul".split()
)
_HOLDERS = sorted(_BLOCKS - {"br"})


def parse_html(body: str) -> BeautifulSoup | None:
    """Parse a page and take out what a reader does not see; None where there is no markup."""
    if "<" not in body:
        return None
    soup = BeautifulSoup(body, "lxml")
    if soup.find(True) is None:
        return None  # angle brackets, but no element in them
    for tag in (*soup.find_all(_INVISIBLE), *soup.find_all(hidden=True)):
        tag.extract()
    return soup


def text(element: Tag) -> str:
    """Give the text of an element on one line, with a space where a block begins or ends."""
    return " ".join("".join(_pieces(element)).split())


def _pieces(element: Tag) -> Iterator[str]:
    for child in element.children:
        if isinstance(child, Tag):
            edge = " " if _is_set_apart(child) else ""
            yield edge
            yield from _pieces(child)
            yield edge
        elif type(child) is NavigableString:  # no comment
            yield child


def _is_set_apart(node: Tag) -> bool:
    """Whether a reader sees a gap: around a block, and between spans that follow each other."""
    if node.name == "span":
        following = node.next_sibling
        return isinstance(following, Tag) and following.name == "span"
    return node.name in _BLOCKS


def first_text(item: Tag, selectors: tuple[str, ...]) -> str:
    """Give the first non-empty text among the elements that CSS selectors find, in order."""
    for css in selectors:
        for element in item.select(css):
            if found := text(element):
                return found
    return ""


def leaves(element: Tag) -> Iterator[Tag]:
    """Yield the blocks within an element that hold no further block but line breaks, in order."""
    for node in (element, *element.find_all(True)):
        if node.name in _BLOCKS and node.find(_HOLDERS) is None:
            yield node
