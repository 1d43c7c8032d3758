"""A section of a site, read a few pages deep: what its sitemaps list and its pages link to.

Of the pages known, the one is read next whose address and link speak of what is sought.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import Counter
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote

from browser.errors import BrowserError
from browser.extract.documents.archive import drop, stream_xml
from browser.extract.tree import local_name
from browser.net.decode import Body
from browser.net.url import is_web_url, join, normalize, parse
from browser.text.words import content_words
from browser.types import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from browser.net.polite import Polite
    from browser.read.reader import Reader
    from browser.types import Page


# The sitemap standard's own limits, for what a file unpacks to and what it lists.
_MOST_MAP_BYTES = 50 * 1024 * 1024
_MOST_ENTRIES = 50_000
_GZIP = b"\x1f\x8b"
# Sitemaps looked at: large sites split theirs into hundreds.
_MOST_MAPS = 6
_MAP_SECONDS = 8.0
_MAP_BYTES = 10 * 1024 * 1024
_WELL_KNOWN = ("/sitemap.xml", "/sitemap_index.xml")

# What no reader can read, and what a crawler should not ask for.
_NO_PAGE = frozenset(
    """.png .jpg .jpeg .gif .svg .webp .ico .css .js .mjs .json .woff .woff2 .ttf .mp3 .mp4 .m4a
    .avi .mov .webm .zip .gz .tgz .bz2 .xz .7z .rar .exe .dmg .msi .iso .apk .deb .rpm .jar
    .whl""".split()
)
_NO_READING = frozenset(
    """login log-in logout log-out signin sign-in signup sign-up signout sign-out register cart
    checkout account wp-admin wp-json wp-login cdn-cgi feed""".split()
)
# Parameters that show a page otherwise, or do something; so does what begins with `session`.
_SAME_PAGE = frozenset("share replytocom print add-to-cart sort order".split())
# A calendar or a shop's filters have pages without end: so many that differ by their query only.
_MOST_OF_A_PATH = 5
# Of more pages than these nobody reads the last ones.
_MOST_KNOWN = 5_000
# Pages of one host that are read side by side; the client's own limits stand below.
_AT_ONCE = 4
_PAGE_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class SiteSection:
    """The host, without `www.`, and the folder that a page stands in."""

    host: str
    folder: str

    @classmethod
    def of(cls, url: str) -> SiteSection:
        """Find the section of a page."""
        parsed = parse(url)
        if parsed is None:
            return cls("", "/")
        folder = (
            parsed.path if parsed.path.endswith("/") else f"{PurePosixPath(parsed.path).parent}/"
        )
        return cls(parsed.host.removeprefix("www."), folder.replace("//", "/"))

    def holds(self, url: str) -> bool:
        """Whether a page belongs to the section."""
        parsed = parse(url)
        if parsed is None or parsed.host.removeprefix("www.") != self.host:
            return False
        return parsed.path.startswith(self.folder) or f"{parsed.path}/" == self.folder


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """An address that a sitemap lists: a page, or (`is_map`) another sitemap."""

    url: str
    modified: str = ""
    is_map: bool = False


def read_sitemap(body: bytes) -> list[SitemapEntry]:
    """Read a sitemap, its index, or a plain list of addresses. What is none of them is empty."""
    try:
        if body.startswith(_GZIP):
            unpacked = Body("gzip", _MOST_MAP_BYTES)
            unpacked.feed(body)
            body = unpacked.content()
        return list(_entries(body))
    except BrowserError:
        return []


def _entries(data: bytes) -> Iterator[SitemapEntry]:
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        lines = data[:_MOST_MAP_BYTES].decode("utf-8", "replace").split()
        yield from (SitemapEntry(line) for line in lines[:_MOST_ENTRIES] if is_web_url(line))
        return
    for count, element in enumerate(stream_xml(data, "{*}url", "{*}sitemap")):
        if count >= _MOST_ENTRIES:
            return
        url = (element.findtext("{*}loc") or "").strip()
        if is_web_url(url):
            modified = (element.findtext("{*}lastmod") or "").strip()
            yield SitemapEntry(url, modified, is_map=local_name(element) == "sitemap")
        drop(element)


class Frontier:
    """The pages of one section that are known and not yet read, best first."""

    def __init__(self, start: str, query: str, depth: int) -> None:
        """`depth` counts the links from the start; pages of sitemaps stand at depth 1."""
        self.section = SiteSection.of(start)
        self._wanted = frozenset(content_words(query))
        self._deepest = depth
        self._known: set[str] = {normalize(start)}
        self._of_path: Counter[str] = Counter()
        # words that are sought (negated), depth, order of arrival, address
        self._waiting: list[tuple[int, int, int, str]] = []

    @property
    def known(self) -> int:
        """How many pages of the section were heard of, the start included."""
        return len(self._known)

    def add(self, places: Iterable[tuple[str, str]], depth: int) -> None:
        """Take addresses with the words of their links, but for those elsewhere or known."""
        if depth > self._deepest:
            return
        for url, text in places:
            key = normalize(url)
            if key not in self._known and len(self._known) < _MOST_KNOWN and self._takes(url):
                self._known.add(key)
                parsed = parse(url)
                words = content_words(f"{text} {unquote(parsed.path if parsed else '')}")
                sought = len(self._wanted.intersection(words))
                heapq.heappush(self._waiting, (-sought, depth, len(self._known), url))

    def seen(self, url: str) -> bool:
        """Whether a page was met under another address before; from now on it was."""
        key = normalize(url)
        known = key in self._known
        self._known.add(key)
        return known

    def next(self, count: int) -> list[tuple[str, int]]:
        """Take the best pages off the list, as (address, depth)."""
        best = [heapq.heappop(self._waiting) for _ in range(min(count, len(self._waiting)))]
        return [(url, depth) for _, depth, _, url in best]

    def _takes(self, url: str) -> bool:
        parsed = parse(url)
        if parsed is None or not self.section.holds(url):
            return False
        path = PurePosixPath(parsed.path.lower())
        if path.suffix in _NO_PAGE or any(p.partition(".")[0] in _NO_READING for p in path.parts):
            return False
        parameters = parse_qs(parsed.query[1:].lower(), keep_blank_values=True)
        if any(name in _SAME_PAGE or name.startswith("session") for name in parameters):
            return False
        self._of_path[parsed.path] += 1
        return self._of_path[parsed.path] <= _MOST_OF_A_PATH


@dataclass(frozen=True, slots=True)
class Crawl:
    """What was read of a section: its pages in the order in which they were chosen.

    `known` counts the pages heard of, `maps` the sitemaps that named some; `unread` are those
    asked for in vain, with their outcome.
    """

    pages: tuple[Page, ...]
    known: int
    maps: int = 0
    unread: tuple[Page, ...] = ()


class Crawler:
    """Reads sections of sites with a run's reader; `polite` fetches their sitemaps."""

    def __init__(self, reader: Reader, polite: Polite) -> None:
        self._reader = reader
        self._polite = polite

    async def crawl(
        self, start: str, *, query: str = "", most: int = 12, depth: int = 2, seconds: float = 40.0
    ) -> Crawl:
        """Read `start` and up to `most` pages of its section in all, best for `query` first.

        A section is the host and the folder of `start`. What goes wrong with a page is in its
        outcome, as with the reader; the time being up ends the crawl with what was read.
        """
        frontier, maps = Frontier(start, query, depth), 0
        pages: list[Page] = []
        unread: list[Page] = []
        texts: set[str] = set()

        def take(page: Page, depth: int) -> None:
            document = page.document
            if page.outcome is not Outcome.OK or document is None:
                unread.append(page)
                return
            elsewhere = page.url != page.requested_url and frontier.seen(page.url)
            if not elsewhere and document.text not in texts:
                texts.add(document.text)
                pages.append(page)
            frontier.add(((link.url, link.text) for link in document.links), depth + 1)

        try:
            async with asyncio.timeout(seconds):
                first = await self._reader.read(start, deadline=_PAGE_SECONDS)
                # Where the start sends its readers to another host, the section is that one's.
                if SiteSection.of(first.url).host != frontier.section.host:
                    frontier.section = SiteSection.of(first.url)
                take(first, 0)
                places, maps = await self._listed(first.url)
                frontier.add(((place.url, "") for place in places), 1)
                while (room := min(_AT_ONCE, most - len(pages))) > 0:
                    if not (chosen := frontier.next(room)):
                        break
                    reading = [
                        asyncio.create_task(self._reader.read(url, deadline=_PAGE_SECONDS))
                        for url, _ in chosen
                    ]
                    try:
                        for (_, level), page in zip(chosen, reading, strict=True):
                            take(await page, level)
                    finally:
                        for page in reading:
                            page.cancel()
        except TimeoutError:
            pass  # what was read until now is the answer
        return Crawl(tuple(pages), frontier.known, maps, tuple(unread))

    async def _listed(self, start: str) -> tuple[list[SitemapEntry], int]:
        """The pages of the section that sitemaps list, and how many sitemaps did."""
        section = SiteSection.of(start)
        words = [word for word in section.folder.split("/") if word]
        named = await self._polite.sitemaps(start)
        waiting = list(named or (join(start, path) for path in _WELL_KNOWN))
        found: list[SitemapEntry] = []
        maps = 0
        for _ in range(_MOST_MAPS):
            if not waiting:
                break
            places = await self._sitemap(waiting.pop(0))
            pages = [p for p in places if not p.is_map and section.holds(p.url)]
            # Of an index those named for the section come first, then the newest.
            further = sorted(
                (p for p in places if p.is_map),
                key=lambda p: (any(word in p.url for word in words), p.modified),
                reverse=True,
            )
            waiting += [p.url for p in further]
            found += pages
            maps += bool(pages)
            if pages and not named:
                break  # the second well-known name lists the same
        return sorted(found, key=lambda place: place.modified, reverse=True), maps

    async def _sitemap(self, url: str) -> list[SitemapEntry]:
        try:
            answer = await self._polite.get(url, deadline=_MAP_SECONDS, max_bytes=_MAP_BYTES)
        except BrowserError:
            return []
        return await asyncio.to_thread(read_sitemap, answer.body) if answer.ok else []
