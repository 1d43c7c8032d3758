"""Timestamps for digests, from authorities (RFC 3161) or OpenTimestamps calendars.

An authority signs the time; calendars commit the digest to a Bitcoin block. Both services see only
a SHA-256 digest. Their clients are plug-ins (`urchin.timestamps`) in the package `urchin-extras`:
modules with the functions `stamp` and `check`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx2

from agent.config import find_plugin
from agent.errors import ResearchError, UsageError
from browser.net.transport import certificates
from browser.plugins import extras_hint

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

TIMEOUT_SECONDS = 20.0  # a timestamp takes about one second
_MAX_BYTES = 100_000  # of a response; a token with its certificates has about 5,000
_OPENTIMESTAMPS_HEADER = b"\x00OpenTimestamps\x00"


@dataclass(frozen=True, slots=True)
class Stamp:
    """A statement that a digest existed at a certain time (UTC), and who attests it.

    `when` is None until a time is attested; until then `note` explains what is missing.
    """

    when: datetime | None
    authority: str
    note: str = ""

    def __str__(self) -> str:
        """Format the time and authority, to follow "existed at"; the note if there is no time."""
        if self.when is None:
            return self.note
        return f"{self.when:%Y-%m-%d %H:%M:%S} UTC, according to {self.authority}"


class TimestampFailed(ResearchError):
    """The timestamp service cannot be reached, refuses, or returns an invalid response."""

    exit_code = 6
    hint = "Nothing else is affected. Try again later, or use another service."


class TimestampInvalid(ResearchError):
    """A token does not prove that the digest existed at the time that the token states."""

    exit_code = 8
    hint = "If you trust the authority, pass its root certificate file with --roots."


def send_request(
    method: str, url: str, headers: dict[str, str], body: bytes | None, proxy: str | None
) -> tuple[int, bytes]:
    """Send a request to a timestamp service; returns status and body. Raises `TimestampFailed`."""
    # Compression is not accepted: a small body could unpack to a huge one.
    headers = {"Accept-Encoding": "identity", **headers}
    reply = b""
    try:
        with (
            httpx2.Client(
                proxy=proxy, timeout=TIMEOUT_SECONDS, trust_env=False, verify=certificates()
            ) as client,
            client.stream(method, url, content=body, headers=headers) as response,
        ):
            for part in response.iter_raw():
                reply += part
                if len(reply) > _MAX_BYTES:
                    raise TimestampFailed(
                        f"{response.url} sent a response that is too large for a timestamp"
                    )
            return response.status_code, reply
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise TimestampFailed(f"{url} returned no timestamp: {error}") from error


def load_timestamper(name: str) -> Any:
    """Load the plug-in `rfc3161` or `opentimestamps`; raises `UsageError` if it is missing."""
    found = find_plugin("timestamps", name)
    if found is None:
        raise UsageError("timestamp support is not installed", hint=extras_hint("timestamps"))
    return found


def is_opentimestamps_proof(token: bytes) -> bool:
    """Return whether a token is an OpenTimestamps proof rather than an authority's token."""
    return token.startswith(_OPENTIMESTAMPS_HEADER)


def check(
    token: bytes,
    digest: bytes,
    roots: Path | None = None,
    blocks: Mapping[int, bytes] | None = None,
) -> Stamp:
    """Check that a token of either kind stamps this SHA-256 digest; raises `TimestampInvalid`.

    `roots` is a file of trusted root certificates for authorities; `blocks` maps heights to Bitcoin
    block headers, from a source that the user trusts.
    """
    if is_opentimestamps_proof(token):
        found: Stamp = load_timestamper("opentimestamps").check(token, digest, blocks or {})
    else:
        found = load_timestamper("rfc3161").check(token, digest, roots)
    return found
