"""Webhooks, signed as standardwebhooks.com says, which libraries of most languages check."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import TYPE_CHECKING, Any

from agent.errors import NotSent, UsageError
from browser.net.guard import AddressKind, classify
from browser.net.url import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.notify.notice import Notice
    from agent.notify.service_client import ServiceClient

SECRET = "WEBHOOK_SECRET"  # noqa: S105 - the variable's name
_BASE64 = "whsec_"


def key_of(url: str, environ: Mapping[str, str]) -> tuple[str, bytes]:
    """Give the address without its fragment, which may name the variable of the key, and the key.

    Raises `UsageError` where there is none, or the report would go over the net in the clear.
    """
    parsed = parse(url)
    if parsed is None or not parsed.host:
        raise UsageError(f"{url!r} is no web address", hint="Write it as https://example.org/hook.")
    if parsed.scheme != "https" and not _is_near(parsed.host):
        raise UsageError(f"{parsed.host} would get the text in the clear", hint="Use https.")
    variable = parsed.fragment.removeprefix("#") or SECRET
    value = environ.get(variable, "")
    if not value:
        said = f"{variable} is not set, with which notices to {parsed.host} are signed"
        raise UsageError(said, hint=f"`research keys set {variable}` keeps it.")
    return parsed.href.removesuffix(parsed.fragment), _key(value)


def _key(value: str) -> bytes:
    if not value.startswith(_BASE64):
        return value.encode()
    try:
        return base64.b64decode(value.removeprefix(_BASE64), validate=True)
    except binascii.Error as error:
        raise UsageError(f"a key that begins with {_BASE64} goes on in base64") from error


def _is_near(host: str) -> bool:
    try:
        return classify(host) in {AddressKind.LOOPBACK, AddressKind.PRIVATE}
    except ValueError:
        return host == "localhost"


async def post_notice(notice: Notice, url: str, key: bytes, service: ServiceClient) -> None:
    """Post a notice; a receiver that gets it twice tells by `webhook-id`. Raises `NotSent`."""
    body = json.dumps(_payload(notice)).encode()
    answer = await service.call(
        "POST", url, repeatable=True, content=body, headers=signed(notice.id, body, key)
    )
    if not answer.is_success:
        raise NotSent(f"{answer.url.host} answered {answer.status_code} {answer.reason_phrase}")


def signed(name: str, body: bytes, key: bytes, *, at: int | None = None) -> dict[str, str]:
    """Give the headers that sign a body; `at` is the time in seconds since 1970, now by default."""
    stamp = str(int(time.time()) if at is None else at)
    mac = hmac.new(key, b".".join((name.encode(), stamp.encode(), body)), hashlib.sha256)
    return {
        "Content-Type": "application/json",
        "webhook-id": name,
        "webhook-timestamp": stamp,
        "webhook-signature": f"v1,{base64.b64encode(mac.digest()).decode()}",
    }


def _payload(notice: Notice) -> dict[str, Any]:
    files = [
        {"name": f.name, "media_type": f.media_type, "base64": base64.b64encode(f.body).decode()}
        for f in notice.files
    ]
    data = {"title": notice.subject, "text": notice.text, "url": notice.url, "files": files}
    return {"type": "research.notice", "timestamp": notice.at.isoformat(), "data": data}
