"""Parses HTML result pages: known and unknown layouts, ads, block pages, no results."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from bs4 import BeautifulSoup, Tag
from bs4.element import NavigableString

from browser.net.url import host, registrable_domain
from browser.search.layouts import MIN_HEADINGS, Headings, Layout
from browser.search.refusals import BLOCK_PAGE_WORDS, UNREADABLE, recognise_block_page
from browser.search.results import is_encrypted_wrapper, unwrap_target
from browser.types import Outcome, SearchPage, SearchResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_HIDDEN_TAGS = frozenset(("script", "style", "noscript", "template"))
_BLOCKS = frozenset(
    "address article br cite dd div dl dt h1 h2 h3 h4 h5 h6 li ol p section td tr ul".split()
)
_CONTAINER_BLOCKS = sorted(_BLOCKS - {"br"})
# A page with ten to thirty results has fewer headings than this.
_MAX_HEADINGS = 300

# Engines' labels for advertisements, alone or followed by the host.
_AD_LABEL = re.compile(
    r"""(?:ads?|advertisements?|sponsored|promoted|anzeigen?|gesponserte?|werbung|annonces?
    |sponsorisé|publicité|anuncios?|patrocinado|annuncio|sponsorizzato|advertentie|gesponsord
    |sponsrad|annons|reklama|sponsorowane|реклама|広告|スポンサー|广告|廣告|광고)
    (?:\s*[·•|]\s*[^\s.]+(?:\.[^\s.]+)+)?""",
    re.IGNORECASE | re.VERBOSE,
)
_SEPARATORS = " \u00a0\t\n·•|:-–—"
# A longer passage may be about advertisements, but is not a label.
_MAX_LABEL_CHARS = 60


def _parse_visible(body: str) -> BeautifulSoup:
    """Parse a page and remove what a user does not see."""
    page = BeautifulSoup(body, "lxml")
    # One walk is four times as fast as separate searches for the names and for `hidden`.
    for tag in [t for t in page.descendants if isinstance(t, Tag)]:
        if tag.name in _HIDDEN_TAGS or "hidden" in tag.attrs:
            tag.extract()
    return page


def _text(element: Tag) -> str:
    """An element's text on one line, with a space where a block begins or ends."""
    return " ".join("".join(_text_pieces(element)).split())


def _text_pieces(element: Tag) -> Iterator[str]:
    for child in element.children:
        if isinstance(child, Tag):
            edge = " " if child.name in _BLOCKS else ""
            yield edge
            yield from _text_pieces(child)
            yield edge
        elif type(child) is NavigableString:  # not a subclass, such as a comment
            yield child


def _first_text(item: Tag, css: str) -> str:
    """The first non-empty text among the elements that match a CSS selector."""
    for element in item.select(css):
        if text := _text(element):
            return text
    return ""


def _leaf_blocks(element: Tag) -> Iterator[Tag]:
    """Yield the blocks within an element that contain no other block except line breaks."""
    for node in (element, *element.find_all(True)):
        if node.name in _BLOCKS and node.find(_CONTAINER_BLOCKS) is None:
            yield node


def _descendant_ids(elements: Iterable[Tag]) -> set[int]:
    return {id(node) for element in elements for node in (element, *element.find_all(True))}


def _read_results(layout: Layout | Headings, page: Tag, url: str) -> Iterator[SearchResult]:
    if isinstance(layout, Layout):
        return _read_layout(layout, page, url)
    return _read_headings(layout, page, url)


def _read_layout(layout: Layout, page: Tag, url: str) -> Iterator[SearchResult]:
    """Yield the page's results, without advertisements."""
    for item in page.select(layout.item):
        link = item.select_one(layout.link)
        if link is None:
            continue
        title_element = item.select_one(layout.title) if layout.title else None
        address = unwrap_target(urljoin(url, str(link.get("href", ""))))
        title = _first_text(item, layout.title) if layout.title else _text(link)
        # Without a match, the title is the longest text in the link.
        title = title or max(map(_text, _leaf_blocks(link)), key=len, default="")
        if not address or not title or _is_ad(item, title_element or link):
            continue
        snippet = ""
        if layout.snippet:
            for part in (item, *item.find_next_siblings(True, limit=layout.beside)):
                snippet = snippet or _first_text(part, layout.snippet)
        # Without a match, the snippet is the longest text in the result.
        yield SearchResult(address, title, snippet or _longest_text(link, item, link))


def _read_headings(headings: Headings, page: Tag, url: str) -> Iterator[SearchResult]:
    """Yield the headings that link to other sites, with the text of their blocks."""
    found: list[tuple[Tag, Tag, str]] = []
    for heading in page.select(headings.heading)[:_MAX_HEADINGS]:
        link = _link_around(heading)
        address = unwrap_target(urljoin(url, str(link.get("href", "")))) if link is not None else ""
        if link is not None and address and _text(heading) and not _is_own_page(address, url):
            found.append((heading, link, address))
    if len({address for *_, address in found}) < headings.min_headings:
        return
    # The number of result headings that each element contains, by heading tag.
    contained = Counter(
        (id(parent), heading.name) for heading, *_ in found for parent in heading.parents
    )
    for heading, link, address in found:
        block = _result_block(heading, contained)
        if not _is_ad(block, heading):
            snippet = _longest_text(heading, block, link)
            yield SearchResult(address, _text(heading), snippet)


def _link_around(heading: Tag) -> Tag | None:
    """The link that a heading is in, or the first one inside it."""
    for element in (heading, *heading.parents):
        if element.name == "a" and element.get("href"):
            return element
    return heading.select_one("a[href]")


def _is_own_page(address: str, url: str) -> bool:
    """Whether an address is one of the engine's own pages, not a wrapper around a result."""
    same = host(address).removeprefix("www.") == host(url).removeprefix("www.")
    return same and not is_encrypted_wrapper(address)


def _result_block(heading: Tag, contained: Counter[tuple[int, str]]) -> Tag:
    """The largest element around a heading that contains no other result's heading."""
    block = heading
    for parent in heading.parents:
        if contained[id(parent), heading.name] > 1 or isinstance(parent, BeautifulSoup):
            break
        block = parent
    return block


def _longest_text(heading: Tag, block: Tag, link: Tag) -> str:
    """The longest text in a block that is neither a heading nor a link."""
    others = block.find_all(["a", "cite", "h1", "h2", "h3", "button"])
    excluded = _descendant_ids((heading, link, *others))
    texts = (_text(leaf) for leaf in _leaf_blocks(block) if id(leaf) not in excluded)
    return max(texts, key=len, default="")


def _is_ad(block: Tag, title: Tag) -> bool:
    """Whether a block is labelled as an advertisement; a title with the same wording is ignored."""
    title_ids = {*_descendant_ids([title]), *map(id, title.parents)}
    nodes = (block, *block.find_all(True))
    return any(id(node) not in title_ids and _is_ad_label(node) for node in nodes)


def _is_ad_label(node: Tag) -> bool:
    text = node.get_text()
    if len(text) > _MAX_LABEL_CHARS or not _AD_LABEL.fullmatch(text.strip(_SEPARATORS)):
        return False
    # A bold word within a sentence is not a label: it has text directly before or after it.
    siblings = (node.previous_sibling, node.next_sibling)
    return not any(isinstance(s, NavigableString) and s.strip(_SEPARATORS) for s in siblings)


def _is_empty_result_page(page: Tag, url: str) -> bool:
    """Whether a page, in any language, says that nothing was found.

    On such a page, the search box repeats the query, and hardly any links lead to other sites; in
    every layout, the results' links do.
    """
    boxes = page.select("form :is(input, textarea)[name]")
    kinds = ("hidden", "submit", "button", "checkbox", "radio")
    asked = any(
        box.get("type") not in kinds and str(box.get("value") or _text(box)).strip()
        for box in boxes
    )
    own = registrable_domain(host(url))
    targets = (unwrap_target(urljoin(url, str(a["href"]))) for a in page.select("a[href]"))
    sites = {registrable_domain(host(target)) for target in targets if target}
    return asked and len(sites - {own}) < MIN_HEADINGS


def parse_page(
    body: str,
    base: str,
    layouts: Sequence[Layout | Headings],
    *,
    ads: str = "",
    no_results: re.Pattern[str] | None = None,
    shell: re.Pattern[str] | None = None,
) -> SearchPage:
    """Parse a page, as `HtmlProvider.parse` describes it; links are relative to `base`."""
    page = _parse_visible(body) if "<" in body else None
    if page is None or page.find(True) is None:
        return SearchPage(Outcome.ERROR, detail="the response is not a page")
    for paid in page.select(ads) if ads else ():
        paid.extract()
    for layout in layouts:
        if results := tuple(_read_results(layout, page, base)):
            return SearchPage(Outcome.OK, results)
    text = _text(page)
    if no_results is not None and no_results.search(text):
        return SearchPage(Outcome.EMPTY)
    blocked = recognise_block_page(body) or ("a bot check" if BLOCK_PAGE_WORDS.search(text) else "")
    if blocked:
        return SearchPage(Outcome.BLOCKED, detail=blocked)
    # No known layout fits: the engine may have changed its page.
    if results := tuple(_read_headings(Headings(), page, base)):
        return SearchPage(Outcome.OK, results)
    if shell is not None and shell.search(body):
        return SearchPage(Outcome.BLOCKED, detail="a page that needs JavaScript")
    if _is_empty_result_page(page, base):
        return SearchPage(Outcome.EMPTY)
    return SearchPage(Outcome.ERROR, detail=UNREADABLE)
