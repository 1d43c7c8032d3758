"""The page cache: what is stored, revalidated, and never stored (RFC 9111)."""

# ruff: noqa: ASYNC240 - a few bytes of a file of the test's own

from __future__ import annotations

import logging
import sqlite3
from typing import TYPE_CHECKING

import pytest

from browser.errors import Refused
from browser.net.egress import Egress
from browser.net.http import HttpClient
from tests.browser.net.servers import Exchange, Origin

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    ClientOf = Callable[..., AbstractAsyncContextManager[HttpClient]]


@pytest.fixture
def cache_path(tmp_path: Path) -> Path:
    return tmp_path / "pages" / "a.db"


def origin_sending(status: str = "200 OK", **headers: str) -> Origin:
    async def handler(exchange: Exchange) -> None:
        if exchange.headers.get("if-none-match") == headers.get("ETag", "none"):
            await exchange.answer(b"", "304 Not Modified", **headers)
        else:
            await exchange.answer("Moored.", status, **headers)

    return Origin(handler)


async def request_counts(
    client_of: ClientOf, origin: Origin, cache_path: Path, **options: object
) -> list[int]:
    """Return the number of requests after each of three reads, each by a separate client."""
    counts = []
    async with origin:
        for _ in range(3):
            async with client_of(origin, cache=cache_path, **options) as http:
                assert (await http.get(origin.url, cached=True)).status in {200, 404}
            counts.append(len(origin.requests))
    return counts


async def test_fresh_page_is_served_from_cache(client_of: ClientOf, cache_path: Path) -> None:
    assert await request_counts(
        client_of, origin_sending(Cache_Control="max-age=600"), cache_path
    ) == [1, 1, 1]


async def test_page_with_etag_is_revalidated(client_of: ClientOf, cache_path: Path) -> None:
    origin = origin_sending(ETag='"a"')
    async with origin, client_of(origin, cache=cache_path) as http:
        first = await http.get(origin.url, cached=True)
        again = await http.get(origin.url, cached=True)
    assert (first.body, first.age) == (b"Moored.", None)
    assert (again.body, again.age, again.status) == (b"Moored.", 0.0, 200)
    assert origin.requests[1].headers["if-none-match"] == '"a"'


async def test_cached_page_reports_its_age(client_of: ClientOf, cache_path: Path) -> None:
    origin = origin_sending(Cache_Control="max-age=600", Age="60")
    async with origin, client_of(origin, cache=cache_path) as http:
        first = await http.get(origin.url, cached=True)
        again = await http.get(origin.url, cached=True)
    assert first.headers["age"] == "60"
    assert again.age is not None
    assert 60 <= again.age < 90


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        ("200 OK", {"Cache_Control": "no-store, max-age=600"}),
        ("200 OK", {"Cache_Control": "private, max-age=600"}),
        ("200 OK", {"Cache_Control": "max-age=600", "Set_Cookie": "id=1"}),
        ("200 OK", {"Cache_Control": "max-age=600", "Vary": "*"}),
        ("404 Not Found", {"Cache_Control": "max-age=600"}),
        ("200 OK", {"Cache_Control": "max-age=60", "Age": "100"}),
        ("200 OK", {"Cache_Control": "max-age=0"}),
        ("200 OK", {}),
    ],
)
async def test_uncacheable_response_is_fetched_again(
    client_of: ClientOf, cache_path: Path, status: str, headers: dict[str, str]
) -> None:
    assert await request_counts(client_of, origin_sending(status, **headers), cache_path) == [
        1,
        2,
        3,
    ]


async def test_cache_is_unused_unless_requested(client_of: ClientOf, cache_path: Path) -> None:
    origin = origin_sending(Cache_Control="max-age=600")
    async with origin, client_of(origin, cache=cache_path) as http:
        for _ in range(2):
            assert (await http.get(origin.url)).age is None
    assert len(origin.requests) == 2


@pytest.mark.parametrize("header", ["Cookie", "Authorization"])
async def test_requests_with_credentials_bypass_cache(
    client_of: ClientOf, cache_path: Path, header: str
) -> None:
    origin = origin_sending(Cache_Control="max-age=600")
    async with origin, client_of(origin, cache=cache_path) as http:
        await http.get(origin.url, headers={header: "secret"}, cached=True)
        await http.get(origin.url, cached=True)
        await http.get(origin.url, headers={header: "secret"}, cached=True)
    assert len(origin.requests) == 3
    assert b"secret" not in cache_path.read_bytes()


async def test_vary_header_separates_cached_responses(
    client_of: ClientOf, cache_path: Path
) -> None:
    origin = origin_sending(Cache_Control="max-age=600", Vary="Accept-Language")
    async with origin, client_of(origin, cache=cache_path) as http:
        for language in ("de", "en", "de"):
            await http.get(origin.url, headers={"Accept-Language": language}, cached=True)
    assert len(origin.requests) == 2


async def test_fresh_bypasses_and_replaces_cached_page(
    client_of: ClientOf, cache_path: Path
) -> None:
    async with origin_sending(Cache_Control="max-age=600") as origin:
        for fresh in (False, True, False):
            async with client_of(origin, cache=cache_path, fresh=fresh) as http:
                await http.get(origin.url, cached=True)
    assert len(origin.requests) == 2


async def test_forget_removes_page_from_cache(client_of: ClientOf, cache_path: Path) -> None:
    origin = origin_sending(Cache_Control="max-age=600")
    async with origin, client_of(origin, cache=cache_path) as http:
        await http.get(f"{origin.url}/#top", cached=True)
        await http.forget(origin.url)
        await http.get(origin.url, cached=True)
    assert len(origin.requests) == 2


async def test_cached_private_page_is_refused_without_access(
    client_of: ClientOf, cache_path: Path
) -> None:
    origin = origin_sending(Cache_Control="max-age=600")
    async with origin, client_of(origin, cache=cache_path) as http:
        await http.get(origin.url, cached=True)
    async with Egress() as egress, HttpClient(egress, cache=cache_path) as http:
        with pytest.raises(Refused):
            await http.get(origin.url, cached=True)


async def test_damaged_cache_is_recreated(client_of: ClientOf, cache_path: Path) -> None:
    cache_path.parent.mkdir()
    cache_path.write_bytes(b"no database" * 1000)
    assert await request_counts(
        client_of, origin_sending(Cache_Control="max-age=600"), cache_path
    ) == [1, 1, 1]


class LoggerNameCollector(logging.Handler):
    """Behave like a program that shows what any library logs."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        self.names.add(record.name.partition(".")[0])


async def test_broken_cache_is_bypassed_without_logging(
    client_of: ClientOf, cache_path: Path
) -> None:
    origin, noted = origin_sending(Cache_Control="max-age=600"), LoggerNameCollector()
    async with origin, client_of(origin, cache=cache_path) as http:
        await http.get(origin.url, cached=True)
        with sqlite3.connect(cache_path) as database:
            for (table,) in database.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            ).fetchall():
                database.execute(f"DROP TABLE {table}")
        logging.getLogger().addHandler(noted)
        try:
            assert (await http.get(f"{origin.url}/other", cached=True)).body == b"Moored."
        finally:
            logging.getLogger().removeHandler(noted)
    assert "hishel" not in noted.names
