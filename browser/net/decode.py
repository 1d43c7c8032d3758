"""Decoding `Content-Encoding` under a limit: a few kilobytes must not become gigabytes.

Each decoder produces a bounded piece at a time, so that memory is bounded by the limit whatever the
sender packed. Chained encodings (`gzip, gzip`) are refused: no legitimate server sends them, and
they multiply the compression ratio.
"""

from __future__ import annotations

import sys
import zlib
from io import BytesIO
from typing import TYPE_CHECKING

import brotli  # type: ignore[import-untyped]  # it comes without stubs

from browser.errors import BadResponse, TooLarge

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ACCEPT_ENCODING = "gzip, deflate, br, zstd"

_CHUNK = 64 * 1024
_GZIP = zlib.MAX_WBITS | 16
# RFC 9659 limits the window of the content coding zstd to 8 MB.
_ZSTD_OPTIONS: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 23}
_DECODE_ERRORS = (zlib.error, brotli.error, zstd.ZstdError)


class Body:
    """Decodes and collects a body as it arrives; `limit` bytes hold for both forms of it."""

    def __init__(self, encoding: str, limit: int) -> None:
        """Raises BadResponse for chained encodings."""
        self._decode = _decoder(encoding)
        self._encoding = encoding
        self._limit = limit
        self._raw = 0
        self._decoded = BytesIO()

    def feed(self, data: bytes) -> None:
        """Add raw bytes. Raises TooLarge over the limit, BadResponse for broken encodings."""
        self._raw += len(data)
        self._check_size(self._raw)
        try:
            for piece in self._decode(data):
                self._check_size(self._decoded.tell() + len(piece))
                self._decoded.write(piece)
        except _DECODE_ERRORS as error:
            raise BadResponse(f"the body is not the {self._encoding} it claims: {error}") from error

    def content(self) -> bytes:
        """Return the decoded bytes so far; a truncated stream is no error."""
        return self._decoded.getvalue()

    def _check_size(self, size: int) -> None:
        if size > self._limit:
            raise TooLarge(f"the body is larger than {self._limit:,} bytes")


def _decoder(encoding: str) -> Callable[[bytes], Iterator[bytes]]:
    """Return a stream decoder: compressed bytes in, pieces of about `_CHUNK` bytes out."""
    names = [name.strip().lower() for name in encoding.split(",")]
    names = [name for name in names if name not in {"", "identity", "none"}]
    if len(names) > 1:
        raise BadResponse(f"chained content encodings are refused: {encoding[:100]}")
    match names:
        case ["gzip" | "x-gzip"]:
            return _Zlib(_GZIP).feed
        case ["deflate"]:
            return _Zlib().feed
        case ["br"]:
            return _Brotli().feed
        case ["zstd"]:
            return _Zstd().feed
        case _:
            # Values like `utf-8` are ignored, as browsers do.
            return lambda data: iter([data])


class _Zlib:
    """Gzip, which may have several members, or deflate, with or without a zlib header."""

    def __init__(self, window_bits: int = 0) -> None:
        self._window_bits = window_bits
        self._stream = zlib.decompressobj(window_bits) if window_bits else None

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._stream is None:
            if not data:
                return
            # RFC 1950: a zlib header has method 8. Half the servers send deflate without a header.
            wrapped = data[0] & 0x0F == 8
            self._stream = zlib.decompressobj(zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)
        full = False  # after a full piece output may remain even if there is no input left
        while data or full:
            if self._stream.eof:
                if self._window_bits != _GZIP or not data.startswith(b"\x1f"):
                    return  # the rest is padding
                self._stream = zlib.decompressobj(_GZIP)
            piece = self._stream.decompress(data, _CHUNK)
            full = len(piece) == _CHUNK
            data = self._stream.unconsumed_tail or self._stream.unused_data
            yield piece


class _Brotli:
    def __init__(self) -> None:
        self._stream = brotli.Decompressor()

    def feed(self, data: bytes) -> Iterator[bytes]:
        # `can_accept_more_data` is about input only: output may remain all the same.
        while not self._stream.is_finished():
            piece = self._stream.process(data, output_buffer_limit=_CHUNK)
            if not piece and self._stream.can_accept_more_data():
                return
            data = b""
            yield piece


class _Zstd:
    def __init__(self) -> None:
        self._stream = zstd.ZstdDecompressor(options=_ZSTD_OPTIONS)

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data or not self._stream.needs_input:
            if self._stream.eof:
                data = data or self._stream.unused_data
                if not data:
                    return
                self._stream = zstd.ZstdDecompressor(options=_ZSTD_OPTIONS)
            yield self._stream.decompress(data, max_length=_CHUNK)
            data = self._stream.unused_data
