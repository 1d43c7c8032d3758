"""Engines that answer in HTML: the page parsed, its layout, what was paid for, walls, emptiness."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urljoin

from bs4 import BeautifulSoup, Tag
from bs4.element import NavigableString

from browser.net.http import PAGE_HEADERS
from browser.net.url import host
from browser.search.provider import SearchProvider
from browser.search.refusals import WALL_WORDS, wall_of
from browser.search.search_results import is_sealed, target
from browser.types import Outcome, SearchPage, SearchResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_INVISIBLE = frozenset(("script", "style", "noscript", "template"))
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
    # One walk over plain objects: four times as fast as asking for names and for `hidden`.
    for tag in [t for t in soup.descendants if isinstance(t, Tag) and _is_invisible(t)]:
        tag.extract()
    return soup


def _is_invisible(tag: Tag) -> bool:
    return tag.name in _INVISIBLE or "hidden" in tag.attrs


def text(element: Tag) -> str:
    """Give the text of an element on one line, with a space where a block begins or ends."""
    return " ".join("".join(_pieces(element)).split())


def _pieces(element: Tag) -> Iterator[str]:
    for child in element.children:
        if isinstance(child, Tag):
            edge = " " if child.name in _BLOCKS else ""
            yield edge
            yield from _pieces(child)
            yield edge
        elif type(child) is NavigableString:  # no comment
            yield child


def first_text(item: Tag, css: str) -> str:
    """Give the first text that is not empty among the elements that a CSS selector finds."""
    return next(filter(None, map(text, item.select(css))), "")


def leaves(element: Tag) -> Iterator[Tag]:
    """Yield the blocks within an element that hold no further block but line breaks, in order."""
    for node in (element, *element.find_all(True)):
        if node.name in _BLOCKS and node.find(_HOLDERS) is None:
            yield node


# A block climbs no higher than this above its heading: the deepest layout seen needs 9.
_HIGHEST = 12
# Fewer heading links than this may be a footer, a notice or a help page.
_FEWEST = 3
# More headings than this are no page of ten to thirty results.
_MOST = 300
_WHOLE_ADDRESS = re.compile(r"^https?://[^\s›…]+$")


@dataclass(frozen=True, slots=True)
class Layout:
    """CSS of a result, then selectors within it.

    `link` finds the element whose `href` leads to the target; `title` the element that holds the
    title (the link itself where empty); `snippet` its text (the longest where empty). `beside`
    is how many elements behind the result hold its snippet, where that stands outside of it.
    """

    item: str
    link: str
    title: str = ""
    snippet: str = ""
    beside: int = 0

    def read(self, page: Tag, url: str) -> Iterator[SearchResult]:
        """Yield what stands on the page, real targets only."""
        found = ((item, item.select_one(self.link)) for item in page.select(self.item))
        for item, link in found:
            if link is None or _is_labelled(item, self._name_of(item, link)):
                continue
            address = target(urljoin(url, str(link.get("href", ""))))
            title = first_text(item, self.title) if self.title else text(link)
            title = title or _title_in(link)
            if address and title:
                around = [item, *item.find_next_siblings(True, limit=self.beside)]
                said = (first_text(part, self.snippet) for part in around if self.snippet)
                snippet = next(filter(None, said), "") or longest_beside(link, item)
                yield SearchResult(address, title, snippet)

    def _name_of(self, item: Tag, link: Tag) -> Tag:
        return (item.select_one(self.title) or link) if self.title else link


@dataclass(frozen=True, slots=True)
class Headings:
    """Results by what every such page has: headings that link to other sites, and text by them.

    Class names change by the month, this does not. `heading` finds the headings, of which a page
    has so many at the `fewest`.
    """

    heading: str = "h2, h3, [role=heading]"
    fewest: int = _FEWEST

    def read(self, page: Tag, url: str) -> Iterator[SearchResult]:
        """Yield the headings that lead off the engine's own site, with the text of their blocks."""
        found: list[tuple[Tag, str]] = []
        for heading in page.select(self.heading)[:_MOST]:
            link = _link_of(heading)
            address = target(urljoin(url, str(link.get("href", "")))) if link is not None else ""
            if address and text(heading) and not _is_own(address, url):
                found.append((heading, address))
        if len({address for _, address in found}) < self.fewest:
            return
        within = Counter(
            (id(above), heading.name) for heading, _ in found for above in heading.parents
        )
        previous = ""
        for heading, target_of in found:
            block = _block_of(heading, within)
            if _is_labelled(block, heading):
                continue
            address = (is_sealed(target_of) and _displayed(block)) or target_of
            snippet = longest_beside(heading, block)
            # A link into the site above has neither words nor an address of its own.
            if snippet or host(address) != previous or block.find("cite") is not None:
                yield SearchResult(address, text(heading), snippet)
            previous = host(address)


ANY_PAGE = Headings()
"""What is tried on a page whose layout nobody has described."""


def _title_in(link: Tag) -> str:
    """The longest text in a link: its title, where nothing is called so."""
    return max(map(text, leaves(link)), key=len, default="")


def _link_of(heading: Tag) -> Tag | None:
    around = (above for above in (heading, *heading.parents) if above.name == "a")
    return next((a for a in around if a.get("href")), None) or heading.select_one("a[href]")


def _displayed(block: Tag) -> str:
    """Give the address that a result shows in full, without a breadcrumb; '' if it does not."""
    shown = first_text(block, "cite")
    return shown if _WHOLE_ADDRESS.match(shown) else ""


def _is_own(address: str, url: str) -> bool:
    """Whether an address is the engine's own, and none that only the engine can undo."""
    same = host(address).removeprefix("www.") == host(url).removeprefix("www.")
    return same and not is_sealed(address)


def _block_of(heading: Tag, within: Counter[tuple[int, str]]) -> Tag:
    """Climb to the largest element that holds no other result's heading."""
    block = heading
    for _, parent in zip(range(_HIGHEST), heading.parents, strict=False):
        if within[id(parent), heading.name] > 1 or isinstance(parent, BeautifulSoup):
            break
        block = parent
    return block


def longest_beside(heading: Tag, block: Tag) -> str:
    """Give the longest text of a block that is no heading and no link."""
    link = _link_of(heading)
    taken = {id(heading), *map(id, heading.find_all(True))}
    taken |= set() if link is None else {id(link), *map(id, link.find_all(True))}
    # Some engines let the excerpt itself lead to the page.
    there = None if link is None else link.get("href")
    for part in block.find_all(["a", "cite", "h1", "h2", "h3", "button"]):
        if part.name != "a" or part is link or part.get("href") != there:
            taken |= {id(part), *map(id, part.find_all(True))}
    return max((text(leaf) for leaf in leaves(block) if id(leaf) not in taken), key=len, default="")


class HtmlProvider(SearchProvider):
    """An engine read from its result page: the first layout that yields results is taken.

    `ads` are removed beforehand. `nothing` matches the sentence that says that nothing was found.
    `shell` matches a page that would only draw itself with scripts: `shell_outcome` says whether
    that is how this engine turns away robots.
    """

    is_api = False
    layouts: tuple[Layout | Headings, ...] = ()
    ads: ClassVar[str] = ""
    nothing: ClassVar[re.Pattern[str] | None] = None
    shell: ClassVar[re.Pattern[str] | None] = None
    shell_outcome: ClassVar[Outcome] = Outcome.ERROR

    def headers(self, lang: str | None) -> dict[str, str]:
        """Ask as a browser does, in the language of the query."""
        language = f"{lang},en;q=0.5" if lang and lang != "en" else "en-US,en;q=0.9"
        return {**PAGE_HEADERS, "Accept-Language": language}

    def refusal(
        self, body: str, status: int, url: str, headers: Mapping[str, str]
    ) -> SearchPage | None:
        """Recognise, beside the usual refusals, a redirect to a consent page."""
        if re.match(r"https?://consent\.", url):
            return SearchPage(Outcome.BLOCKED, detail="a consent page")
        return super().refusal(body, status, url, headers)

    def parse(self, body: str, url: str) -> SearchPage:
        """Read the first layout that yields results; tell nothing found from a changed page."""
        tree = parse_html(body)
        if tree is None:
            return SearchPage(Outcome.ERROR, detail="the answer is no page")
        base = self.url or url
        for paid in tree.select(self.ads) if self.ads else ():
            paid.extract()
        for layout in self.layouts:
            results = tuple(layout.read(tree, base))
            if results:
                return SearchPage(Outcome.OK, results)
        return self.without_results(tree, body, base)

    def without_results(self, tree: Tag, body: str, base: str) -> SearchPage:
        """Say why a page has no results: a wall, none found, scripts, or a new layout."""
        said = text(tree)
        if self.nothing is not None and self.nothing.search(said):
            return SearchPage(Outcome.EMPTY)
        wall = wall_of(body) or ("a check for robots" if WALL_WORDS.search(said) else "")
        if wall:
            return SearchPage(Outcome.BLOCKED, detail=wall)
        if results := tuple(ANY_PAGE.read(tree, base)):
            return SearchPage(Outcome.OK, results)
        if self.shell is not None and self.shell.search(body):
            return SearchPage(self.shell_outcome, detail="a page that needs JavaScript")
        return SearchPage(Outcome.ERROR, detail="no result could be read; changed layout?")


# What engines write, alone, beside what was paid for.
_LABEL = r"""(?:ads?|advertisements?|sponsored|promoted|anzeigen?|gesponserte?|werbung|annonces?
    |sponsorisé|publicité|anuncios?|patrocinado|annuncio|sponsorizzato|advertentie|gesponsord
    |sponsrad|annons|reklama|sponsorowane|реклама|広告|スポンサー|广告|廣告|광고)"""
_ALONE = re.compile(rf"{_LABEL}", re.IGNORECASE | re.VERBOSE)
_WITH_HOST = re.compile(rf"{_LABEL}\s*[·•|]\s*[^\s.]+(?:\.[^\s.]+)+", re.IGNORECASE | re.VERBOSE)
_SEPARATORS = " \u00a0\t\n·•|:-–—"
# A label is short; what is longer speaks of advertisements.
_LONGEST = 60


def _is_labelled(block: Tag, title: Tag) -> bool:
    """Whether a block has a label; its title may be a word like one, and so may a bold word."""
    named = {id(node) for node in (title, *title.find_all(True), *title.parents)}
    return any(
        _is_called_so(node) or (id(node) not in named and _is_label(node))
        for node in (block, *block.find_all(True))
    )


def _is_called_so(node: Tag) -> bool:
    return _ALONE.fullmatch(str(node.get("aria-label") or "").strip()) is not None


def _is_label(node: Tag) -> bool:
    said = _said(node)
    if not said or not (_ALONE.fullmatch(said) or _WITH_HOST.fullmatch(said)):
        return False
    # A bold word within a sentence has text right before or behind it.
    beside = (node.previous_sibling, node.next_sibling)
    return not any(isinstance(s, NavigableString) and s.strip(_SEPARATORS) for s in beside)


def _said(node: Tag) -> str:
    """The text of an element where it is as short as a label, else ''."""
    pieces: list[str] = []
    length = 0
    for piece in node.strings:
        length += len(piece)
        if length > _LONGEST:
            return ""
        pieces.append(piece)
    return "".join(pieces).strip(_SEPARATORS)
