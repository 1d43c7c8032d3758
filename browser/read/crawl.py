"""A section of a site, read a few pages deep: what its sitemaps list and its pages link to.

Of the pages known, the one is read next whose address and link speak of what is sought.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote, urlsplit

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


# The standard's own limits, for what a file unpacks to and what it lists.
_MOST_MAP_BYTES = 50 * 1024 * 1024
_MOST_ENTRIES = 50_000
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """An address that a sitemap lists: a page, or (`is_map`) another sitemap."""

    url: str
    modified: str = ""
    is_map: bool = False


def read_sitemap(body: bytes) -> list[SitemapEntry]:
    """Read a sitemap, its index, or a plain list of addresses. What is none of them is empty."""
    try:
        return list(_entries(_unpacked(body)))
    except BrowserError:
        return []


def _unpacked(body: bytes) -> bytes:
    if not body.startswith(_GZIP):
        return body
    unpacked = Body("gzip", _MOST_MAP_BYTES)
    unpacked.feed(body)
    return unpacked.content()


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


class Frontier:
    """The pages of one section that are known and not yet read, best first."""

    def __init__(self, start: str, query: str, depth: int) -> None:
        """`depth` counts the links from the start; pages of sitemaps stand at depth 1."""
        self.section = section_of(start)
        self._wanted = frozenset(content_words(query))
        self._deepest = depth
        self._known: set[str] = {normalize(start)}
        self._of_path: dict[str, int] = {}
        self._waiting: list[tuple[tuple[float, int, int], str, int]] = []

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
                self._waiting.append((self._cost(url, text, depth), url, depth))

    def seen(self, url: str) -> bool:
        """Whether a page was met under another address before; from now on it was."""
        key = normalize(url)
        known = key in self._known
        self._known.add(key)
        return known

    def next(self, count: int) -> list[tuple[str, int]]:
        """Take the best pages off the list, as (address, depth)."""
        self._waiting.sort()
        chosen, self._waiting = self._waiting[:count], self._waiting[count:]
        return [(url, depth) for _, url, depth in chosen]

    def _takes(self, url: str) -> bool:
        parsed = parse(url)
        if parsed is None or not in_section(url, self.section):
            return False
        path = PurePosixPath(parsed.path.lower())
        if path.suffix in _NO_PAGE or any(p.partition(".")[0] in _NO_READING for p in path.parts):
            return False
        for name in parse_qs(parsed.query[1:].lower(), keep_blank_values=True):
            if name in _SAME_PAGE or name.startswith("session"):
                return False
        self._of_path[parsed.path] = self._of_path.get(parsed.path, 0) + 1
        return self._of_path[parsed.path] <= _MOST_OF_A_PATH

    def _cost(self, url: str, text: str, depth: int) -> tuple[float, int, int]:
        """Low is good: first words that are sought, then what is near, then what came first."""
        words = frozenset(content_words(f"{text} {unquote(urlsplit(url).path)}"))
        return (-float(len(words & self._wanted)), depth, len(self._known))


def section_of(url: str) -> tuple[str, str]:
    """The host and the folder that a page stands in."""
    parsed = parse(url)
    if parsed is None:
        return "", "/"
    path = parsed.path if parsed.path.endswith("/") else f"{PurePosixPath(parsed.path).parent}/"
    return _bare_host(parsed.host), path.replace("//", "/")


def in_section(url: str, section: tuple[str, str]) -> bool:
    """Whether a page belongs to a section."""
    parsed = parse(url)
    if parsed is None or _bare_host(parsed.host) != section[0]:
        return False
    return parsed.path.startswith(section[1]) or f"{parsed.path}/" == section[1]


def _bare_host(host: str) -> str:
    return host.removeprefix("www.")


# Pages of one host that are read side by side; the client's own limits stand below.
_AT_ONCE = 4
# Sitemaps looked at: large sites split theirs into hundreds.
_MOST_MAPS = 6
_MAP_SECONDS = 8.0
_PAGE_SECONDS = 15.0
_MAP_BYTES = 10 * 1024 * 1024
_WELL_KNOWN = ("/sitemap.xml", "/sitemap_index.xml")


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
        walk = _Walk(self._reader, Frontier(start, query, depth))
        maps = 0
        try:
            async with asyncio.timeout(seconds):
                start = await walk.begin(start)
                places, maps = await self._listed(start)
                walk.frontier.add(((place.url, "") for place in places), 1)
                while (room := min(_AT_ONCE, most - len(walk.pages))) > 0:
                    if not (chosen := walk.frontier.next(room)):
                        break
                    await walk.read(chosen)
        except TimeoutError:
            pass  # what was read until now is the answer
        return Crawl(tuple(walk.pages), walk.frontier.known, maps, tuple(walk.unread))

    async def _listed(self, start: str) -> tuple[list[SitemapEntry], int]:
        """The pages of the section that sitemaps list, and how many sitemaps did."""
        section = section_of(start)
        named = await self._polite.sitemaps(start)
        waiting = list(named or (join(start, path) for path in _WELL_KNOWN))
        found: list[SitemapEntry] = []
        maps = 0
        for _ in range(_MOST_MAPS):
            if not waiting:
                break
            places = await self._sitemap(waiting.pop(0))
            pages = [p for p in places if not p.is_map and in_section(p.url, section)]
            waiting += _likeliest([p for p in places if p.is_map], section)
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


class _Walk:
    """The reading of pages: what came, what did not, and what their links lead to."""

    def __init__(self, reader: Reader, frontier: Frontier) -> None:
        self.frontier = frontier
        self.pages: list[Page] = []
        self.unread: list[Page] = []
        self._reader = reader
        self._texts: set[str] = set()

    async def begin(self, start: str) -> str:
        """Read the start; where it sends its readers, the section is that one's."""
        page = await self._reader.read(start, deadline=_PAGE_SECONDS)
        if section_of(page.url)[0] != self.frontier.section[0]:
            self.frontier.section = section_of(page.url)
        self._take(page, 0)
        return page.url

    async def read(self, chosen: list[tuple[str, int]]) -> None:
        """Read pages side by side, and take them in the order in which they were chosen."""
        reading = (self._reader.read(url, deadline=_PAGE_SECONDS) for url, _ in chosen)
        tasks = [asyncio.create_task(page) for page in reading]
        try:
            for (_, depth), task in zip(chosen, tasks, strict=True):
                self._take(await task, depth)
        finally:
            for task in tasks:
                task.cancel()

    def _take(self, page: Page, depth: int) -> None:
        document = page.document
        if page.outcome is not Outcome.OK or document is None:
            self.unread.append(page)
            return
        elsewhere = page.url != page.requested_url and self.frontier.seen(page.url)
        if not elsewhere and document.text not in self._texts:
            self._texts.add(document.text)
            self.pages.append(page)
        self.frontier.add(((link.url, link.text) for link in document.links), depth + 1)


def _likeliest(maps: list[SitemapEntry], section: tuple[str, str]) -> list[str]:
    """Sitemaps of an index: those named for the section first, then the newest."""
    words = [word for word in section[1].split("/") if word]

    def rank(place: SitemapEntry) -> tuple[bool, str]:
        return any(word in place.url for word in words), place.modified

    return [place.url for place in sorted(maps, key=rank, reverse=True)]
