"""Eighty URL tricks against the allow list, judged by the host that Chromium actually visits."""

from __future__ import annotations

from contextlib import suppress
from ipaddress import ip_address
from typing import TYPE_CHECKING

import pytest
from playwright.async_api import Error as PlaywrightError

from browser.errors import Refused
from browser.net.egress import Egress, EgressPolicy
from browser.net.url import Url, parse

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from playwright.async_api import BrowserContext

pytestmark = pytest.mark.row(n=11)

GOOD = "good.test"
TRICKS = [
    # the host's end
    r"https://evil.test\@good.test/",
    r"https://good.test\@evil.test/", r"https:\\evil.test\good.test",
    r"https:/\evil.test/good.test",
    r"https://evil.test\.good.test/", "https://evil.test#@good.test/",
    "https://evil.test?@good.test/",
    "https://evil.test/@good.test/", "https://evil.test;good.test/",
    r"https://good.test#\@evil.test/",
    r"https://good.test?\@evil.test/", "https://evil.test&good.test/",
    # credentials
    "https://good.test@evil.test/",
    "https://good.test:443@evil.test/", "https://good.test%40evil.test/",
    "https://good.test:pw@evil.test:443/", "https://a@good.test@evil.test/", "https://@evil.test/",
    "https://good.test%2f@evil.test/", "https://good.test%5c@evil.test/", "https://:@good.test/",
    "https://evil.test@good.test/",
    "https://good.test\t@evil.test/", "https://good.test\n@evil.test",
    # look-alikes and neighbours
    "https://good.test.evil.test/", "https://evilgood.test/", "https://good-test.evil.test/",
    "https://good.testevil/", "https://goodXtest/", "https://good.tes/", "https://good.test.test/",
    "https://xn--good-.test/", "https://gооd.test/", "https://good․test/", "https://ɡood.test/",
    # spellings of the good host
    "HTTPS://GOOD.TEST/", "https://good.test./",
    "https://good.test:443/", "https://good.test:0443/",
    "https://ｇｏｏｄ.ｔｅｓｔ/", "https://good。test/", "https://good．test/", "https://good｡test/",
    "https://g%6fod.test/", "https://%67%6f%6f%64.test/",
    "https://good%2etest/", "https://go\u00adod.test/",
    "https://go\u200bod.test/", "https://go\u2060od.test/",
    "https://ⓖⓞⓞⓓ.test/", "https://𝐠𝐨𝐨𝐝.test/",
    "https://good.te\u017ft/", "https://good.test:/", "https:good.test/", "https:/good.test/",
    "https:///good.test/", "https:////good.test/",
    "https:///evil.test/good.test", "https:evil.test",
    # white space and control characters
    " https://good.test/", "\thttps://evil.test/", "ht\ntps://evil.test/", "https://ev\til.test/",
    "https://good\n.test/", "https:/\t/evil.test/",
    "https://good.test\r\n.evil.test/", "\x00https://good.test/",
    "https://good.test\x00.evil.test/",
    "https://good.test%00.evil.test/", "https://good.test%0a.evil.test/",
    "https://good.test%20.evil.test/",
    "https://good.test .evil.test/", "https://good.test\u3000.evil.test/",
    # what breaks parsers
    "https://[good.test]/", "https://good.test:99999/",
    "https://good.test:44:3/", "https://good.test:evil.test/",
    "https://[::ffff:1.2.3.4]/", "https://0x01020304/", "https://1.2.3.4/", "https://good..test/",
    "https://.good.test/", "https://*.good.test/",
    "https://good_test/", "https://good.test|evil.test/",
    "https://good.test^evil.test/", "https://good.test<evil.test/",
    "https://<good.test>/", "https://evil.test:80@good.test:443/",
    "view-source:https://evil.test/", "blob:https://good.test/1",
    "data:text/html,good.test", "javascript://good.test/%0aalert(1)",
    "ftp://good.test/", "file://good.test/etc", "filesystem:https://good.test/x",
    "ws://good.test/", "//good.test/", "good.test",
]  # fmt: skip


def test_at_least_eighty_url_tricks_are_tested() -> None:
    assert len(set(TRICKS)) >= 80


async def test_url_parser_agrees_with_chromium(
    browser_behind: Callable[[Egress], AbstractAsyncContextManager[BrowserContext]],
) -> None:
    read = """urls => urls.map(u => { try {
        const url = new URL(u);
        return [url.protocol, url.hostname, url.port, url.pathname];
    } catch { return null } })"""
    async with Egress() as egress, browser_behind(egress) as context:
        page = await context.new_page()
        chromium = dict(zip(TRICKS, await page.evaluate(read, TRICKS), strict=True))
    for trick, expected in chromium.items():
        assert _agrees(parse(trick), expected), trick


def _agrees(url: Url | None, chromium: list[str] | None) -> bool:
    if url is None:  # only Chromium accepts an escaped space in a host
        return chromium is None or "%20" in chromium[1]
    if chromium is None or f"{url.scheme}:" != chromium[0]:
        return False
    if url.scheme not in {"http", "https", "ws"}:
        return True
    host = chromium[1].strip("[]").replace("%2A", "*")  # only Chromium escapes it
    return url.host == host and str(url.port) in {chromium[2], "443", "80"}


async def test_chromium_follows_tricky_urls_only_to_allowed_host(
    browser_behind: Callable[[Egress], AbstractAsyncContextManager[BrowserContext]],
    record_property: Callable[[str, object], None],
) -> None:
    """Follow each trick in a page: one that passes the rules must lead only to the good host."""
    asked: list[str] = []

    async def nowhere(host: str) -> tuple:
        asked.append(host)
        return (ip_address("10.0.0.1"),)

    async with (
        Egress(EgressPolicy(allow_hosts=(GOOD,)), resolve=nowhere) as egress,
        browser_behind(egress) as context,
    ):
        page = await context.new_page()
        passed = 0
        for trick in TRICKS:
            asked.clear()
            allowed = _passes(egress, trick)
            passed += allowed
            with suppress(PlaywrightError):
                await page.evaluate(
                    "url => fetch(url, {mode: 'no-cors'}).catch(e => e.name)", trick
                )
            assert {host.rstrip(".") for host in asked} <= {GOOD}, trick
            assert allowed or not asked, trick
    assert passed >= 10
    record_property("figure", f"0 of {len(TRICKS)} tricks led Chromium to a host that was refused")


def _passes(egress: Egress, url: str) -> bool:
    try:
        egress.guard.check_url(url)
    except Refused:
        return False
    return True
