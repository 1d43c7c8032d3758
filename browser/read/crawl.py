"""Crawls a section of a site: the pages in its sitemaps and those that its pages link to.

The best pages are read first, ranked by the query words in their address and link text.
"""

from __future__ import annotations

import asyncio
import gzip
import heapq
import zlib
from collections import Counter
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote

from browser.errors import BrowserError
from browser.extract.documents.archive import drop, stream_xml
from browser.extract.tree import local_name
from browser.net.url import is_web_url, join, normalize, parse
from browser.text.words import content_words
from browser.types import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from browser.net.polite import Polite
    from browser.read.reader import Reader
    from browser.types import Page


# The limits of the sitemap standard on a file's unpacked size and number of entries.
_MAX_MAP_BYTES = 50 * 1024 * 1024
_MAX_ENTRIES = 50_000
_GZIP_MAGIC = b"\x1f\x8b"
# Maximum number of sitemaps read in one crawl; large sites have hundreds.
_MAX_MAPS = 6
_MAP_SECONDS = 8.0
_MAX_FETCHED_MAP_BYTES = 10 * 1024 * 1024
_WELL_KNOWN = ("/sitemap.xml", "/sitemap_index.xml")

# Suffixes of files that the reader cannot read, and path segments that a crawler must not request.
_SKIPPED_SUFFIXES = frozenset(
    """.png .jpg .jpeg .gif .svg .webp .ico .css .js .mjs .json .woff .woff2 .ttf .mp3 .mp4 .m4a
    .avi .mov .webm .zip .gz .tgz .bz2 .xz .7z .rar .exe .dmg .msi .iso .apk .deb .rpm .jar
    .whl""".split()
)
_SKIPPED_SEGMENTS = frozenset(
    """login log-in logout log-out signin sign-in signup sign-up signout sign-out register cart
    checkout account wp-admin wp-json wp-login cdn-cgi feed""".split()
)
# Query parameters that only change a page's appearance or trigger an action; parameters that begin
# with `session` are skipped too.
_SKIPPED_PARAMETERS = frozenset("share replytocom print add-to-cart sort order".split())
# Maximum number of pages that differ only in their query: calendars and shop filters generate
# endless variants.
_MAX_PER_PATH = 5
# A crawl reads far fewer pages; remembering more of them would only use memory.
_MAX_KNOWN_PAGES = 5_000
# Maximum number of pages read concurrently; `browser.net` also limits requests per host.
_MAX_CONCURRENT = 4
_PAGE_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class SiteSection:
    """A host (without `www.`) and a folder on it."""

    host: str
    folder: str

    @classmethod
    def from_url(cls, url: str) -> SiteSection:
        """The section that a page belongs to: its host and its folder."""
        parsed = parse(url)
        if parsed is None:
            return cls("", "/")
        folder = (
            parsed.path if parsed.path.endswith("/") else f"{PurePosixPath(parsed.path).parent}/"
        )
        return cls(parsed.host.removeprefix("www."), folder.replace("//", "/"))

    def contains(self, url: str) -> bool:
        """Return whether a page belongs to the section."""
        parsed = parse(url)
        if parsed is None or parsed.host.removeprefix("www.") != self.host:
            return False
        return parsed.path.startswith(self.folder) or f"{parsed.path}/" == self.folder


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """A sitemap entry: a page, or (`is_map`) another sitemap; `modified` is not parsed."""

    url: str
    modified: str = ""
    is_map: bool = False


def read_sitemap(body: bytes) -> list[SitemapEntry]:
    """Parse a sitemap, a sitemap index or a plain list of addresses; [] for anything else."""
    try:
        if body.startswith(_GZIP_MAGIC):
            body = gzip.GzipFile(fileobj=BytesIO(body)).read(_MAX_MAP_BYTES)
        return list(_entries(body))
    except (BrowserError, OSError, EOFError, zlib.error):  # the file is damaged, or not XML
        return []


def _entries(data: bytes) -> Iterator[SitemapEntry]:
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        lines = data[:_MAX_MAP_BYTES].decode("utf-8", "replace").split()
        for line in lines[:_MAX_ENTRIES]:
            if is_web_url(line):
                yield SitemapEntry(line)
        return
    for count, element in enumerate(stream_xml(data, "{*}url", "{*}sitemap")):
        if count >= _MAX_ENTRIES:
            return
        url = (element.findtext("{*}loc") or "").strip()
        if is_web_url(url):
            modified = (element.findtext("{*}lastmod") or "").strip()
            yield SitemapEntry(url, modified, is_map=local_name(element) == "sitemap")
        drop(element)


class Frontier:
    """The queue of known but unread pages in a section, best first."""

    def __init__(self, start: str, query: str, depth: int) -> None:
        """`depth` is the maximum distance from the start, in links; sitemap pages have depth 1."""
        self.section = SiteSection.from_url(start)
        self._query_words = frozenset(content_words(query))
        self._max_depth = depth
        self._known: set[str] = {normalize(start)}
        self._per_path: Counter[str] = Counter()
        # (negative number of query words, depth, order of arrival, address)
        self._heap: list[tuple[int, int, int, str]] = []

    @property
    def known(self) -> int:
        """The number of pages found in the section, including the start page."""
        return len(self._known)

    def add(self, links: Iterable[tuple[str, str]], depth: int) -> None:
        """Add (address, link text) pairs, except known ones and those outside the section."""
        if depth > self._max_depth:
            return
        for url, text in links:
            key = normalize(url)
            if (
                key not in self._known
                and len(self._known) < _MAX_KNOWN_PAGES
                and self._accepts(url)
            ):
                self._known.add(key)
                parsed = parse(url)
                words = content_words(f"{text} {unquote(parsed.path if parsed else '')}")
                matches = len(self._query_words.intersection(words))
                heapq.heappush(self._heap, (-matches, depth, len(self._known), url))

    def mark_known(self, url: str) -> bool:
        """Mark an address as known; returns whether it was already known."""
        key = normalize(url)
        was_known = key in self._known
        self._known.add(key)
        return was_known

    def pop(self, count: int) -> list[tuple[str, int]]:
        """Remove and return up to `count` of the best pages, as (address, depth)."""
        best = [heapq.heappop(self._heap) for _ in range(min(count, len(self._heap)))]
        return [(url, depth) for _, depth, _, url in best]

    def _accepts(self, url: str) -> bool:
        parsed = parse(url)
        if parsed is None or not self.section.contains(url):
            return False
        path = PurePosixPath(parsed.path.lower())
        if path.suffix in _SKIPPED_SUFFIXES:
            return False
        if any(part.partition(".")[0] in _SKIPPED_SEGMENTS for part in path.parts):
            return False
        parameters = parse_qs(parsed.query[1:].lower(), keep_blank_values=True)
        if any(name in _SKIPPED_PARAMETERS or name.startswith("session") for name in parameters):
            return False
        self._per_path[parsed.path] += 1
        return self._per_path[parsed.path] <= _MAX_PER_PATH


@dataclass(frozen=True, slots=True)
class Crawl:
    """The result of a crawl: the pages read, in the order in which they were chosen.

    `known` is the number of pages found; `unread` contains the pages that could not be read, with
    their outcomes.
    """

    pages: tuple[Page, ...]
    known: int
    unread: tuple[Page, ...] = ()


class Crawler:
    """Reads site sections with a run's reader; `polite` fetches their sitemaps."""

    def __init__(self, reader: Reader, polite: Polite) -> None:
        self._reader = reader
        self._polite = polite

    async def crawl(
        self,
        start: str,
        *,
        query: str = "",
        max_pages: int = 12,
        depth: int = 2,
        seconds: float = 40.0,
    ) -> Crawl:
        """Read up to `max_pages` pages of a section, including `start`.

        The pages that match `query` best are read first. The section is the host and folder of
        `start`. As with the reader, a page's errors are in its outcome. After `seconds`, the crawl
        ends with the pages read so far.
        """
        frontier = Frontier(start, query, depth)
        pages: list[Page] = []
        unread: list[Page] = []
        texts: set[str] = set()

        def add_page(page: Page, depth: int) -> None:
            document = page.document
            if page.outcome is not Outcome.OK or document is None:
                unread.append(page)
                return
            # The page may have been read already, because of a redirect or a second address.
            is_duplicate = page.url != page.requested_url and frontier.mark_known(page.url)
            if not is_duplicate and document.text not in texts:
                texts.add(document.text)
                pages.append(page)
            frontier.add(((link.url, link.text) for link in document.links), depth + 1)

        try:
            async with asyncio.timeout(seconds):
                first = await self._reader.read(start, deadline=_PAGE_SECONDS)
                # If the start page redirects to another host, the section is on that host.
                if SiteSection.from_url(first.url).host != frontier.section.host:
                    frontier.section = SiteSection.from_url(first.url)
                add_page(first, 0)
                listed = await self._pages_of_sitemaps(first.url)
                frontier.add(((entry.url, "") for entry in listed), 1)
                while (room := min(_MAX_CONCURRENT, max_pages - len(pages))) > 0:
                    if not (batch := frontier.pop(room)):
                        break
                    reads = [
                        asyncio.create_task(self._reader.read(url, deadline=_PAGE_SECONDS))
                        for url, _ in batch
                    ]
                    try:
                        # Processed in the order of the batch, so that crawls are reproducible.
                        for (_, page_depth), read in zip(batch, reads, strict=True):
                            add_page(await read, page_depth)
                    finally:
                        for read in reads:
                            read.cancel()
        except TimeoutError:
            pass  # the pages read so far are the result
        return Crawl(tuple(pages), frontier.known, tuple(unread))

    async def _pages_of_sitemaps(self, start: str) -> list[SitemapEntry]:
        """Return the section's pages that are listed in sitemaps, newest first."""
        section = SiteSection.from_url(start)
        folders = [name for name in section.folder.split("/") if name]
        in_robots = await self._polite.sitemaps(start)
        queue = list(in_robots or (join(start, path) for path in _WELL_KNOWN))
        found: list[SitemapEntry] = []
        for _ in range(_MAX_MAPS):
            if not queue:
                break
            entries = await self._fetch_sitemap(queue.pop(0))
            pages = [entry for entry in entries if not entry.is_map and section.contains(entry.url)]
            # Of the sitemaps in an index, those named after the section come first, then the
            # newest.
            further = sorted(
                (entry for entry in entries if entry.is_map),
                key=lambda entry: (any(name in entry.url for name in folders), entry.modified),
                reverse=True,
            )
            queue += [entry.url for entry in further]
            found += pages
            if pages and not in_robots:
                break  # the other well-known sitemap lists the same pages
        return sorted(found, key=lambda entry: entry.modified, reverse=True)

    async def _fetch_sitemap(self, url: str) -> list[SitemapEntry]:
        try:
            answer = await self._polite.get(
                url, deadline=_MAP_SECONDS, max_bytes=_MAX_FETCHED_MAP_BYTES
            )
        except BrowserError:
            return []
        return await asyncio.to_thread(read_sitemap, answer.body) if answer.ok else []
