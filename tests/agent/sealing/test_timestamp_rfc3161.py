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


def test_a_stamp_says_who_vouches_for_what_time(stamping: Authority) -> None:
    found = check(stamp(DIGEST, stamping.url), DIGEST, stamping.roots)
    assert (found.when, found.authority) == (stamping.says, NAME)


def test_a_stamp_is_of_one_digest_alone(stamping: Authority) -> None:
    token = stamp(DIGEST, stamping.url)
    with pytest.raises(TimestampInvalid):
        check(token, hashlib.sha256(b"another head").digest(), stamping.roots)


def test_a_stamp_that_was_changed_does_not_hold(stamping: Authority) -> None:
    token = stamp(DIGEST, stamping.url)
    later = f"{stamping.says + timedelta(days=1):%Y%m%d%H%M%S}Z".encode()
    changed = token.replace(f"{stamping.says:%Y%m%d%H%M%S}Z".encode(), later)
    assert changed != token
    for bad in (changed, token[:-1], b"", b"no token"):
        with pytest.raises(TimestampInvalid):
            check(bad, DIGEST, stamping.roots)


def test_who_is_vouched_for_by_no_known_root_is_not_believed(stamping: Authority) -> None:
    token = stamp(DIGEST, stamping.url)
    with pytest.raises(TimestampInvalid, match="unable to get local issuer certificate"):
        check(token, DIGEST)


def test_a_stamp_holds_when_the_certificate_has_run_out_since(stamping: Authority) -> None:
    stamping.says -= timedelta(days=300)
    assert check(stamp(DIGEST, stamping.url), DIGEST, stamping.roots).when == stamping.says


def test_a_stamp_from_before_the_certificate_does_not_hold(stamping: Authority) -> None:
    stamping.says -= timedelta(days=500)
    with pytest.raises(TimestampInvalid, match="not yet valid"):
        check(stamp(DIGEST, stamping.url), DIGEST, stamping.roots)


def test_a_refusal_says_why(stamping: Authority) -> None:
    stamping.refuses = True
    with pytest.raises(TimestampFailed, match="not today"):
        stamp(DIGEST, stamping.url)


def test_a_stamp_of_something_else_is_not_taken(stamping: Authority) -> None:
    stamping.wrong = True
    with pytest.raises(TimestampFailed, match="different data"):
        stamp(DIGEST, stamping.url)


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/tsr", "nonsense", "ftp://a.example/"])
def test_an_authority_that_is_not_there_is_a_typed_error(url: str) -> None:
    with pytest.raises(TimestampFailed):
        stamp(DIGEST, url)
