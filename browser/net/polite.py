"""Reading other people's sites politely: robots.txt, crawl delays, and rests they ask for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from browser.errors import Refused
from browser.net.http import MAX_BYTES
from browser.net.pace import Pace
from browser.net.robots import Robots
from browser.net.url import netloc

if TYPE_CHECKING:
    from collections.abc import Mapping

    from browser.net.http import HttpClient, Response


class Polite:
    """An `HttpClient` for pages. What it shares between calls is what each host asked of us.

    `obey_robots` off leaves robots.txt aside, crawl delays included: for one's own sites.
    """

    def __init__(self, http: HttpClient, *, obey_robots: bool = True) -> None:
        self._http = http
        self._pace = Pace()
        self._robots = Robots(http) if obey_robots else None

    async def get(
        self,
        url: str,
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        deadline: float | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> Response:
        """Fetch `url` in its host's own time.

        Raises as `HttpClient.get` does; Refused also where robots.txt forbids it, and
        DeadlineExceeded without waiting where the host wants more time than `deadline` has.
        """
        started = asyncio.get_running_loop().time()
        if self._robots:
            await self._obey(self._robots, url)
        spent = asyncio.get_running_loop().time() - started
        return await self._http.get(
            url,
            params=params,
            headers=headers,
            deadline=None if deadline is None else max(0.0, deadline - spent),
            max_bytes=max_bytes,
            pace=self._pace,
            cached=True,
        )

    async def forget(self, url: str) -> None:
        """Drop what the cache keeps of `url`: what came was a wall, and no page."""
        await self._http.forget(url)

    async def sitemaps(self, url: str) -> tuple[str, ...]:
        """Give the sitemaps that the site's robots.txt names; none where it is left aside."""
        return await self._robots.sitemaps(url) if self._robots else ()

    async def _obey(self, robots: Robots, url: str) -> None:
        if not await robots.allowed(url):
            raise Refused(
                f"robots.txt does not allow {url}",
                hint="Try another source; for a site of your own, leave robots.txt aside.",
            )
        if delay := await robots.crawl_delay(url):
            self._pace.slow_down(netloc(url), delay)
