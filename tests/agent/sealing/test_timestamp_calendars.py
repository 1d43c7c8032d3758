"""OpenTimestamps timestamps from a loopback calendar."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from urchin_extras.opentimestamps import complete, stamp

from agent.sealing import TimestampFailed, TimestampInvalid, check, is_opentimestamps_proof
from tests.calendars import HEIGHT, MINED, Calendar, calendar

if TYPE_CHECKING:
    from collections.abc import Iterator

DIGEST = hashlib.sha256(b"the head of a log").digest()
OTHER = hashlib.sha256(b"another head").digest()


@pytest.fixture
def running() -> Iterator[Calendar]:
    with calendar() as one:
        yield one


def test_calendar_proof_is_pending_before_block(running: Calendar) -> None:
    found = check(stamp(DIGEST, [running.url])[0], DIGEST)
    assert (found.when, found.authority) == (None, running.url)
    assert str(found).startswith("pending")


def test_calendar_never_sees_the_digest(running: Calendar) -> None:
    stamp(DIGEST, [running.url])
    stamp(DIGEST, [running.url])
    assert DIGEST not in running.seen
    assert len(set(running.seen)) == 2


def test_completed_proof_verifies_against_block_header(running: Calendar) -> None:
    promised = stamp(DIGEST, [running.url])[0]
    running.mined = True
    found = complete(promised, [running.url])
    assert found[1] == ()
    said = check(found[0], DIGEST, blocks={HEIGHT: bytes.fromhex(running.header())})
    assert (said.when, said.authority) == (
        datetime.fromtimestamp(MINED, UTC),
        f"Bitcoin block {HEIGHT}",
    )


def test_proof_without_block_header_is_not_checked(running: Calendar) -> None:
    promised = stamp(DIGEST, [running.url])[0]
    running.mined = True
    said = check(complete(promised, [running.url])[0], DIGEST)
    root = bytes.fromhex(running.header())[36:68][::-1].hex()  # as block explorers write it
    assert said.when is None
    assert root in str(said)
    assert "not checked" in str(said)


def test_header_of_another_block_is_rejected(running: Calendar) -> None:
    promised = stamp(DIGEST, [running.url])[0]
    running.mined = True
    header = bytearray.fromhex(running.header())
    header[40] ^= 1
    with pytest.raises(TimestampInvalid, match=str(HEIGHT)):
        check(complete(promised, [running.url])[0], DIGEST, blocks={HEIGHT: bytes(header)})


def test_unmined_block_is_reported_and_proof_kept(running: Calendar) -> None:
    promised = stamp(DIGEST, [running.url])[0]
    found = complete(promised, [running.url])
    assert found[0] == promised
    assert found[1] == (f"{running.url} has no Bitcoin block for the timestamp yet",)


def test_unknown_calendar_named_in_proof_is_not_contacted(running: Calendar) -> None:
    promised = stamp(DIGEST, [running.url])[0]
    running.mined = True
    found = complete(promised)
    assert found[0] == promised
    assert "name it with --calendar" in found[1][0]


def test_proof_is_bound_to_one_digest(running: Calendar) -> None:
    with pytest.raises(TimestampInvalid, match="other data"):
        check(stamp(DIGEST, [running.url])[0], OTHER)


def test_damaged_proof_is_rejected(running: Calendar) -> None:
    proof = stamp(DIGEST, [running.url])[0]
    assert is_opentimestamps_proof(proof)
    for bad in (proof[:-1], proof + b"x", proof[:40]):
        with pytest.raises(TimestampInvalid):
            check(bad, DIGEST)


def test_unreachable_calendar_does_not_affect_others(running: Calendar) -> None:
    made = stamp(DIGEST, ["http://127.0.0.1:9", running.url])
    assert check(made[0], DIGEST).authority == running.url
    assert len(made[1]) == 1
    assert "http://127.0.0.1:9" in made[1][0]


def test_later_stamp_keeps_earlier_calendars(running: Calendar) -> None:
    with calendar() as second:
        first = stamp(DIGEST, [running.url])[0]
        both = check(stamp(DIGEST, [second.url], first)[0], DIGEST)
        assert {running.url, second.url} <= set(both.authority.split())
        of_another = check(stamp(OTHER, [second.url], first)[0], OTHER)
        assert of_another.authority == second.url


@pytest.mark.parametrize("reply", [b"", b"<html>", b"\xf0\x01", b"\x08" * 400, b"x" * 200_000])
def test_invalid_calendar_reply_raises_timestamp_failed(running: Calendar, reply: bytes) -> None:
    running.reply = reply
    with pytest.raises(TimestampFailed, match=running.url):
        stamp(DIGEST, [running.url])


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "nonsense", "ftp://a.example"])
def test_unreachable_calendar_raises_timestamp_failed(url: str) -> None:
    with pytest.raises(TimestampFailed):
        stamp(DIGEST, [url])
