"""Undoing `Content-Encoding` under a limit: a few kilobytes must not become gigabytes.

Each decoder is asked for a bounded piece at a time, so that memory is limited by the cap, never
by what the sender packed. Chained encodings (`gzip, gzip`) are refused: no honest server
sends them, and they multiply the ratio.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator
from io import BytesIO

import brotli  # type: ignore[import-untyped]  # it comes without stubs

from browser.errors import BadResponse, TooLarge

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ACCEPT_ENCODING = "gzip, deflate, br, zstd"

_PIECE = 64 * 1024
# RFC 9659: content coding zstd keeps its window within 8 MB
_ZSTD_WINDOW_LOG = 23


# A stream decoder: compressed bytes in, pieces of at most `_PIECE` bytes (or so) out; it raises
# one of `_BROKEN`.
_Decode = Callable[[bytes], Iterator[bytes]]


class Body:
    """A body as it arrives: decoded, kept, and cut off at `limit` bytes of either form."""

    def __init__(self, encoding: str, limit: int) -> None:
        """Raises BadResponse for chained encodings."""
        self._decode = _decoder(encoding)
        self._encoding = encoding
        self._limit = limit
        self._raw = 0
        self._kept = BytesIO()

    def feed(self, data: bytes) -> None:
        """Take raw bytes. Raises TooLarge past the limit, BadResponse for broken encodings."""
        self._raw += len(data)
        self._check(self._raw)
        try:
            for piece in self._decode(data):
                self._check(self._kept.tell() + len(piece))
                self._kept.write(piece)
        except _BROKEN as error:
            raise BadResponse(f"the body is not the {self._encoding} it claims: {error}") from error

    def content(self) -> bytes:
        """Return what has come; a stream cut short by its sender counts as far as it goes."""
        return self._kept.getvalue()

    def _check(self, size: int) -> None:
        if size > self._limit:
            raise TooLarge(f"the body is larger than {self._limit:,} bytes")


class _Inflate:
    """Gzip (several members one after the other) or, by its window bits, plain zlib."""

    def __init__(self, window_bits: int) -> None:
        self._window_bits = window_bits
        self._inflate = zlib.decompressobj(window_bits)

    def feed(self, data: bytes) -> Iterator[bytes]:
        full = False  # a full piece may leave output waiting with no input left
        while data or full:
            if self._inflate.eof and not self._next_member(data):
                return
            piece = self._inflate.decompress(data, _PIECE)
            full = len(piece) == _PIECE
            data = self._inflate.unconsumed_tail or self._inflate.unused_data
            yield piece

    def _next_member(self, data: bytes) -> bool:
        """Make ready for another gzip member; what else follows the end is padding."""
        if self._window_bits != _GZIP or not data.startswith(b"\x1f"):
            return False
        self._inflate = zlib.decompressobj(_GZIP)
        return True


class _Deflate:
    """Deflate in zlib's wrapping, as the RFC has it, or bare, as half the servers had it."""

    def __init__(self) -> None:
        self._head = b""
        self._inflate: _Inflate | None = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._inflate is None:
            data = self._head = self._head + data
            if len(data) < 2:
                return
            # RFC 1950: method 8, and the first two bytes are a multiple of 31
            wrapped = data[0] & 0x0F == 8 and int.from_bytes(data[:2]) % 31 == 0
            self._inflate = _Inflate(zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)
            self._head = b""
        yield from self._inflate.feed(data)


class _Brotli:
    def __init__(self) -> None:
        self._decompressor = brotli.Decompressor()

    def feed(self, data: bytes) -> Iterator[bytes]:
        # `can_accept_more_data` tells of unread input only; output may be waiting all the same
        while not self._decompressor.is_finished():
            piece = self._decompressor.process(data, output_buffer_limit=_PIECE)
            if not piece and self._decompressor.can_accept_more_data():
                return
            data = b""
            yield piece


class _Zstd:
    def __init__(self) -> None:
        self._decompressor = self._fresh()

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data or not self._decompressor.needs_input:
            if self._decompressor.eof:
                data = data or self._decompressor.unused_data
                if not data:
                    return
                self._decompressor = self._fresh()
            yield self._decompressor.decompress(data, max_length=_PIECE)
            data = self._decompressor.unused_data

    def _fresh(self) -> zstd.ZstdDecompressor:
        limit: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG}
        return zstd.ZstdDecompressor(options=limit)


_GZIP = zlib.MAX_WBITS | 16
_BROKEN = (zlib.error, brotli.error, zstd.ZstdError)


def _decoder(encoding: str) -> _Decode:
    names = [name.strip().lower() for name in encoding.split(",")]
    names = [name for name in names if name not in {"", "identity", "none"}]
    if len(names) > 1:
        raise BadResponse(f"chained content encodings are refused: {encoding[:100]}")
    match names:
        case ["gzip" | "x-gzip"]:
            return _Inflate(_GZIP).feed
        case ["deflate"]:
            return _Deflate().feed
        case ["br"]:
            return _Brotli().feed
        case ["zstd"]:
            return _Zstd().feed
        case _:
            # `utf-8` and other misunderstandings are taken for none, as browsers do
            return lambda data: iter([data])
