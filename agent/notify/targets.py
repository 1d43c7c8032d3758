"""Telling people: to each target by its form, side by side, each with its own outcome.

mailto:ann@example.org            by the mail server of `smtp-url`
https://example.org/hook#MY_KEY   a webhook, signed with the key that is kept as MY_KEY
desktop:                          on the desktop of this machine
feed:/srv/www/news.xml            an Atom feed
NAME:WHERE                        a channel of that name, where the caller hands in its way
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import json
import os
import shutil
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.errors import NotSent, ResearchError, UsageError
from agent.notify.atom_feed import add_entry
from agent.notify.mail_sender import MailServer, build_mail, is_near, parse_address, send_mail
from agent.notify.notice import Delivery
from agent.notify.service_client import BACKOFF_S, ServiceClient
from browser.errors import BrowserError
from browser.net.egress import Egress, EgressPolicy
from browser.net.guard import AddressKind
from browser.net.url import parse

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from agent.config import Options
    from agent.notify.notice import Notice

Sender = Callable[[str, "Notice"], Awaitable[None]]
"""Takes what stands behind the scheme, and the notice; raises what `notify` then tells."""

SECRET = "WEBHOOK_SECRET"  # noqa: S105 - the variable's name
_BASE64 = "whsec_"
_HOOK_S = 15.0
"""Seconds: a receiver takes a notice first and works on it afterwards."""
_FORMS = "mailto:ADDRESS, https://…, desktop:, feed:FILE, or CHANNEL:WHERE"
_SHOWN_CHARS = 400
"""What desktops show before they cut."""
_SHOW_S = 10.0
_MAC = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"


async def notify(
    targets: Sequence[str],
    notice: Notice,
    options: Options,
    *,
    environ: Mapping[str, str] | None = None,
    ways: Mapping[str, Sender] | None = None,
    backoff: float = BACKOFF_S,
) -> tuple[Delivery, ...]:
    """Tell each target; what fails at one is its outcome, and stops no other.

    `ways` are further schemes, those of channels among them; `backoff` is the first wait (s) before
    another try. Outcomes stand in the targets' order.
    """
    secrets, further = os.environ if environ is None else environ, ways or {}

    async def deliver(target: str) -> Delivery:
        scheme, _, rest = target.partition(":")
        shown = target.partition("#")[0]
        try:
            if scheme in further:
                await further[scheme](rest, notice)
            else:
                await _sender(target, options, secrets, backoff)(notice)
        except (ResearchError, BrowserError) as error:
            return Delivery(shown, sent=False, detail=f"{error}. {error.hint}".strip())
        return Delivery(shown, sent=True)

    return tuple(await asyncio.gather(*map(deliver, targets)))


def check_target(
    target: str, options: Options, environ: Mapping[str, str], ways: Collection[str] = ()
) -> None:
    """Raise `UsageError` for a target that no notice could go to as things are set now."""
    if target.partition(":")[0] not in ways:
        _sender(target, options, environ, BACKOFF_S)


def _sender(
    target: str, options: Options, environ: Mapping[str, str], backoff: float
) -> Callable[[Notice], Awaitable[None]]:
    """Find what sends to a target, everything about it checked. Raises `UsageError`."""
    scheme, _, rest = target.partition(":")
    if scheme == "mailto":
        server = MailServer.from_url(options.smtp_url, environ)
        addresses = [parse_address(one) for one in rest.partition("?")[0].split(",")]
        return partial(_mail, server, addresses, options, backoff)
    if scheme in {"http", "https"}:
        url, key = _url_and_key(target, environ)
        return partial(_post, url, key, options, backoff)
    if scheme == "desktop":
        return partial(_show, environ)
    if scheme == "feed":
        path = Path(rest.removeprefix("//")).expanduser()
        if path.suffix in {".xml", ".atom"}:
            return lambda notice: asyncio.to_thread(add_entry, path, notice)
        hint = "Write it as feed:/path/news.xml."
        raise UsageError(f"{rest!r} is no file of a feed", hint=hint)
    raise UsageError(f"{target!r} is nowhere that can be told", hint=f"There are {_FORMS}.")


def _only(options: Options, place: str) -> EgressPolicy:
    """Let one `host:port` be reached and nothing else: the person named it."""
    return EgressPolicy(
        allow_hosts=(place,),
        deny_hosts=options.deny,
        allow_private=(place,),
        upstream_proxy=options.proxy,
    )


def host_and_port(url: str) -> str:
    """The `host:port` of an address, the scheme's own port too. Raises `UsageError`."""
    parsed = parse(url)
    if parsed is None or not parsed.host:
        raise UsageError(f"{url!r} is no address", hint="Write it as https://example.org.")
    host = f"[{parsed.host}]" if ":" in parsed.host else parsed.host
    return f"{host}:{parsed.port}"


async def _mail(
    server: MailServer, to: Sequence[str], options: Options, backoff: float, notice: Notice
) -> None:
    async with Egress(_only(options, server.place)) as egress:
        await send_mail(build_mail(notice, server.sender, to), server, egress.proxy_url, backoff)


# Webhooks, signed as standardwebhooks.com says, which libraries of most languages check


def _url_and_key(url: str, environ: Mapping[str, str]) -> tuple[str, bytes]:
    """Split off the fragment, which may name the variable of the key; give the key as well.

    Raises `UsageError` where there is none, or the report would go over the net in the clear.
    """
    parsed = parse(url)
    if parsed is None or not parsed.host:
        raise UsageError(f"{url!r} is no web address", hint="Write it as https://example.org/hook.")
    # Beside this machine, a network at home may do without TLS.
    if parsed.scheme != "https" and not is_near(parsed.host, AddressKind.PRIVATE):
        raise UsageError(f"{parsed.host} would get the text in the clear", hint="Use https.")
    variable = parsed.fragment.removeprefix("#") or SECRET
    value = environ.get(variable, "")
    if not value:
        said = f"{variable} is not set, with which notices to {parsed.host} are signed"
        raise UsageError(said, hint=f"`research keys set {variable}` keeps it.")
    key = value.encode()
    if value.startswith(_BASE64):
        try:
            key = base64.b64decode(value.removeprefix(_BASE64), validate=True)
        except binascii.Error as error:
            raise UsageError(f"a key that begins with {_BASE64} goes on in base64") from error
    return parsed.href.removesuffix(parsed.fragment), key


async def _post(url: str, key: bytes, options: Options, backoff: float, notice: Notice) -> None:
    """Post a notice; a receiver that gets it twice tells by `webhook-id`. Raises `NotSent`."""
    files = [
        {"name": f.name, "media_type": f.media_type, "base64": base64.b64encode(f.body).decode()}
        for f in notice.files
    ]
    data = {"title": notice.subject, "text": notice.text, "url": notice.url, "files": files}
    event = {"type": "research.notice", "timestamp": notice.at.isoformat(), "data": data}
    body = json.dumps(event).encode()
    sending: dict[str, Any] = {"content": body, "headers": sign(notice.id, body, key)}
    async with (
        Egress(_only(options, host_and_port(url))) as egress,
        ServiceClient(egress, timeout=_HOOK_S, backoff=backoff) as service,
    ):
        answer = await service.call("POST", url, repeatable=True, **sending)
    if not answer.is_success:
        raise NotSent(f"{answer.url.host} answered {answer.status_code} {answer.reason_phrase}")


def sign(name: str, body: bytes, key: bytes, *, at: int | None = None) -> dict[str, str]:
    """Make the headers that sign a body; `at` is the time in seconds since 1970, now by default."""
    stamp = str(int(time.time()) if at is None else at)
    mac = hmac.new(key, b".".join((name.encode(), stamp.encode(), body)), hashlib.sha256)
    return {
        "Content-Type": "application/json",
        "webhook-id": name,
        "webhook-timestamp": stamp,
        "webhook-signature": f"v1,{base64.b64encode(mac.digest()).decode()}",
    }


async def _show(environ: Mapping[str, str], notice: Notice) -> None:
    """Show a notice on the desktop. Raises `NotSent` where there is none, or it takes none."""
    text = notice.text
    text = text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 1]}…"
    if sys.platform == "darwin":
        command = ["osascript", "-e", _MAC, "--", notice.subject, text]
    else:
        program = shutil.which("notify-send", path=environ.get("PATH"))
        if program is None:
            raise NotSent("there is no desktop here", hint="notify-send shows notices on Linux.")
        # Servers of notifications read the text as markup.
        plain = escape(text, quote=False)
        command = [program, "--app-name=Urchin", "--", notice.subject, plain]
    process = await asyncio.create_subprocess_exec(
        *command,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env=dict(environ),
    )
    try:
        async with asyncio.timeout(_SHOW_S):
            _, said = await process.communicate()
    except TimeoutError as error:
        process.kill()
        await process.wait()
        raise NotSent(f"{command[0]} did not come to an end") from error
    if process.returncode:
        raise NotSent(f"{command[0]}: {said.decode('utf-8', 'replace').strip()[:200]}")
