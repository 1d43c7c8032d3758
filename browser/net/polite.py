"""Reading other people's sites politely: robots.txt (RFC 9309), crawl delays, rests."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from protego import Protego

from browser.errors import BrowserError, ConnectFailed, DeadlineExceeded, Refused
from browser.net.http import MAX_BYTES
from browser.net.pace import current_pace
from browser.net.url import WEB_SCHEMES, netloc, parse

if TYPE_CHECKING:
    from browser.net.http import HttpClient
    from browser.net.transport import Response


ROBOTS_AGENT = "Urchin"
"""The product token that robots.txt rules are looked up under (RFC 9309, 2.2.1)."""
# RFC 9309, 2.5: a parser reads at least 500 KiB.
_MAX_BYTES = 512 * 1024
_DEADLINE_S = 8.0
_ALLOW_ALL = Protego.parse("")
_DISALLOW_ALL = Protego.parse("User-agent: *\nDisallow: /")
_UNREAD = Protego.parse("User-agent: *\nDisallow: /")
"""Of a file that did not come: nothing may be fetched until it does."""


class Robots:
    """The robots.txt rules of every origin that was asked about, each had once."""

    def __init__(self, http: HttpClient, *, agent: str = ROBOTS_AGENT) -> None:
        self._http = http
        self._agent = agent
        self._rules: dict[str, asyncio.Task[Protego]] = {}

    async def refusal(self, url: str) -> str:
        """Say why robots may not fetch `url`; "" where they may.

        A file that is missing (4xx) allows, one that cannot be had (5xx, no answer) forbids.
        Raises ConnectFailed where nobody is there to ask.
        """
        rules = await self._of(url)
        if rules.can_fetch(url, self._agent):
            return ""
        if rules is _UNREAD:
            return f"the robots.txt did not come that would allow {url}"
        return f"robots.txt does not allow {url}"

    async def crawl_delay(self, url: str) -> float | None:
        """Return the seconds between two requests that the site asks for, if it does."""
        rules = await self._of(url)
        delay = rules.crawl_delay(self._agent)
        rate = rules.request_rate(self._agent)
        paced = rate.seconds / rate.requests if rate and rate.requests else None
        return max((float(d) for d in (delay, paced) if d is not None), default=None)

    async def sitemaps(self, url: str) -> tuple[str, ...]:
        """Give the sitemaps that the site's file names."""
        return tuple((await self._of(url)).sitemaps)

    async def _of(self, url: str) -> Protego:
        parsed = parse(url)
        if parsed is None or parsed.scheme not in WEB_SCHEMES:
            return _ALLOW_ALL  # not theirs to rule on
        task = self._rules.get(parsed.origin)
        if task is None or task.cancelled():
            task = asyncio.create_task(self._fetch(parsed.origin))
            self._rules[parsed.origin] = task
        rules = _UNREAD
        try:
            rules = await asyncio.shield(task)
        finally:  # what did not come this time is asked for again
            if rules is _UNREAD and task.done() and self._rules.get(parsed.origin) is task:
                del self._rules[parsed.origin]
        return rules

    async def _fetch(self, origin: str) -> Protego:
        try:
            answer = await self._http.get(
                f"{origin}/robots.txt", deadline=_DEADLINE_S, max_bytes=_MAX_BYTES, cached=True
            )
        except ConnectFailed:  # the page cannot be had either, and this says why
            raise
        except BrowserError:
            return _UNREAD
        if answer.ok:
            return Protego.parse(answer.body.decode("utf-8-sig", "replace"))
        return _ALLOW_ALL if 400 <= answer.status < 500 else _DISALLOW_ALL


class Polite:
    """An `HttpClient` for pages. What it shares between calls is what each host asked of us.

    Opened within `pacing` it shares that with others. `obey_robots` off leaves robots.txt aside,
    crawl delays included: for one's own sites.
    """

    def __init__(self, http: HttpClient, *, obey_robots: bool = True) -> None:
        self._http = http
        self._pace = current_pace()
        self._robots = Robots(http) if obey_robots else None

    async def get(
        self, url: str, *, deadline: float | None = None, max_bytes: int = MAX_BYTES
    ) -> Response:
        """Fetch `url` in its host's own time.

        Raises as `HttpClient.get` does; Refused also where robots.txt forbids it, and
        DeadlineExceeded without waiting where the host wants more time than `deadline` has.
        """
        started = asyncio.get_running_loop().time()
        await self._obey(url, deadline)
        if deadline is not None:
            deadline = max(0.0, deadline - (asyncio.get_running_loop().time() - started))
        return await self._http.get(
            url, deadline=deadline, max_bytes=max_bytes, pace=self._pace, cached=True
        )

    async def turn(self, url: str, deadline: float) -> None:
        """Wait for the turn of a page that a browser asks for by itself; `deadline` in seconds.

        Raises Refused where robots.txt forbids it, ConnectFailed where nobody is there to ask, and
        DeadlineExceeded without waiting where the host wants more time.
        """
        host, until = netloc(url), asyncio.get_running_loop().time() + deadline
        await self._obey(url, deadline)
        while True:
            await self._pace.wait(host, until)
            if await self._pace.take(host):
                return

    async def forget(self, url: str) -> None:
        """Drop what the cache keeps of `url`: what came was a wall, and no page."""
        await self._http.forget(url)

    async def sitemaps(self, url: str) -> tuple[str, ...]:
        """Give the sitemaps that the site's robots.txt names; none where it is left aside."""
        return await self._robots.sitemaps(url) if self._robots else ()

    async def _obey(self, url: str, deadline: float | None) -> None:
        if self._robots is None:
            return
        try:
            async with asyncio.timeout(deadline):
                why = await self._robots.refusal(url)
                delay = None if why else await self._robots.crawl_delay(url)
        except TimeoutError as error:
            raise DeadlineExceeded(f"the robots.txt of {url} took too long") from error
        if why:
            hint = "Try another source; for a site of your own, leave robots.txt aside."
            raise Refused(why, hint=hint)
        if delay:
            self._pace.delays[netloc(url)] = delay
