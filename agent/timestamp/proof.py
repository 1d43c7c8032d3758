"""A proof of OpenTimestamps (`.ots`): what leads from a digest to promises and Bitcoin blocks.

The one module that needs the library `opentimestamps` (extra).
"""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bitcoin.core import CBlockHeader
from opentimestamps.calendar import DEFAULT_AGGREGATORS, DEFAULT_CALENDAR_WHITELIST
from opentimestamps.core.notary import (
    BitcoinBlockHeaderAttestation,
    PendingAttestation,
    VerificationError,
)
from opentimestamps.core.op import OpAppend, OpSHA256
from opentimestamps.core.serialize import (
    BytesDeserializationContext,
    BytesSerializationContext,
    DeserializationError,
)
from opentimestamps.core.timestamp import DetachedTimestampFile, Timestamp

from agent.timestamp.types import TimestampFailed, TimestampInvalid

if TYPE_CHECKING:
    from collections.abc import Iterator

PUBLIC: tuple[str, ...] = DEFAULT_AGGREGATORS
"""The calendars that the OpenTimestamps project names."""
_NONCE_BYTES = 16  # as the tool `ots` has it


class Proof:
    """A tree from one digest; its nodes are the library's `Timestamp`s, with `msg` the hash."""

    def __init__(self, file: Any) -> None:
        self._file = file

    @classmethod
    def begun(cls, digest: bytes) -> Proof:
        """Begin one of a SHA-256 digest that nobody has vouched for."""
        return cls(DetachedTimestampFile(OpSHA256(), Timestamp(digest)))

    @classmethod
    def read(cls, token: bytes) -> Proof:
        """Read an `.ots` file; raises `TimestampInvalid`."""
        try:
            return cls(DetachedTimestampFile.deserialize(BytesDeserializationContext(token)))
        except (DeserializationError, ValueError) as error:
            told = f"the timestamp does not hold: {error}"
            raise TimestampInvalid(told, hint="It was damaged since it was made.") from error

    def token(self) -> bytes:
        """Give it as the bytes of an `.ots` file."""
        out = BytesSerializationContext()
        self._file.serialize(out)
        return bytes(out.getbytes())

    def is_of(self, digest: bytes) -> bool:
        """Whether it is about this SHA-256 digest."""
        return bool(self._file.file_hash_op == OpSHA256() and self._file.file_digest == digest)

    def blinded(self) -> Any:
        """Add a node of the digest and a random number, which tells a calendar nothing."""
        number = self._file.timestamp.ops.add(OpAppend(secrets.token_bytes(_NONCE_BYTES)))
        return number.ops.add(OpSHA256())

    def promises(self) -> Iterator[tuple[Any, str]]:
        """Go through the nodes for which a calendar promised a block, with its URL."""
        for node in _nodes(self._file.timestamp):
            for attestation in node.attestations:
                if isinstance(attestation, PendingAttestation):
                    yield node, attestation.uri

    def blocks(self) -> list[tuple[int, bytes]]:
        """List the Bitcoin blocks that it leads to: height, and the Merkle root there must be."""
        return sorted(
            (attestation.height, message)
            for message, attestation in self._file.timestamp.all_attestations()
            if isinstance(attestation, BitcoinBlockHeaderAttestation)
        )


def grow(node: Any, reply: bytes, calendar: str) -> None:
    """Take what a calendar replied into a node; raises `TimestampFailed`."""
    try:
        node.merge(Timestamp.deserialize(BytesDeserializationContext(reply), node.msg))
    except (DeserializationError, ValueError) as error:
        raise TimestampFailed(f"{calendar} sent no timestamp: {error}") from error


def is_public(calendar: str) -> bool:
    """Whether the OpenTimestamps project names this calendar."""
    return calendar in DEFAULT_CALENDAR_WHITELIST


def time_of(header: bytes, height: int, root: bytes) -> int:
    """Give the time of a block (seconds since the epoch) whose header has this Merkle root.

    Raises `TimestampInvalid` where it has another.
    """
    with _invalid(height):
        parsed = CBlockHeader.deserialize(header)
        return int(BitcoinBlockHeaderAttestation(height).verify_against_blockheader(root, parsed))


@contextmanager
def _invalid(height: int) -> Iterator[None]:
    try:
        yield
    except VerificationError as error:
        told = f"the timestamp does not hold: Bitcoin block {height} is not the one it leads to"
        raise TimestampInvalid(told, hint="Is the header that of the block?") from error


def _nodes(node: Any) -> Iterator[Any]:
    yield node
    for below in node.ops.values():
        yield from _nodes(below)
