"""Reads a section of a site: what its sitemaps list and its pages link to, politely."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from browser.crawl.frontier import Frontier, section_of, within
from browser.crawl.sitemap import read_sitemap
from browser.errors import BrowserError
from browser.net.url import join
from browser.types import Outcome

if TYPE_CHECKING:
    from browser.crawl.sitemap import Place
    from browser.net.polite import Polite
    from browser.read import Reader
    from browser.types import Page

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
                while len(walk.pages) < most and (chosen := walk.frontier.next(_room(walk, most))):
                    await walk.read(chosen)
        except TimeoutError:
            pass  # what was read until now is the answer
        return Crawl(tuple(walk.pages), walk.frontier.known, maps, tuple(walk.unread))

    async def _listed(self, start: str) -> tuple[list[Place], int]:
        """The pages of the section that sitemaps list, and how many sitemaps did."""
        section = section_of(start)
        named = await self._polite.sitemaps(start)
        waiting = list(named or (join(start, path) for path in _WELL_KNOWN))
        found: list[Place] = []
        maps = 0
        for _ in range(_MOST_MAPS):
            if not waiting:
                break
            places = await self._sitemap(waiting.pop(0))
            pages = [p for p in places if not p.is_map and within(p.url, section)]
            waiting += _likeliest([p for p in places if p.is_map], section)
            found += pages
            maps += bool(pages)
            if pages and not named:
                break  # the second well-known name lists the same
        return sorted(found, key=lambda place: place.modified, reverse=True), maps

    async def _sitemap(self, url: str) -> list[Place]:
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


def _room(walk: _Walk, most: int) -> int:
    return min(_AT_ONCE, most - len(walk.pages))


def _likeliest(maps: list[Place], section: tuple[str, str]) -> list[str]:
    """Sitemaps of an index: those named for the section first, then the newest."""
    words = [word for word in section[1].split("/") if word]

    def rank(place: Place) -> tuple[bool, str]:
        return any(word in place.url for word in words), place.modified

    return [place.url for place in sorted(maps, key=rank, reverse=True)]
