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


def add_page(site: Site, path: str, title: str, *links: str) -> None:
    anchors = "".join(f"<li><a href='{link}'>{link.strip('/')}</a></li>" for link in links)
    site.page(
        path, f"<title>{title}</title><h1>{title}</h1><p>{title}. {WORDS}</p><ul>{anchors}</ul>"
    )


def serve_sitemap(site: Site, path: str, *pages: str, packed: bool = False) -> None:
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


async def test_only_links_within_section_are_followed(site: Site) -> None:
    add_page(
        site, "/docs/", "Docs", "/docs/a", "/blog/x", "https://elsewhere.test/docs/", "/docs/p.png"
    )
    add_page(site, "/docs/a", "A", "/docs/b")
    add_page(site, "/docs/b", "B")
    add_page(site, "/blog/x", "X")
    assert paths(site, await crawl(site)) == ["/docs/", "/docs/a", "/docs/b"]


async def test_pages_matching_query_are_read_first_within_limit(site: Site) -> None:
    names = ("alpha", "beta", "dredging", "gamma")
    add_page(site, "/docs/", "Docs", *(f"/docs/{name}" for name in names))
    for name in names:
        add_page(site, f"/docs/{name}", name)
    crawled = await crawl(site, query="how deep is the dredging", max_pages=2)
    assert paths(site, crawled) == ["/docs/", "/docs/dredging"]
    assert crawled.known == 5


async def test_nested_gzipped_sitemaps_from_robots_txt_are_read(site: Site) -> None:
    add_page(site, "/docs/", "Docs")
    add_page(site, "/docs/deep/hidden", "Hidden")
    site.answers["/robots.txt"] = (200, {}, f"User-agent: *\nSitemap: {site.base}/i.xml".encode())
    index = f"<sitemapindex><sitemap><loc>{site.base}/m.xml.gz</loc></sitemap></sitemapindex>"
    site.answers["/i.xml"] = (200, {}, index.encode())
    serve_sitemap(site, "/m.xml.gz", "/docs/deep/hidden", "/blog/x", packed=True)
    crawled = await crawl(site)
    assert paths(site, crawled) == ["/docs/", "/docs/deep/hidden"]


async def test_default_sitemap_is_found(site: Site) -> None:
    add_page(site, "/", "Home")
    add_page(site, "/far", "Far")
    serve_sitemap(site, "/sitemap.xml", "/far")
    assert paths(site, await crawl(site, "/")) == ["/", "/far"]


async def test_pages_disallowed_by_robots_txt_are_not_requested(site: Site) -> None:
    add_page(site, "/docs/", "Docs", "/docs/private/a", "/docs/b")
    add_page(site, "/docs/b", "B")
    site.answers["/robots.txt"] = (200, {}, b"User-agent: *\nDisallow: /docs/private/")
    crawled = await crawl(site)
    assert "/docs/private/a" not in site.asked
    assert [page.outcome.value for page in crawled.unread] == ["refused"]


async def test_duplicate_text_is_kept_once(site: Site) -> None:
    add_page(site, "/docs/", "Docs", "/docs/a", "/docs/a?print=1", "/docs/copy")
    add_page(site, "/docs/a", "A")
    add_page(site, "/docs/copy", "A")
    assert paths(site, await crawl(site)) == ["/docs/", "/docs/a"]


async def test_unreadable_start_page_ends_crawl_with_outcome(site: Site) -> None:
    crawled = await crawl(site, "/gone/")
    assert crawled.pages == ()
    assert crawled.unread[0].outcome.value == "not_found"


def test_calendar_links_do_not_fill_frontier() -> None:
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
def test_sitemap_formats_are_parsed(body: bytes, places: list[SitemapEntry]) -> None:
    assert read_sitemap(body) == places
