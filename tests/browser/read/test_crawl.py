"""Crawling a section: sitemaps, links, limits, and what is fetched first."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from browser.net.egress import Egress, EgressPolicy
from browser.net.http import HttpClient
from browser.net.polite import Polite
from browser.read.crawl import Crawl, Crawler, Frontier, SitemapEntry, read_sitemap
from browser.read.reader import Reader
from tests.browser.read.reading_site import Site, serve

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

WORDS = "The harbour master keeps a book of every ship that came in. " * 4


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with serve(Site()) as running:
        yield running


def add(site: Site, path: str, title: str, *links: str) -> None:
    anchors = "".join(f"<li><a href='{link}'>{link.strip('/')}</a></li>" for link in links)
    site.page(
        path, f"<title>{title}</title><h1>{title}</h1><p>{title}. {WORDS}</p><ul>{anchors}</ul>"
    )


def serve_map(site: Site, path: str, *pages: str, packed: bool = False) -> None:
    urls = "".join(f"<url><loc>{site.base}{page}</loc></url>" for page in pages)
    body = f"<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{urls}</urlset>"
    data = gzip.compress(body.encode()) if packed else body.encode()
    site.answers[path] = (200, {"Content-Type": "application/xml"}, data)


async def crawl(site: Site, path: str = "/docs/", **options: object) -> Crawl:
    policy = EgressPolicy(allow_private=("127.0.0.1",))
    async with Egress(policy) as egress, HttpClient(egress) as http:
        polite = Polite(http)
        return await Crawler(Reader(polite), polite).crawl(site.base + path, **options)


def paths(site: Site, crawled: Crawl) -> list[str]:
    return [page.url.removeprefix(site.base) for page in crawled.pages]


async def test_links_of_the_section_are_followed_and_others_not(site: Site) -> None:
    add(site, "/docs/", "Docs", "/docs/a", "/blog/x", "https://elsewhere.test/docs/", "/docs/p.png")
    add(site, "/docs/a", "A", "/docs/b")
    add(site, "/docs/b", "B")
    add(site, "/blog/x", "X")
    assert paths(site, await crawl(site)) == ["/docs/", "/docs/a", "/docs/b"]


async def test_what_is_sought_is_read_first_within_the_limit(site: Site) -> None:
    names = ("alpha", "beta", "dredging", "gamma")
    add(site, "/docs/", "Docs", *(f"/docs/{name}" for name in names))
    for name in names:
        add(site, f"/docs/{name}", name)
    crawled = await crawl(site, query="how deep is the dredging", most=2)
    assert paths(site, crawled) == ["/docs/", "/docs/dredging"]
    assert crawled.known == 5


async def test_sitemaps_named_in_robots_txt_are_read_packed_and_nested(site: Site) -> None:
    add(site, "/docs/", "Docs")
    add(site, "/docs/deep/hidden", "Hidden")
    site.answers["/robots.txt"] = (200, {}, f"User-agent: *\nSitemap: {site.base}/i.xml".encode())
    index = f"<sitemapindex><sitemap><loc>{site.base}/m.xml.gz</loc></sitemap></sitemapindex>"
    site.answers["/i.xml"] = (200, {}, index.encode())
    serve_map(site, "/m.xml.gz", "/docs/deep/hidden", "/blog/x", packed=True)
    crawled = await crawl(site)
    assert paths(site, crawled) == ["/docs/", "/docs/deep/hidden"]


async def test_the_well_known_sitemap_is_found(site: Site) -> None:
    add(site, "/", "Home")
    add(site, "/far", "Far")
    serve_map(site, "/sitemap.xml", "/far")
    assert paths(site, await crawl(site, "/")) == ["/", "/far"]


async def test_what_robots_txt_forbids_is_not_asked_for(site: Site) -> None:
    add(site, "/docs/", "Docs", "/docs/private/a", "/docs/b")
    add(site, "/docs/b", "B")
    site.answers["/robots.txt"] = (200, {}, b"User-agent: *\nDisallow: /docs/private/")
    crawled = await crawl(site)
    assert "/docs/private/a" not in site.asked
    assert [page.outcome.value for page in crawled.unread] == ["refused"]


async def test_the_same_text_under_another_address_is_one_page(site: Site) -> None:
    add(site, "/docs/", "Docs", "/docs/a", "/docs/a?print=1", "/docs/copy")
    add(site, "/docs/a", "A")
    add(site, "/docs/copy", "A")
    assert paths(site, await crawl(site)) == ["/docs/", "/docs/a"]


async def test_a_start_that_cannot_be_read_ends_with_its_reason(site: Site) -> None:
    crawled = await crawl(site, "/gone/")
    assert crawled.pages == ()
    assert crawled.unread[0].outcome.value == "not_found"


def test_a_calendar_does_not_fill_the_list() -> None:
    frontier = Frontier("https://e.org/", "", depth=3)
    frontier.add(((f"https://e.org/calendar?day={n}", "") for n in range(500)), 1)
    assert frontier.known < 10


@pytest.mark.parametrize(
    ("body", "places"),
    [
        (b"https://e.org/a\nhttps://e.org/b\n", [SitemapEntry("https://e.org/a"), SitemapEntry("https://e.org/b")]),
        (b"<urlset><url><loc> https://e.org/a </loc><lastmod>2024-05-03</lastmod></url></urlset>",
         [SitemapEntry("https://e.org/a", "2024-05-03")]),
        (b"<html><body>no map</body></html>", []),
        (b"\x1f\x8bbroken", []),
        (b"", []),
    ],
)  # fmt: skip
def test_sitemaps_of_every_form_are_read(body: bytes, places: list[SitemapEntry]) -> None:
    assert read_sitemap(body) == places
