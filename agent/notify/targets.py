"""Telling people: to each target by its form, side by side, each with its own outcome.

mailto:ann@example.org            by the mail server of `smtp-url`
https://example.org/hook#MY_KEY   a webhook, signed with the key that is kept as MY_KEY
desktop:                          on the desktop of this machine
feed:/srv/www/news.xml            an Atom feed
NAME:WHERE                        a channel of that name, where the caller hands in its way
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import ResearchError, UsageError
from agent.notify.atom_feed import add_entry
from agent.notify.desktop import show
from agent.notify.mail_sender import MailServer, address, mail_of, send_mail
from agent.notify.notice import Delivery
from agent.notify.service_client import BACKOFF_S, ServiceClient
from agent.notify.webhook import key_of, post_notice
from browser.errors import BrowserError
from browser.net.egress import Egress, EgressPolicy
from browser.net.url import parse

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from agent.config import Options
    from agent.notify.notice import Notice

Way = Callable[[str, "Notice"], Awaitable[None]]
"""Takes what stands behind the scheme, and the notice; raises what `notify` then tells."""

_HOOK_S = 15.0
"""Seconds: a receiver takes a notice first and works on it afterwards."""
_FORMS = "mailto:ADDRESS, https://…, desktop:, feed:FILE, or CHANNEL:WHERE"


async def notify(
    targets: Sequence[str],
    notice: Notice,
    options: Options,
    *,
    environ: Mapping[str, str] | None = None,
    ways: Mapping[str, Way] | None = None,
    backoff: float = BACKOFF_S,
) -> tuple[Delivery, ...]:
    """Tell each target; what fails at one is its outcome, and stops no other.

    `ways` are further schemes, those of channels among them; `backoff` is the first wait (s) before
    another try. Outcomes stand in the targets' order.
    """
    teller = _Teller(
        notice, options, os.environ if environ is None else environ, ways or {}, backoff
    )
    return tuple(await asyncio.gather(*map(teller.told, targets)))


def check_target(
    target: str, options: Options, environ: Mapping[str, str], ways: Collection[str] = ()
) -> None:
    """Raise `UsageError` for a target that no notice could go to as things are set now."""
    scheme, _, rest = target.partition(":")
    if scheme == "mailto":
        MailServer.of(options.smtp_url, environ)
        _addresses(rest)
    elif scheme in {"http", "https"}:
        key_of(target, environ)
    elif scheme == "feed":
        _file(rest)
    elif scheme not in {"desktop", *ways}:
        raise UsageError(f"{target!r} is nowhere that can be told", hint=f"There are {_FORMS}.")


@dataclass(frozen=True, slots=True)
class _Teller:
    notice: Notice
    options: Options
    environ: Mapping[str, str]
    ways: Mapping[str, Way]
    backoff: float

    async def told(self, target: str) -> Delivery:
        """Tell one target; gives what became of it."""
        shown = target.partition("#")[0]
        try:
            check_target(target, self.options, self.environ, self.ways)
            await self._tell(target)
        except (ResearchError, BrowserError) as error:
            return Delivery(shown, sent=False, detail=f"{error}. {error.hint}".strip())
        return Delivery(shown, sent=True)

    async def _tell(self, target: str) -> None:
        scheme, _, rest = target.partition(":")
        if scheme in self.ways:
            await self.ways[scheme](rest, self.notice)
        elif scheme == "desktop":
            await show(self.notice, self.environ)
        elif scheme == "feed":
            await asyncio.to_thread(add_entry, _file(rest), self.notice)
        elif scheme == "mailto":
            await self._mail(_addresses(rest))
        else:
            await self._post(target)

    async def _mail(self, to: Sequence[str]) -> None:
        server = MailServer.of(self.options.smtp_url, self.environ)
        async with Egress(only(self.options, server.place)) as egress:
            await send_mail(
                mail_of(self.notice, server.sender, to), server, egress.proxy_url, self.backoff
            )

    async def _post(self, target: str) -> None:
        url, key = key_of(target, self.environ)
        policy = only(self.options, place_of(url))
        async with (
            Egress(policy) as egress,
            ServiceClient(egress, timeout=_HOOK_S, backoff=self.backoff) as service,
        ):
            await post_notice(self.notice, url, key, service)


def only(options: Options, *places: str) -> EgressPolicy:
    """Let these `host:port` be reached and nothing else: the person named them."""
    return EgressPolicy(
        allow_hosts=places,
        deny_hosts=options.deny,
        allow_private=places,
        upstream_proxy=options.proxy,
    )


def place_of(url: str) -> str:
    """Give `host:port` of an address, the scheme's own port too. Raises `UsageError`."""
    parsed = parse(url)
    if parsed is None or not parsed.host:
        raise UsageError(f"{url!r} is no address", hint="Write it as https://example.org.")
    return (
        f"[{parsed.host}]:{parsed.port}" if ":" in parsed.host else f"{parsed.host}:{parsed.port}"
    )


def _addresses(text: str) -> list[str]:
    return [address(one) for one in text.partition("?")[0].split(",")]


def _file(text: str) -> Path:
    path = Path(text.removeprefix("//")).expanduser()
    if path.suffix not in {".xml", ".atom"}:
        raise UsageError(f"{text!r} is no file of a feed", hint="Write it as feed:/path/news.xml.")
    return path
