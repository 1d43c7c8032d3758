from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from agent.errors import UsageError
from agent.memory.database import seals
from agent.memory.sealed_log import SealedLog
from agent.sealing import Stamp
from tests.calendars import HEIGHT, calendar
from tests.timestamping import NAME, authority

if TYPE_CHECKING:
    from pathlib import Path

    from agent.memory import Memory


def test_intact_log_verifies_up_to_its_head(memory: Memory) -> None:
    first = SealedLog(memory).append("decision", "We read the printed edition")
    second = SealedLog(memory).append("incident", "The archive was down")
    check = SealedLog(memory).verify(head=first.hash)
    assert (check.reason, check.entries, check.head) == ("", 2, second.hash)
    assert second.previous == first.hash


@pytest.mark.parametrize("change", [{"content": "other"}, {"category": "decision"}, {"at": "2020"}])
def test_changed_entry_is_reported_by_number(memory: Memory, change: dict[str, str]) -> None:
    for number in range(3):
        SealedLog(memory).append("milestone", f"step {number}")
    with memory.store.write() as connection:
        which = (seals.c.namespace == memory.namespace) & (seals.c.number == 2)
        connection.execute(seals.update().where(which), change)
    check = SealedLog(memory).verify()
    assert check.reason == "entry 2 was changed after it was sealed"


def test_truncated_log_fails_against_known_head(memory: Memory) -> None:
    SealedLog(memory).append("milestone", "one")
    head = SealedLog(memory).append("milestone", "two").hash
    with memory.store.write() as connection:
        which = (seals.c.namespace == memory.namespace) & (seals.c.number == 2)
        connection.execute(seals.delete().where(which))
    assert not SealedLog(memory).verify().reason
    assert SealedLog(memory).verify(head).reason


def test_concurrent_seals_form_one_chain(memory: Memory) -> None:
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda n: SealedLog(memory).append("decision", str(n)), range(12)))
    assert SealedLog(memory).verify().entries == 12
    assert not SealedLog(memory).verify().reason


def test_an_unknown_category_is_refused(memory: Memory) -> None:
    with pytest.raises(UsageError):
        SealedLog(memory).append("gossip", "x")


def test_timestamped_head_proves_age_of_log(memory: Memory, tmp_path: Path) -> None:
    SealedLog(memory).append("milestone", "the edition of 1911 was found")
    with authority(tmp_path) as stamping:
        SealedLog(memory).append("decision", "we cite it")
        SealedLog(memory).stamp(stamping.url)
        SealedLog(memory).append("incident", "the library burnt down")
    (stamped,) = SealedLog(memory).verify(roots=stamping.roots).stamps
    assert stamped == (2, Stamp(stamping.says, NAME))
    check = SealedLog(memory).verify()
    assert check.reason, "nobody vouches for this authority"
    assert "--roots" in check.reason


def test_rewritten_log_fails_against_its_timestamp(memory: Memory, tmp_path: Path) -> None:
    SealedLog(memory).append("milestone", "as it was")
    with authority(tmp_path) as stamping:
        SealedLog(memory).stamp(stamping.url)
    with memory.store.write() as connection:
        connection.execute(seals.delete().where(seals.c.namespace == memory.namespace))
    SealedLog(memory).append("milestone", "as it should have been")
    check = SealedLog(memory).verify(roots=stamping.roots)
    assert check.reason == "a timestamped entry is missing"


def test_empty_log_cannot_be_timestamped(memory: Memory) -> None:
    with pytest.raises(UsageError, match="nothing has been sealed"):
        SealedLog(memory).stamp("http://127.0.0.1:9/")


def test_calendar_anchor_is_pending_until_its_block(memory: Memory) -> None:
    SealedLog(memory).append("milestone", "the edition of 1911 was found")
    with calendar() as running:
        SealedLog(memory).anchor([running.url])
        (before,) = SealedLog(memory).verify().stamps
        assert SealedLog(memory).complete([running.url]) == (
            f"{running.url} has no Bitcoin block for the timestamp yet",
        )
        running.mined = True
        assert SealedLog(memory).complete([running.url]) == ()
    blocks = {HEIGHT: bytes.fromhex(running.header())}
    (after,) = SealedLog(memory).verify(blocks=blocks).stamps
    assert (before[1].when, after[1].authority) == (None, f"Bitcoin block {HEIGHT}")


def test_rewritten_log_fails_against_its_calendar_proof(memory: Memory) -> None:
    SealedLog(memory).append("milestone", "as it was")
    with calendar() as running:
        SealedLog(memory).anchor([running.url])
    with memory.store.write() as connection:
        connection.execute(seals.delete().where(seals.c.namespace == memory.namespace))
    SealedLog(memory).append("milestone", "as it should have been")
    assert SealedLog(memory).verify().reason
