"""RFC 3161 timestamps from a loopback authority."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from urchin_extras.rfc3161 import stamp

from agent.sealing import TimestampFailed, TimestampInvalid, check
from tests.timestamping import NAME, Authority, authority

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DIGEST = hashlib.sha256(b"the head of a log").digest()


@pytest.fixture
def stamping(tmp_path: Path) -> Iterator[Authority]:
    with authority(tmp_path) as running:
        yield running


def test_timestamp_has_time_and_authority(stamping: Authority) -> None:
    found = check(stamp(DIGEST, stamping.url), DIGEST, stamping.roots)
    assert (found.when, found.authority) == (stamping.says, NAME)


def test_timestamp_is_bound_to_one_digest(stamping: Authority) -> None:
    token = stamp(DIGEST, stamping.url)
    with pytest.raises(TimestampInvalid):
        check(token, hashlib.sha256(b"another head").digest(), stamping.roots)


def test_altered_timestamp_is_rejected(stamping: Authority) -> None:
    token = stamp(DIGEST, stamping.url)
    later = f"{stamping.says + timedelta(days=1):%Y%m%d%H%M%S}Z".encode()
    changed = token.replace(f"{stamping.says:%Y%m%d%H%M%S}Z".encode(), later)
    assert changed != token
    for bad in (changed, token[:-1], b"", b"no token"):
        with pytest.raises(TimestampInvalid):
            check(bad, DIGEST, stamping.roots)


def test_timestamp_without_trusted_root_is_rejected(stamping: Authority) -> None:
    token = stamp(DIGEST, stamping.url)
    with pytest.raises(TimestampInvalid, match="unable to get local issuer certificate"):
        check(token, DIGEST)


def test_timestamp_stays_valid_after_certificate_expiry(stamping: Authority) -> None:
    stamping.says -= timedelta(days=300)
    assert check(stamp(DIGEST, stamping.url), DIGEST, stamping.roots).when == stamping.says


def test_timestamp_predating_certificate_is_rejected(stamping: Authority) -> None:
    stamping.says -= timedelta(days=500)
    with pytest.raises(TimestampInvalid, match="not yet valid"):
        check(stamp(DIGEST, stamping.url), DIGEST, stamping.roots)


def test_authority_refusal_gives_its_reason(stamping: Authority) -> None:
    stamping.refuses = True
    with pytest.raises(TimestampFailed, match="not today"):
        stamp(DIGEST, stamping.url)


def test_timestamp_of_other_data_is_rejected(stamping: Authority) -> None:
    stamping.wrong = True
    with pytest.raises(TimestampFailed, match="different data"):
        stamp(DIGEST, stamping.url)


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/tsr", "nonsense", "ftp://a.example/"])
def test_unreachable_authority_raises_timestamp_failed(url: str) -> None:
    with pytest.raises(TimestampFailed):
        stamp(DIGEST, url)
