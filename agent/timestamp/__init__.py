"""When something was known: a time that somebody outside vouches for.

Two ways: an authority signs (RFC 3161), or OpenTimestamps calendars put it into the next block of
the Bitcoin chain. What is stamped is a SHA-256 digest, the head of a sealed log for instance:
nobody asked ever sees more. `check` reads the tokens of both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.timestamp import calendars, rfc3161
from agent.timestamp.types import Stamp, TimestampFailed, TimestampInvalid

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["Stamp", "TimestampFailed", "TimestampInvalid", "calendars", "check", "rfc3161"]


def check(
    token: bytes,
    digest: bytes,
    roots: Path | None = None,
    blocks: Mapping[int, bytes] | None = None,
) -> Stamp:
    """Check that a token stamps this SHA-256 digest; raises `TimestampInvalid`.

    `roots` is a file of certificates that vouch for authorities, `blocks` are headers of Bitcoin
    blocks by height, got from where the person trusts them to be right.
    """
    if calendars.is_proof(token):
        return calendars.check(token, digest, blocks or {})
    return rfc3161.check(token, digest, roots)
