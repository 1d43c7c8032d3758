"""OpenTimestamps timestamps from a loopback calendar."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from urchin_extras.opentimestamps import complete, stamp

from agent.sealing import TimestampFailed, TimestampInvalid, check, is_proof
from tests.calendars import HEIGHT, MINED, Calendar, calendar

if TYPE_CHECKING:
    from collections.abc import Iterator

DIGEST = hashlib.sha256(b"the head of a log").digest()
OTHER = hashlib.sha256(b"another head").digest()


@pytest.fixture
def running() -> Iterator[Calendar]:
    with calendar() as one:
        yield one


def test_a_promise_is_said_to_be_pending(running: Calendar) -> None:
    found = check(stamp(DIGEST, [running.url])[0], DIGEST)
    assert (found.when, found.authority) == (None, running.url)
    assert str(found).startswith("pending")


def test_a_calendar_does_not_see_the_digest(running: Calendar) -> None:
    stamp(DIGEST, [running.url])
    stamp(DIGEST, [running.url])
    assert DIGEST not in running.seen
    assert len(set(running.seen)) == 2


def test_a_promise_kept_holds_against_the_header_of_its_block(running: Calendar) -> None:
    promised = stamp(DIGEST, [running.url])[0]
    running.mined = True
    found = complete(promised, [running.url])
    assert found[1] == ()
    said = check(found[0], DIGEST, blocks={HEIGHT: bytes.fromhex(running.header())})
    assert (said.when, said.authority) == (
        datetime.fromtimestamp(MINED, UTC),
        f"Bitcoin block {HEIGHT}",
    )


def test_a_block_whose_header_is_not_at_hand_is_not_called_checked(running: Calendar) -> None:
    promised = stamp(DIGEST, [running.url])[0]
    running.mined = True
    said = check(complete(promised, [running.url])[0], DIGEST)
    root = bytes.fromhex(running.header())[36:68][::-1].hex()  # as block explorers write it
    assert said.when is None
    assert root in str(said)
    assert "not checked" in str(said)


def test_a_header_of_another_block_does_not_hold(running: Calendar) -> None:
    promised = stamp(DIGEST, [running.url])[0]
    running.mined = True
    header = bytearray.fromhex(running.header())
    header[40] ^= 1
    with pytest.raises(TimestampInvalid, match=str(HEIGHT)):
        check(complete(promised, [running.url])[0], DIGEST, blocks={HEIGHT: bytes(header)})


def test_a_block_that_is_not_there_yet_is_told_and_nothing_is_lost(running: Calendar) -> None:
    promised = stamp(DIGEST, [running.url])[0]
    found = complete(promised, [running.url])
    assert found[0] == promised
    assert found[1] == (f"{running.url} has no block for it yet",)


def test_a_calendar_that_a_proof_names_but_nobody_knows_is_not_asked(running: Calendar) -> None:
    promised = stamp(DIGEST, [running.url])[0]
    running.mined = True
    found = complete(promised)
    assert found[0] == promised
    assert "name it with --calendar" in found[1][0]


def test_a_proof_is_of_one_digest_alone(running: Calendar) -> None:
    with pytest.raises(TimestampInvalid, match="other data"):
        check(stamp(DIGEST, [running.url])[0], OTHER)


def test_a_proof_that_was_damaged_does_not_hold(running: Calendar) -> None:
    proof = stamp(DIGEST, [running.url])[0]
    assert is_proof(proof)
    for bad in (proof[:-1], proof + b"x", proof[:40]):
        with pytest.raises(TimestampInvalid):
            check(bad, DIGEST)


def test_one_calendar_that_is_down_leaves_the_promises_of_the_others(running: Calendar) -> None:
    made = stamp(DIGEST, ["http://127.0.0.1:9", running.url])
    assert check(made[0], DIGEST).authority == running.url
    assert len(made[1]) == 1
    assert "http://127.0.0.1:9" in made[1][0]


def test_a_later_promise_keeps_the_earlier_ones(running: Calendar) -> None:
    with calendar() as second:
        first = stamp(DIGEST, [running.url])[0]
        both = check(stamp(DIGEST, [second.url], first)[0], DIGEST)
        assert {running.url, second.url} <= set(both.authority.split())
        of_another = check(stamp(OTHER, [second.url], first)[0], OTHER)
        assert of_another.authority == second.url


@pytest.mark.parametrize("reply", [b"", b"<html>", b"\xf0\x01", b"\x08" * 400, b"x" * 200_000])
def test_a_calendar_that_sends_no_timestamp_is_a_typed_error(
    running: Calendar, reply: bytes
) -> None:
    running.reply = reply
    with pytest.raises(TimestampFailed, match=running.url):
        stamp(DIGEST, [running.url])


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "nonsense", "ftp://a.example"])
def test_a_calendar_that_is_not_there_is_a_typed_error(url: str) -> None:
    with pytest.raises(TimestampFailed):
        stamp(DIGEST, [url])
