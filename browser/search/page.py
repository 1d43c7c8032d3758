"""Engines that answer in HTML: layouts as XPath, advertisements, and honest emptiness."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urljoin

from lxml import etree, html

from browser.search.base import HOUR, Provider
from browser.search.tidy import target
from browser.types import Outcome, SearchPage, SearchResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lxml.html import HtmlElement

# Engines answer an unknown client with a check for robots or with a page that needs JavaScript.
BROWSER = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/142.0.0.0 Safari/537.36"
)
_INVISIBLE = "//script | //style | //noscript | //template | //comment()"
_BLOCKS = frozenset(
    "address article br dd div dl dt h1 h2 h3 h4 h5 h6 li ol p section td tr ul".split()
)


@dataclass(frozen=True, slots=True)
class Layout:
    """How a page of results is built: XPath of a result, then paths relative to it.

    `link` finds the element whose `href` leads to the target; `title` the element that holds the
    title (the link itself where empty); `snippet` elements are tried in order until one has text.
    """

    item: str
    link: str
    title: str = ""
    snippet: tuple[str, ...] = ()


class HtmlProvider(Provider):
    """An engine read from its result page: the first layout that yields results is taken.

    `containers` find the element that holds results: when it stands there without a link in it,
    nothing was found. `nothing` matches the sentence that says so. `ads` are removed beforehand.
    """

    is_api = False
    lifetime = HOUR
    layouts: ClassVar[tuple[Layout, ...]]
    ads: ClassVar[str] = ""
    containers: ClassVar[str] = ""
    nothing: ClassVar[re.Pattern[str] | None] = None
    needs_script: ClassVar[re.Pattern[str] | None] = None

    def headers(self, lang: str | None) -> dict[str, str]:
        """Ask as a browser does, in the language of the query."""
        language = f"{lang},en;q=0.5" if lang and lang != "en" else "en-US,en;q=0.9"
        return {"User-Agent": BROWSER, "Accept": "text/html", "Accept-Language": language}

    def refusal(
        self, body: str, status: int, url: str, headers: Mapping[str, str]
    ) -> SearchPage | None:
        """Recognise, beside the usual walls, a redirect to a consent or captcha page."""
        if re.match(r"https?://consent\.", url):
            return SearchPage(Outcome.BLOCKED, detail="a consent page")
        return super().refusal(body, status, url, headers)

    def parse(self, body: str, url: str) -> SearchPage:
        """Read the first layout that yields results; tell nothing found from a changed page."""
        tree = parse_html(body)
        if tree is None:
            return SearchPage(Outcome.ERROR, detail="the page is empty")
        if self.ads:
            remove(tree, self.ads)
        for layout in self.layouts:
            results = tuple(self.read_layout(tree, layout, url))
            if results:
                return SearchPage(Outcome.OK, results)
        return self.without_results(tree, body)

    def read_layout(self, tree: HtmlElement, layout: Layout, url: str) -> Iterator[SearchResult]:
        """Yield what a layout finds, real targets only."""
        for item in tree.xpath(layout.item):
            for link in item.xpath(layout.link)[:1]:
                address = target(urljoin(url, link.get("href", "")))
                title = first_text(item, (layout.title,)) if layout.title else text(link)
                if address and title:
                    yield SearchResult(address, title, first_text(item, layout.snippet))

    def without_results(self, tree: HtmlElement, body: str) -> SearchPage:
        """Say why a page has no results: none found, or a page that we cannot read."""
        if self.nothing is not None and self.nothing.search(text(tree)):
            return SearchPage(Outcome.EMPTY)
        holders = tree.xpath(self.containers) if self.containers else []
        if holders and not any(holder.xpath(".//a[@href]") for holder in holders):
            return SearchPage(Outcome.EMPTY)
        if self.needs_script is not None and self.needs_script.search(body):
            return SearchPage(Outcome.ERROR, detail="the page needs JavaScript")
        return SearchPage(Outcome.ERROR, detail="no result could be read; changed layout?")


def parse_html(body: str) -> HtmlElement | None:
    """Parse a page and take out what a reader does not see; None where there is no markup."""
    if "<" not in body:
        return None
    parser = html.HTMLParser(encoding="utf-8")
    tree = html.document_fromstring(body.encode("utf-8", "replace"), parser)
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
        edge = " " if node is not element and node.tag in _BLOCKS else ""
        if event == "start":
            pieces += (edge, node.text or "")
        elif node is not element:
            pieces += (edge, node.tail or "")
    return " ".join("".join(pieces).split())


def first_text(item: HtmlElement, paths: tuple[str, ...]) -> str:
    """Give the first non-empty text among the elements that the paths find, in order."""
    for path in paths:
        for element in item.xpath(path):
            found = text(element)
            if found:
                return found
    return ""


def class_(name: str) -> str:
    """XPath condition: the element has this class among its classes."""
    return f"contains(concat(' ', normalize-space(@class), ' '), ' {name} ')"
