"""Delivers notices to several targets in parallel, each with its own outcome.

Target formats:

mailto:ann@example.org            through the mail server in `smtp-url`
https://example.org/hook#MY_KEY   a webhook, signed with the key stored as MY_KEY
desktop:                          on the desktop of this machine
feed:/srv/www/news.xml            an Atom feed
NAME:WHERE                        a channel with that name; the caller passes its sender
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
from agent.notify.mail_sender import MailServer, build_mail, is_local, parse_address, send_mail
from agent.notify.notice import Delivery
from agent.notify.service_client import ServiceClient
from browser.errors import BrowserError
from browser.net.egress import Egress, EgressPolicy
from browser.net.guard import AddressKind
from browser.net.url import parse
from browser.text.words import truncate

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from agent.notify.notice import Notice
    from agent.options import Options

Sender = Callable[[str, "Notice"], Awaitable[None]]
"""Sends a notice to a target, given without its scheme. Errors become the outcome."""

SECRET = "WEBHOOK_SECRET"  # noqa: S105 - the variable's name
_BASE64_KEY_PREFIX = "whsec_"
_WEBHOOK_TIMEOUT_S = 15.0
"""Timeout in seconds: a receiver should accept a notice before processing it."""
_TARGET_FORMATS = "mailto:ADDRESS, https://…, desktop:, feed:FILE, or CHANNEL:WHERE"
_MAX_DESKTOP_CHARS = 400
"""Maximum length of the text in characters; desktops truncate longer texts."""
_DESKTOP_TIMEOUT_S = 10.0  # seconds for the desktop's notification command
_MAC_SCRIPT = (
    "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"
)


async def notify(
    targets: Sequence[str],
    notice: Notice,
    options: Options,
    *,
    environ: Mapping[str, str] | None = None,
    senders: Mapping[str, Sender] | None = None,
) -> tuple[Delivery, ...]:
    """Deliver a notice to each target; a failed delivery does not affect the others.

    `senders` deliver to other schemes, such as channels. Returns the outcomes in the order of
    the targets.
    """
    secrets, by_scheme = os.environ if environ is None else environ, senders or {}

    async def deliver(target: str) -> Delivery:
        scheme, _, rest = target.partition(":")
        name = target.partition("#")[0]  # the fragment names the key's variable
        try:
            if scheme in by_scheme:
                await by_scheme[scheme](rest, notice)
            else:
                await _sender(target, options, secrets)(notice)
        except (ResearchError, BrowserError) as error:
            return Delivery(name, sent=False, detail=f"{error}. {error.hint}".strip())
        return Delivery(name, sent=True)

    return tuple(await asyncio.gather(*map(deliver, targets)))


def check_target(
    target: str, options: Options, environ: Mapping[str, str], schemes: Collection[str] = ()
) -> None:
    """Raise `UsageError` for a target that cannot be used with these settings."""
    if target.partition(":")[0] not in schemes:
        _sender(target, options, environ)


def _sender(
    target: str, options: Options, environ: Mapping[str, str]
) -> Callable[[Notice], Awaitable[None]]:
    """Check a target and return the function that sends to it. Raises `UsageError`."""
    scheme, _, rest = target.partition(":")
    if scheme == "mailto":
        server = MailServer.from_url(options.smtp_url, environ)
        addresses = [parse_address(address) for address in rest.partition("?")[0].split(",")]
        return partial(_mail, server, addresses, options)
    if scheme in {"http", "https"}:
        url, key = _url_and_key(target, environ)
        return partial(_post, url, key, options)
    if scheme == "desktop":
        return partial(_show_on_desktop, environ)
    if scheme == "feed":
        path = Path(rest.removeprefix("//")).expanduser()
        if path.suffix in {".xml", ".atom"}:
            return lambda notice: asyncio.to_thread(add_entry, path, notice)
        hint = "Use a path such as feed:/path/news.xml."
        raise UsageError(f"{rest!r} is not a feed file", hint=hint)
    raise UsageError(
        f"{target!r} is not a valid notification target", hint=f"Use {_TARGET_FORMATS}."
    )


def _egress_policy(options: Options, host_port: str) -> EgressPolicy:
    """Allow only one `host:port`, which may be private because the user specified it."""
    return EgressPolicy(
        allow_hosts=(host_port,),
        deny_hosts=options.deny,
        allow_private=(host_port,),
        upstream_proxy=options.proxy,
    )


def host_and_port(url: str) -> str:
    """Return the `host:port` of a URL, with the scheme's default port. Raises `UsageError`."""
    parsed = parse(url)
    if parsed is None or not parsed.host:
        raise UsageError(f"{url!r} is not a URL", hint="Use a URL such as https://example.org.")
    host = f"[{parsed.host}]" if ":" in parsed.host else parsed.host
    return f"{host}:{parsed.port}"


async def _mail(server: MailServer, to: Sequence[str], options: Options, notice: Notice) -> None:
    async with Egress(_egress_policy(options, server.host_port)) as egress:
        await send_mail(build_mail(notice, server.sender, to), server, egress.proxy_url)


# Webhooks are signed as specified at standardwebhooks.com; most languages have libraries to verify
# this.


def _url_and_key(url: str, environ: Mapping[str, str]) -> tuple[str, bytes]:
    """Return a webhook's URL and key; the URL's fragment names the key's variable and is removed.

    Raises `UsageError` if there is no key, or if the text would leave the local network without
    TLS.
    """
    parsed = parse(url)
    if parsed is None or not parsed.host:
        raise UsageError(
            f"{url!r} is not a web address", hint="Use a URL such as https://example.org/hook."
        )
    # TLS is optional for this machine and private networks.
    if parsed.scheme != "https" and not is_local(parsed.host, AddressKind.PRIVATE):
        raise UsageError(
            f"the notification would be sent to {parsed.host} unencrypted", hint="Use https."
        )
    variable = parsed.fragment.removeprefix("#") or SECRET
    value = environ.get(variable, "")
    if not value:
        message = f"{variable} is not set; it is needed to sign notifications to {parsed.host}"
        raise UsageError(message, hint=f"`research keys set {variable}` stores it.")
    key = value.encode()
    if value.startswith(_BASE64_KEY_PREFIX):
        try:
            key = base64.b64decode(value.removeprefix(_BASE64_KEY_PREFIX), validate=True)
        except binascii.Error as error:
            raise UsageError(
                f"the part of a key after {_BASE64_KEY_PREFIX} must be base64"
            ) from error
    return parsed.href.removesuffix(parsed.fragment), key


async def _post(url: str, key: bytes, options: Options, notice: Notice) -> None:
    """Send a notice to a webhook. Raises `NotSent`.

    Retries are safe: a receiver recognises a repeated notice by its `webhook-id`.
    """
    files = [
        {"name": f.name, "media_type": f.media_type, "base64": base64.b64encode(f.body).decode()}
        for f in notice.files
    ]
    data = {"title": notice.subject, "text": notice.text, "url": notice.url, "files": files}
    event = {"type": "research.notice", "timestamp": notice.at.isoformat(), "data": data}
    body = json.dumps(event).encode()
    request: dict[str, Any] = {"content": body, "headers": sign(notice.id, body, key)}
    async with (
        Egress(_egress_policy(options, host_and_port(url))) as egress,
        ServiceClient(egress, timeout=_WEBHOOK_TIMEOUT_S) as service,
    ):
        response = await service.call("POST", url, repeatable=True, **request)
    if not response.is_success:
        status = f"{response.status_code} {response.reason_phrase}"
        raise NotSent(f"{response.url.host} returned {status}")


def sign(notice_id: str, body: bytes, key: bytes, *, at: int | None = None) -> dict[str, str]:
    """Return the headers that sign a body; `at` is the Unix time in seconds, now by default."""
    stamp = str(int(time.time()) if at is None else at)
    mac = hmac.new(key, b".".join((notice_id.encode(), stamp.encode(), body)), hashlib.sha256)
    return {
        "Content-Type": "application/json",
        "webhook-id": notice_id,
        "webhook-timestamp": stamp,
        "webhook-signature": f"v1,{base64.b64encode(mac.digest()).decode()}",
    }


async def _show_on_desktop(environ: Mapping[str, str], notice: Notice) -> None:
    """Show a notice on the desktop. Raises `NotSent` if there is no desktop, or on failure."""
    text = truncate(notice.text, _MAX_DESKTOP_CHARS)
    if sys.platform == "darwin":
        command = ["osascript", "-e", _MAC_SCRIPT, "--", notice.subject, text]
    else:
        program = shutil.which("notify-send", path=environ.get("PATH"))
        if program is None:
            raise NotSent("no desktop is available", hint="On Linux, install notify-send.")
        # Notification servers interpret the text as markup.
        escaped = escape(text, quote=False)
        command = [program, "--app-name=Urchin", "--", notice.subject, escaped]
    process = await asyncio.create_subprocess_exec(
        *command,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env=dict(environ),
    )
    try:
        async with asyncio.timeout(_DESKTOP_TIMEOUT_S):
            _, stderr = await process.communicate()
    except TimeoutError as error:
        process.kill()
        await process.wait()
        raise NotSent(f"{command[0]} did not finish") from error
    if process.returncode:
        raise NotSent(f"{command[0]}: {stderr.decode('utf-8', 'replace').strip()[:200]}")
