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
from browser.search.results import is_sealed, target
from browser.types import Outcome, SearchPage, SearchResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from browser.types import SearchQuery

_INVISIBLE = frozenset(("script", "style", "noscript", "template"))
_BLOCKS = frozenset(
    "address article br cite dd div dl dt h1 h2 h3 h4 h5 h6 li ol p section td tr ul".split()
)
_HOLDERS = sorted(_BLOCKS - {"br"})
# Fewer heading links than this may be a footer, a notice or a help page.
_FEWEST = 3
# More headings than this are no page of ten to thirty results.
_MOST = 300

# What engines write, alone or beside the host, by what was paid for.
_LABEL = re.compile(
    r"""(?:ads?|advertisements?|sponsored|promoted|anzeigen?|gesponserte?|werbung|annonces?
    |sponsorisé|publicité|anuncios?|patrocinado|annuncio|sponsorizzato|advertentie|gesponsord
    |sponsrad|annons|reklama|sponsorowane|реклама|広告|スポンサー|广告|廣告|광고)
    (?:\s*[·•|]\s*[^\s.]+(?:\.[^\s.]+)+)?""",
    re.IGNORECASE | re.VERBOSE,
)
_SEPARATORS = " \u00a0\t\n·•|:-–—"
# A label is short; what is longer speaks of advertisements.
_LONGEST_LABEL = 60


def _visible(body: str) -> BeautifulSoup:
    """Parse a page and take out what a reader does not see."""
    page = BeautifulSoup(body, "lxml")
    # One walk over plain objects: four times as fast as asking for names and for `hidden`.
    for tag in [t for t in page.descendants if isinstance(t, Tag)]:
        if tag.name in _INVISIBLE or "hidden" in tag.attrs:
            tag.extract()
    return page


def _text(element: Tag) -> str:
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


def _first_text(item: Tag, css: str) -> str:
    """Give the first text that is not empty among the elements that a CSS selector finds."""
    return next(filter(None, map(_text, item.select(css))), "")


def _leaves(element: Tag) -> Iterator[Tag]:
    """Yield the blocks within an element that hold no further block but line breaks, in order."""
    for node in (element, *element.find_all(True)):
        if node.name in _BLOCKS and node.find(_HOLDERS) is None:
            yield node


def _ids(elements: Iterable[Tag]) -> set[int]:
    return {id(node) for element in elements for node in (element, *element.find_all(True))}


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
        for item in page.select(self.item):
            link = item.select_one(self.link)
            if link is None:
                continue
            named = item.select_one(self.title) if self.title else None
            address = target(urljoin(url, str(link.get("href", ""))))
            title = _first_text(item, self.title) if self.title else _text(link)
            # Where nothing is called so, the title is the longest text in the link.
            title = title or max(map(_text, _leaves(link)), key=len, default="")
            if not address or not title or _is_labelled(item, named or link):
                continue
            around = [item, *item.find_next_siblings(True, limit=self.beside)]
            texts = (_first_text(part, self.snippet) for part in around if self.snippet)
            snippet = next(filter(None, texts), "") or _longest_beside(link, item, link)
            yield SearchResult(address, title, snippet)


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
        found: list[tuple[Tag, Tag, str]] = []
        for heading in page.select(self.heading)[:_MOST]:
            link = _link_of(heading)
            address = target(urljoin(url, str(link.get("href", "")))) if link is not None else ""
            if link is not None and address and _text(heading) and not _is_own(address, url):
                found.append((heading, link, address))
        if len({address for *_, address in found}) < self.fewest:
            return
        within = Counter(
            (id(above), heading.name) for heading, *_ in found for above in heading.parents
        )
        for heading, link, address in found:
            block = _block_of(heading, within)
            if not _is_labelled(block, heading):
                snippet = _longest_beside(heading, block, link)
                yield SearchResult(address, _text(heading), snippet)


def _link_of(heading: Tag) -> Tag | None:
    around = (above for above in (heading, *heading.parents) if above.name == "a")
    return next((a for a in around if a.get("href")), None) or heading.select_one("a[href]")


def _is_own(address: str, url: str) -> bool:
    """Whether an address is the engine's own, and none that only the engine can undo."""
    same = host(address).removeprefix("www.") == host(url).removeprefix("www.")
    return same and not is_sealed(address)


def _block_of(heading: Tag, within: Counter[tuple[int, str]]) -> Tag:
    """Climb to the largest element that holds no other result's heading."""
    block = heading
    for parent in heading.parents:
        if within[id(parent), heading.name] > 1 or isinstance(parent, BeautifulSoup):
            break
        block = parent
    return block


def _longest_beside(heading: Tag, block: Tag, link: Tag) -> str:
    """Give the longest text of a block that is no heading and no link."""
    others = block.find_all(["a", "cite", "h1", "h2", "h3", "button"])
    taken = _ids((heading, link, *others))
    texts = (_text(leaf) for leaf in _leaves(block) if id(leaf) not in taken)
    return max(texts, key=len, default="")


def _is_labelled(block: Tag, title: Tag) -> bool:
    """Whether a block was paid for; its title may be a word like a label."""
    title_ids = {*_ids([title]), *map(id, title.parents)}
    nodes = (block, *block.find_all(True))
    return any(id(node) not in title_ids and _is_label(node) for node in nodes)


def _is_label(node: Tag) -> bool:
    text = node.get_text()
    if len(text) > _LONGEST_LABEL or not _LABEL.fullmatch(text.strip(_SEPARATORS)):
        return False
    # A bold word within a sentence has text right before or behind it.
    beside = (node.previous_sibling, node.next_sibling)
    return not any(isinstance(s, NavigableString) and s.strip(_SEPARATORS) for s in beside)


class HtmlProvider(SearchProvider):
    """An engine read from its result page: the first layout that yields results is taken.

    `ads` are removed beforehand. `nothing` matches the sentence that says that nothing was found.
    `shell` matches a page that only scripts would draw, where that is how robots are turned away.
    """

    is_api = False
    layouts: tuple[Layout | Headings, ...] = ()
    ads: ClassVar[str] = ""
    nothing: ClassVar[re.Pattern[str] | None] = None
    shell: ClassVar[re.Pattern[str] | None] = None

    def headers(self, query: SearchQuery) -> dict[str, str]:
        """Ask as a browser does, in the language of the query."""
        lang = query.lang
        language = f"{lang},en;q=0.5" if lang and lang != "en" else "en-US,en;q=0.9"
        return {**PAGE_HEADERS, "Accept-Language": language}

    def refusal(
        self, body: str, status: int, url: str, headers: Mapping[str, str]
    ) -> SearchPage | None:
        """Recognise, beside the usual refusals, where a browser is sent that looks like a robot."""
        if re.match(r"https?://consent\.", url):
            return SearchPage(Outcome.BLOCKED, detail="a consent page")
        # Startpage leads robots there, DuckDuckGo answers them with 202.
        if "/sp/captcha" in url or status == 202:
            return SearchPage(Outcome.BLOCKED, detail=f"HTTP {status}, a check for robots")
        return super().refusal(body, status, url, headers)

    def parse(self, body: str, url: str) -> SearchPage:
        """Read the first layout that yields results; tell nothing found from a changed page."""
        page = _visible(body) if "<" in body else None
        if page is None or page.find(True) is None:
            return SearchPage(Outcome.ERROR, detail="the answer is no page")
        for paid in page.select(self.ads) if self.ads else ():
            paid.extract()
        base = self.url or url
        for layout in self.layouts:
            if results := tuple(layout.read(page, base)):
                return SearchPage(Outcome.OK, results)
        text = _text(page)
        if self.nothing is not None and self.nothing.search(text):
            return SearchPage(Outcome.EMPTY)
        wall = wall_of(body) or ("a check for robots" if WALL_WORDS.search(text) else "")
        if wall:
            return SearchPage(Outcome.BLOCKED, detail=wall)
        # The layout is none that was described: what every result page has is tried.
        if results := tuple(Headings().read(page, base)):
            return SearchPage(Outcome.OK, results)
        if self.shell is not None and self.shell.search(body):
            return SearchPage(Outcome.BLOCKED, detail="a page that needs JavaScript")
        return SearchPage(Outcome.ERROR, detail="no result could be read; changed layout?")
