"""How a page of results is built, in two ways: by named elements, or by headings that link out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from browser.net.url import host, registrable_domain
from browser.search.ads import unpaid
from browser.search.dom import first_text, leaves, text
from browser.search.tidy import is_sealed, target
from browser.types import SearchResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.html import HtmlElement

# A block climbs no higher than this above its heading: the deepest layout seen needs 9.
_HIGHEST = 12
# Fewer heading links than this may be a footer, a notice or a help page.
_FEWEST = 3
# More headings than this are no page of ten to thirty results.
_MOST = 300
# Parts of an engine's site that its pages link to beside the results.
_OWN_SERVICES = ("accounts", "help", "maps", "policies", "preferences", "support")
# Text shorter than this beside a heading is a date, a breadcrumb or a button.
_SHORTEST_SNIPPET = 25
_WHOLE_ADDRESS = re.compile(r"^https?://[^\s›…]+$")
_HOST = re.compile(r"\S+\.\S+")
_BREADCRUMB = re.compile(r"^https?://\S+$|^\S+\.\w{2,} ›")


@dataclass(frozen=True, slots=True)
class Layout:
    """XPath of a result, then paths relative to it, tried in order.

    `link` finds the element whose `href` leads to the target; `title` the element that holds the
    title (the link itself where empty); `snippet` elements are tried until one has text.
    """

    item: str
    link: str
    title: str = ""
    snippet: tuple[str, ...] = ()

    def read(self, tree: HtmlElement, url: str) -> Iterator[SearchResult]:
        """Yield what stands on the page, real targets only."""
        links = {item: link for item in tree.xpath(self.item) for link in item.xpath(self.link)[:1]}
        named = [(item, self._name_of(item, link)) for item, link in links.items()]
        for item, _ in unpaid(named):
            link = links[item]
            address = target(urljoin(url, link.get("href", "")))
            title = first_text(item, (self.title,)) if self.title else text(link)
            title = title or _title_in(link)
            if address and title:
                snippet = first_text(item, self.snippet) or longest_beside(link, item)
                yield SearchResult(address, title, snippet)

    def _name_of(self, item: HtmlElement, link: HtmlElement) -> HtmlElement:
        return next(iter(item.xpath(self.title)), link) if self.title else link


@dataclass(frozen=True, slots=True)
class Headings:
    """Results by what every such page has: headings that link to other sites, and text by them.

    Class names change by the month, this does not. `heading` finds the headings; `snippet` paths
    are tried in a result's block before its longest text is taken.
    """

    heading: str = "//h2 | //h3 | //*[@role='heading']"
    snippet: tuple[str, ...] = ()
    fewest: int = _FEWEST

    def read(self, tree: HtmlElement, url: str) -> Iterator[SearchResult]:
        """Yield the headings that lead off the engine's own site, with the text of their blocks."""
        found: dict[HtmlElement, str] = {}
        for heading in tree.xpath(self.heading)[:_MOST]:
            link = _link_of(heading)
            address = target(urljoin(url, link.get("href", ""))) if link is not None else ""
            if address and text(heading) and not _is_own(address, url):
                found[heading] = address
        if len(set(found.values())) < self.fewest:
            return
        blocks = [(_block_of(heading, set(found)), heading) for heading in found]
        previous = ""
        for block, heading in unpaid(blocks):
            link = found[heading]
            address = _displayed(block) or link if is_sealed(link) else link
            snippet = first_text(block, self.snippet) or longest_beside(heading, block)
            if snippet or host(address) != previous:  # else a link into the site above
                yield SearchResult(address, text(heading), snippet)
            previous = host(address)


ANY_PAGE = (
    Headings(),
    Headings("//a[@href]//*[contains(@class, 'title')] | //a[@href][contains(@class, 'title')]"),
)
"""What is tried on a page whose layout nobody has described: headings, then titles by name."""


def _title_in(link: HtmlElement) -> str:
    """The longest text in a link that is no address: its title, where nothing is called so."""
    said = (text(leaf) for leaf in leaves(link))
    telling = (t for t in said if not _BREADCRUMB.search(t) and not _HOST.fullmatch(t))
    return max(telling, key=len, default="")


def _link_of(heading: HtmlElement) -> HtmlElement | None:
    around = heading.xpath("ancestor-or-self::a[@href][1]")
    inside = heading.xpath(".//a[@href]")
    return next(iter([*around, *inside]), None)


def _displayed(block: HtmlElement) -> str:
    """Give the address that a result shows in full, without a breadcrumb; '' if it does not."""
    shown = first_text(block, (".//cite",))
    return shown if _WHOLE_ADDRESS.match(shown) else ""


def _is_own(address: str, url: str) -> bool:
    """Whether an address is the engine's own: another of its searches, its help, its settings."""
    if is_sealed(address):
        return False
    engine, there = host(url), host(address)
    if there.removeprefix("www.") == engine.removeprefix("www."):
        return True
    service, _, domain = there.partition(".")
    return service in _OWN_SERVICES and domain == registrable_domain(engine)


def _block_of(heading: HtmlElement, headings: set[HtmlElement]) -> HtmlElement:
    """Climb to the largest element that holds no other result's heading."""
    block = heading
    for _, parent in zip(range(_HIGHEST), heading.iterancestors(), strict=False):
        if any(other is not heading and other in headings for other in parent.iter(heading.tag)):
            break
        block = parent
    return block


def longest_beside(heading: HtmlElement, block: HtmlElement) -> str:
    """Give the longest text of a block that is no heading, no link and no breadcrumb."""
    link = _link_of(heading)
    taken = {heading, *heading.iterdescendants(), *([] if link is None else link.iter())}
    # Some engines let the excerpt itself lead to the page.
    there = None if link is None else link.get("href")
    taken |= {
        node
        for part in block.iter("a", "cite", "h1", "h2", "h3", "button")
        if part.tag != "a" or part is link or part.get("href") != there
        for node in part.iter()
    }
    pieces = [text(leaf) for leaf in leaves(block) if leaf not in taken]
    prose = [piece for piece in pieces if not _BREADCRUMB.search(piece)]
    longest = max(prose, key=len, default="")
    return longest if len(longest) >= _SHORTEST_SNIPPET else ""
