"""Asking over HTTP who stamps: one small request, one small reply."""

from __future__ import annotations

import httpx

from agent.timestamp.types import TimestampFailed
from browser.net.transport import certificates

SECONDS = 20.0  # who stamps answers in one; nobody waits for one that is down
_MOST_BYTES = 100_000  # a token with a chain of certificates has some 5,000


def ask(
    method: str,
    url: str,
    headers: dict[str, str],
    body: bytes | None = None,
    *,
    proxy: str | None = None,
) -> tuple[int, bytes]:
    """Send a request; gives status and body. Raises `TimestampFailed` where none comes."""
    sent = {"Accept-Encoding": "identity", **headers}
    try:
        with (
            httpx.Client(
                proxy=proxy, timeout=SECONDS, trust_env=False, verify=certificates()
            ) as client,
            client.stream(method, url, content=body, headers=sent) as answer,
        ):
            return answer.status_code, _bounded(answer)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise TimestampFailed(f"{url} gave no timestamp: {error}") from error


def _bounded(answer: httpx.Response) -> bytes:
    """Read what came, as it came: a packed reply could grow without end, and was not asked for."""
    body = b""
    for part in answer.iter_raw():
        body += part
        if len(body) > _MOST_BYTES:
            raise TimestampFailed(f"{answer.url} sent more than a timestamp has")
    return body
