"""A loopback OpenTimestamps calendar; its responses are written byte by byte, without a library.

The form is that of python-opentimestamps' `core/timestamp.py`: operations (0xf0 append, 0xf1
prepend, 0x08 SHA-256), then 0x00, the tag of an attestation, and its payload with its length.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.loopback import Handler, Server, serving

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

HEIGHT = 812_345
MINED = 1_697_500_000
"""When the block of this height says that it was made: 2023-10-16 23:46:40 UTC."""
_PENDING = bytes.fromhex("83dfe30d2ef90c8e")
_BITCOIN = bytes.fromhex("0588960d73d71901")
_SECRET = b"calendar"
_BESIDE = hashlib.sha256(b"the other leaf of the block").digest()


@dataclass
class Calendar:
    """A running calendar; `blocks` holds the headers of its blocks in hex.

    `mined` says whether there are any; `reply` is what it sends instead of the truth.
    """

    url: str = ""
    mined: bool = False
    reply: bytes | None = None
    seen: list[bytes] = field(default_factory=list)

    def promise(self, digest: bytes) -> bytes:
        """Record a digest; returns the path from it to the promise."""
        self.seen.append(digest)
        return (
            b"\xf0" + _sized(_SECRET) + b"\x08\x00" + _PENDING + _sized(_sized(self.url.encode()))
        )

    def block(self, commitment: bytes) -> bytes:
        """Return the path from a commitment to a block's Merkle root."""
        return b"\xf1" + _sized(_BESIDE) + b"\x08\x08\x00" + _BITCOIN + _sized(_number(HEIGHT))

    def header(self) -> str:
        """Return the header of the block that contains the first digest received."""
        commitment = _sha256(self.seen[0] + _SECRET)
        root = _sha256(_sha256(_BESIDE + commitment))
        parts = ((4).to_bytes(4, "little"), bytes(32), root, MINED.to_bytes(4, "little"), bytes(8))
        return b"".join(parts).hex()


def calendar() -> AbstractContextManager[Calendar]:
    """Run a calendar until the block ends."""
    return serving(_Handler, Calendar)


class _Handler(Handler):
    server: Server[Calendar]

    def post(self, body: bytes) -> None:
        assert self.path == "/digest"
        self._reply(200, self.server.site.promise(body))

    def get(self) -> None:
        running, commitment = self.server.site, bytes.fromhex(self.path.removeprefix("/timestamp/"))
        known = commitment in {_sha256(digest + _SECRET) for digest in running.seen}
        if known and running.mined:
            self._reply(200, running.block(commitment))
        else:
            self._reply(404, b"Pending confirmation in Bitcoin blockchain")

    def _reply(self, status: int, body: bytes) -> None:
        assert self.headers["Accept"] == "application/vnd.opentimestamps.v1"
        reply = self.server.site.reply
        self.send(status, "application/octet-stream", body if reply is None else reply)


def _sized(body: bytes) -> bytes:
    return _number(len(body)) + body


def _number(value: int) -> bytes:
    """Write a number in groups of seven bits, the lowest first (LEB128)."""
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + _number(rest) if rest else bytes([low])


def _sha256(body: bytes) -> bytes:
    return hashlib.sha256(body).digest()
