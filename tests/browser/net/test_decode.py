"""Content encodings: every one decoded, in any slicing, and never past the limit."""

from __future__ import annotations

import gzip
import zlib
from typing import TYPE_CHECKING

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from browser.errors import BadResponse, TooLarge
from browser.net.decode import Body, zstd

if TYPE_CHECKING:
    from collections.abc import Callable


def bare_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def in_two_members(pack: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    return lambda data: pack(data[: len(data) // 2]) + pack(data[len(data) // 2 :])


ENCODINGS = {
    "": bytes,
    "identity": bytes,
    "gzip": gzip.compress,
    "x-gzip": in_two_members(gzip.compress),
    "GZIP": lambda data: gzip.compress(data) + b"\0\0\0",
    "deflate": zlib.compress,
    "Deflate": bare_deflate,
    "br": brotli.compress,
    "zstd": zstd.compress,
    "identity, zstd": in_two_members(zstd.compress),
    "utf-8": bytes,
}
LIMIT = 10_000_000


def decode(encoding: str, packed: bytes, *, slice_at: int, limit: int = LIMIT) -> bytes:
    body = Body(encoding, limit)
    for start in range(0, len(packed), slice_at):
        body.feed(packed[start : start + slice_at])
    return body.content()


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("slice_at", [7, 1000, 65_536, LIMIT])
def test_every_encoding_comes_back_whole_in_any_slicing(encoding: str, slice_at: int) -> None:
    data = b"".join(b"%d tides of %d, " % (n * n, n % 7) for n in range(2_000)) + b"x" * 200_000
    assert decode(encoding, ENCODINGS[encoding](data), slice_at=slice_at) == data


@given(
    encoding=st.sampled_from(list(ENCODINGS)),
    data=st.binary(max_size=2_000),
    repeat=st.integers(1, 300),
    slice_at=st.integers(1, 5_000),
)
def test_any_bytes_survive(encoding: str, data: bytes, repeat: int, slice_at: int) -> None:
    if encoding == "GZIP" and not data:
        return  # what follows an empty member is no padding worth the name
    assert decode(encoding, ENCODINGS[encoding](data * repeat), slice_at=slice_at) == data * repeat


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", ""])
def test_the_limit_holds_for_the_decoded_body(encoding: str) -> None:
    packed = ENCODINGS[encoding](b"x" * 1_000_000)
    assert len(decode(encoding, packed, slice_at=4096, limit=1_000_000)) == 1_000_000
    with pytest.raises(TooLarge):
        decode(encoding, packed, slice_at=4096, limit=999_999)


@pytest.mark.parametrize("encoding", ["gzip, gzip", "br, gzip", "gzip,zstd", "gzip, identity, br"])
def test_chained_encodings_are_refused(encoding: str) -> None:
    with pytest.raises(BadResponse, match="chained"):
        Body(encoding, LIMIT)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_what_is_not_the_encoding_it_claims_is_a_bad_response(encoding: str) -> None:
    with pytest.raises(BadResponse, match=encoding):
        decode(encoding, b"<html>not packed at all</html>" * 100, slice_at=LIMIT)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_a_stream_cut_short_counts_as_far_as_it_goes(encoding: str) -> None:
    data = bytes(range(256)) * 2_000
    packed = ENCODINGS[encoding](data)
    assert data.startswith(decode(encoding, packed[: len(packed) // 2], slice_at=LIMIT))


@given(st.binary(max_size=500), st.sampled_from(["gzip", "deflate", "br", "zstd"]))
def test_garbage_is_decoded_or_refused_but_never_crashes(data: bytes, encoding: str) -> None:
    body = Body(encoding, LIMIT)
    try:
        body.feed(data)
    except (BadResponse, TooLarge):
        return
    assert len(body.content()) <= LIMIT
