"""What nobody can change unseen: a log sealed by hashes, and since when a digest is known.

Two ways vouch for a time: an authority signs (RFC 3161), or OpenTimestamps calendars put the digest
into a block of the Bitcoin chain. Nobody who is asked sees more than a SHA-256 digest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.sealing import opentimestamps, timestamping
from agent.sealing.timestamping import Stamp, TimestampFailed, TimestampInvalid

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["Stamp", "TimestampFailed", "TimestampInvalid", "check"]


def check(
    token: bytes,
    digest: bytes,
    roots: Path | None = None,
    blocks: Mapping[int, bytes] | None = None,
) -> Stamp:
    """Check that a token of either kind stamps this SHA-256 digest; raises `TimestampInvalid`.

    `roots` is a file of certificates that vouch for authorities, `blocks` are headers of Bitcoin
    blocks by height, got from where the person trusts them to be right.
    """
    if opentimestamps.is_proof(token):
        return opentimestamps.check(token, digest, blocks or {})
    return timestamping.check(token, digest, roots)
