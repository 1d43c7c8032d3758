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


# The product token that rules are looked up under (RFC 9309, 2.2.1).
_AGENT = "Urchin"
# RFC 9309, 2.5: a parser reads at least 500 KiB.
_MAX_BYTES = 512 * 1024
_DEADLINE_S = 8.0
_ALLOW_ALL = Protego.parse("")
_DISALLOW_ALL = Protego.parse("User-agent: *\nDisallow: /")
# Of a file that did not come: nothing may be fetched until it does.
_UNREAD = Protego.parse("User-agent: *\nDisallow: /")


class Polite:
    """An `HttpClient` for pages. What it shares between calls is what each host asked of us.

    Opened within `pacing` it shares that with others. `obey_robots` off leaves robots.txt aside,
    crawl delays included: for one's own sites.
    """

    def __init__(self, http: HttpClient, *, obey_robots: bool = True) -> None:
        self._http = http
        self._obey_robots = obey_robots
        self._pace = current_pace()
        self._rules: dict[str, asyncio.Task[Protego]] = {}

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
        return tuple((await self._rules_for(url)).sitemaps)

    async def _obey(self, url: str, deadline: float | None) -> None:
        """Raise Refused for a page that robots may not fetch, and note the delay that is asked for.

        A file that is missing (4xx) allows, one that cannot be had (5xx, no answer) forbids.
        """
        try:
            async with asyncio.timeout(deadline):
                rules = await self._rules_for(url)
        except TimeoutError as error:
            raise DeadlineExceeded(f"the robots.txt of {url} took too long") from error
        if not rules.can_fetch(url, _AGENT):
            why = f"robots.txt does not allow {url}"
            if rules is _UNREAD:
                why = f"the robots.txt did not come that would allow {url}"
            hint = "Try another source; for a site of your own, leave robots.txt aside."
            raise Refused(why, hint=hint)
        rate = rules.request_rate(_AGENT)
        delay = float(rules.crawl_delay(_AGENT) or 0.0)
        if rate and rate.requests:
            delay = max(delay, rate.seconds / rate.requests)
        if delay:
            self._pace.delays[netloc(url)] = delay

    async def _rules_for(self, url: str) -> Protego:
        """Give the rules of a page's origin; its file is asked for once."""
        parsed = parse(url)
        if not self._obey_robots or parsed is None or parsed.scheme not in WEB_SCHEMES:
            return _ALLOW_ALL
        task = self._rules.get(parsed.origin)
        if task is None or task.cancelled():
            task = asyncio.create_task(self._fetch(parsed.origin))
            self._rules[parsed.origin] = task
            # whoever asked may have gone when it fails, and then nobody looks at its error
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
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
