"""Content encodings: each is decoded, in any slicing, and never past the limit."""

from __future__ import annotations

import asyncio
import gzip
import sys
import zlib
from typing import TYPE_CHECKING

import brotli
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from browser.errors import BadResponse, TooLarge
from browser.net.transport import read_body

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable


def bare_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def as_two_members(pack: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    return lambda data: pack(data[: len(data) // 2]) + pack(data[len(data) // 2 :])


ENCODINGS = {
    "": bytes,
    "identity": bytes,
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "GZIP": lambda data: gzip.compress(data) + b"\0\0\0",
    "deflate": zlib.compress,
    "Deflate": bare_deflate,
    "br": brotli.compress,
    "zstd": zstd.compress,
    "identity, zstd": as_two_members(zstd.compress),
    "utf-8": bytes,
}
LIMIT = 10_000_000


class Slices(httpx2.AsyncByteStream):
    """A body that arrives in slices."""

    def __init__(self, packed: bytes, slice_at: int) -> None:
        self._slices = [packed[at : at + slice_at] for at in range(0, len(packed), slice_at)]

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._slices:
            yield piece


def decode(encoding: str, packed: bytes, *, slice_at: int, limit: int = LIMIT) -> bytes:
    headers = {"content-encoding": encoding}
    response = httpx2.Response(200, headers=headers, stream=Slices(packed, slice_at))
    return asyncio.run(read_body(response, limit))


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("slice_at", [7, 1000, 65_536, LIMIT])
@pytest.mark.sample(15)
def test_every_encoding_round_trips_in_any_chunk_size(encoding: str, slice_at: int) -> None:
    data = b"".join(b"%d tides of %d, " % (n * n, n % 7) for n in range(2_000)) + b"x" * 200_000
    assert decode(encoding, ENCODINGS[encoding](data), slice_at=slice_at) == data


@given(
    encoding=st.sampled_from(list(ENCODINGS)),
    data=st.binary(max_size=2_000),
    repeat=st.integers(1, 300),
    slice_at=st.integers(2, 5_000),  # two bytes show whether deflate has a header
)
def test_arbitrary_bytes_round_trip(encoding: str, data: bytes, repeat: int, slice_at: int) -> None:
    if encoding == "GZIP" and not data:
        return  # what follows an empty member is no padding worth the name
    assert decode(encoding, ENCODINGS[encoding](data * repeat), slice_at=slice_at) == data * repeat


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", ""])
def test_limit_applies_to_decoded_body(encoding: str) -> None:
    packed = ENCODINGS[encoding](b"x" * 1_000_000)
    assert len(decode(encoding, packed, slice_at=4096, limit=1_000_000)) == 1_000_000
    with pytest.raises(TooLarge):
        decode(encoding, packed, slice_at=4096, limit=999_999)


@pytest.mark.parametrize("encoding", ["gzip, gzip", "br, gzip", "gzip,zstd", "gzip, identity, br"])
def test_chained_encodings_are_rejected(encoding: str) -> None:
    with pytest.raises(BadResponse, match="chained"):
        decode(encoding, b"", slice_at=LIMIT)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_mislabelled_encoding_raises_bad_response(encoding: str) -> None:
    with pytest.raises(BadResponse, match=encoding):
        decode(encoding, b"<html>not packed at all</html>" * 100, slice_at=LIMIT)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br"])
def test_truncated_stream_yields_decoded_prefix(encoding: str) -> None:
    data = bytes(range(256)) * 2_000
    packed = ENCODINGS[encoding](data)
    assert data.startswith(decode(encoding, packed[: len(packed) // 2], slice_at=LIMIT))


@given(st.binary(max_size=500), st.sampled_from(["gzip", "deflate", "br", "zstd"]))
def test_garbage_is_decoded_or_rejected(data: bytes, encoding: str) -> None:
    try:
        assert len(decode(encoding, data, slice_at=LIMIT)) <= LIMIT
    except (BadResponse, TooLarge):
        return


def test_trailing_bytes_count_towards_limit() -> None:
    packed = gzip.compress(b"x") + bytes(2_000_000)
    with pytest.raises(TooLarge):
        decode("gzip", packed, slice_at=4096, limit=1_000_000)
