"""Fetches pages politely: obeys robots.txt (RFC 9309), crawl delays and `Retry-After`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from protego import Protego

from browser.errors import BrowserError, ConnectFailed, DeadlineExceeded, NoAnswer, Refused
from browser.net.http import MAX_BYTES
from browser.net.pace import current_pace
from browser.net.url import WEB_SCHEMES, netloc, parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from browser.net.http import HttpClient
    from browser.net.transport import Response


# The product token used to look up rules (RFC 9309, 2.2.1).
_ROBOTS_USER_AGENT = "Urchin"
# RFC 9309, 2.5: a parser reads at least 500 KiB.
_MAX_BYTES = 512 * 1024
_DEADLINE_S = 8.0
_ALLOW_ALL = Protego.parse("")
# Used if the server answered with an error (5xx): in this run, none of its pages may be fetched.
_RULES_UNAVAILABLE = Protego.parse("User-agent: *\nDisallow: /")
# Used if robots.txt could not be fetched: until it can be, no page may be fetched. Both objects are
# compared by identity.
_RULES_NOT_FETCHED = Protego.parse("User-agent: *\nDisallow: /")


def _is_never_named(_url: str) -> bool:
    return False


class Polite:
    """An `HttpClient` for pages that obeys robots.txt and each host's pace.

    Inside `shared_pace`, the pace is shared with other clients. Without `obey_robots`, robots.txt
    and its crawl delays are ignored; this is for your own sites. An address that the user named
    (`is_named`) is fetched anyway, as the user's own browser would do: robots.txt concerns pages
    that a crawler finds by itself. `remark` reports such a fetch.
    """

    def __init__(
        self,
        http: HttpClient,
        *,
        obey_robots: bool = True,
        is_named: Callable[[str], bool] = _is_never_named,
    ) -> None:
        self._http = http
        self._obey_robots = obey_robots
        self._is_named = is_named
        self._remarks: dict[str, str] = {}
        self._pace = current_pace()
        self._rules: dict[str, asyncio.Task[Protego]] = {}

    async def get(
        self, url: str, *, deadline: float | None = None, max_bytes: int = MAX_BYTES
    ) -> Response:
        """Fetch `url` as soon as its host may be contacted.

        Raises the same errors as `HttpClient.get`; also Refused if robots.txt forbids it, and
        DeadlineExceeded immediately if the host requires a longer pause than `deadline`.
        """
        started = asyncio.get_running_loop().time()
        await self._check_robots_txt(url, deadline)
        if deadline is not None:
            deadline = max(0.0, deadline - (asyncio.get_running_loop().time() - started))
        return await self._http.get(
            url, deadline=deadline, max_bytes=max_bytes, pace=self._pace, cached=True
        )

    @property
    def client(self) -> HttpClient:
        """The client without these rules, for use with APIs, which are intended for programs."""
        return self._http

    async def wait_turn(self, url: str, deadline: float) -> None:
        """Wait until a browser may load a page; `deadline` is in seconds.

        Raises Refused if robots.txt forbids it, ConnectFailed if the host cannot be reached, and
        DeadlineExceeded immediately if the host demands a longer pause.
        """
        host, until = netloc(url), asyncio.get_running_loop().time() + deadline
        await self._check_robots_txt(url, deadline)
        while True:
            await self._pace.wait(host, until)
            if await self._pace.take(host):
                return

    async def forget(self, url: str) -> None:
        """Remove `url` from the cache, for example after a block page."""
        await self._http.forget(url)

    def remark(self, url: str) -> str:
        """Explain why a page was fetched although robots.txt disallows it; "" if it is allowed."""
        return self._remarks.get(url, "")

    async def sitemaps(self, url: str) -> tuple[str, ...]:
        """Return the sitemaps listed in the site's robots.txt; none if robots.txt is ignored."""
        return tuple((await self._rules_for(url)).sitemaps)

    async def _check_robots_txt(self, url: str, deadline: float | None) -> None:
        """Raise Refused for a page that robots.txt disallows, and store its crawl delay.

        If robots.txt is missing (4xx), everything is allowed; if it cannot be fetched (5xx, no
        answer), nothing is.
        """
        try:
            async with asyncio.timeout(deadline):
                rules = await self._rules_for(url)
        except TimeoutError as error:
            raise DeadlineExceeded(f"the robots.txt of {url} took too long") from error
        if not rules.can_fetch(url, _ROBOTS_USER_AGENT):
            reason = f"robots.txt does not allow {url}"
            if rules is _RULES_NOT_FETCHED or rules is _RULES_UNAVAILABLE:
                reason = f"could not fetch the robots.txt for {url}"
            if not self._is_named(url):
                hint = "Try another source; for your own site, use --ignore-robots."
                raise Refused(reason, hint=hint)
            self._remarks[url] = f"{reason}; it was read because the user named this address"
        rate = rules.request_rate(_ROBOTS_USER_AGENT)
        delay = float(rules.crawl_delay(_ROBOTS_USER_AGENT) or 0.0)
        if rate and rate.requests:
            delay = max(delay, rate.seconds / rate.requests)
        if delay:
            self._pace.delays[netloc(url)] = delay

    async def _rules_for(self, url: str) -> Protego:
        """Return the rules of a page's origin; concurrent callers share one request for them."""
        parsed = parse(url)
        if not self._obey_robots or parsed is None or parsed.scheme not in WEB_SCHEMES:
            return _ALLOW_ALL
        task = self._rules.get(parsed.origin)
        if task is None or task.cancelled():
            task = asyncio.create_task(self._fetch(parsed.origin))
            self._rules[parsed.origin] = task
            # If all callers were cancelled, nothing retrieves its error, and asyncio would warn.
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
        rules = _RULES_NOT_FETCHED
        try:
            rules = await asyncio.shield(task)
        finally:  # after a failure, the next call fetches it again
            if (
                rules is _RULES_NOT_FETCHED
                and task.done()
                and self._rules.get(parsed.origin) is task
            ):
                del self._rules[parsed.origin]
        return rules

    async def _fetch(self, origin: str) -> Protego:
        try:
            answer = await self._http.get(
                f"{origin}/robots.txt", deadline=_DEADLINE_S, max_bytes=_MAX_BYTES, cached=True
            )
        except (ConnectFailed, NoAnswer):  # the page could not be fetched either
            raise
        except BrowserError:
            return _RULES_NOT_FETCHED
        if answer.ok:
            return Protego.parse(answer.body.decode("utf-8-sig", "replace"))
        return _ALLOW_ALL if 400 <= answer.status < 500 else _RULES_UNAVAILABLE
