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


def test_an_untouched_log_holds_and_leads_to_its_head(memory: Memory) -> None:
    first = SealedLog(memory).append("decision", "We read the printed edition")
    second = SealedLog(memory).append("incident", "The archive was down")
    check = SealedLog(memory).verify(head=first.hash)
    assert (check.reason, check.entries, check.head) == ("", 2, second.hash)
    assert second.previous == first.hash


@pytest.mark.parametrize("change", [{"content": "other"}, {"category": "decision"}, {"at": "2020"}])
def test_a_changed_entry_breaks_the_chain_where_it_stands(
    memory: Memory, change: dict[str, str]
) -> None:
    for number in range(3):
        SealedLog(memory).append("milestone", f"step {number}")
    with memory.store.write() as connection:
        which = (seals.c.namespace == memory.namespace) & (seals.c.number == 2)
        connection.execute(seals.update().where(which), change)
    check = SealedLog(memory).verify()
    assert check.reason == "entry 2 was changed after it was sealed"


def test_a_log_cut_short_does_not_hold_against_a_noted_head(memory: Memory) -> None:
    SealedLog(memory).append("milestone", "one")
    head = SealedLog(memory).append("milestone", "two").hash
    with memory.store.write() as connection:
        which = (seals.c.namespace == memory.namespace) & (seals.c.number == 2)
        connection.execute(seals.delete().where(which))
    assert not SealedLog(memory).verify().reason
    assert SealedLog(memory).verify(head).reason


def test_parallel_seals_form_one_chain(memory: Memory) -> None:
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda n: SealedLog(memory).append("decision", str(n)), range(12)))
    assert SealedLog(memory).verify().entries == 12
    assert not SealedLog(memory).verify().reason


def test_an_unknown_category_is_refused(memory: Memory) -> None:
    with pytest.raises(UsageError):
        SealedLog(memory).append("gossip", "x")


def test_a_stamped_head_shows_since_when_the_log_is_as_it_is(
    memory: Memory, tmp_path: Path
) -> None:
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


def test_a_log_written_anew_does_not_hold_against_its_stamp(memory: Memory, tmp_path: Path) -> None:
    SealedLog(memory).append("milestone", "as it was")
    with authority(tmp_path) as stamping:
        SealedLog(memory).stamp(stamping.url)
    with memory.store.write() as connection:
        connection.execute(seals.delete().where(seals.c.namespace == memory.namespace))
    SealedLog(memory).append("milestone", "as it should have been")
    check = SealedLog(memory).verify(roots=stamping.roots)
    assert check.reason == "a timestamped entry is missing"


def test_an_empty_log_is_not_stamped(memory: Memory) -> None:
    with pytest.raises(UsageError, match="nothing has been sealed"):
        SealedLog(memory).stamp("http://127.0.0.1:9/")


def test_a_head_that_calendars_took_down_is_pending_until_its_block(memory: Memory) -> None:
    SealedLog(memory).append("milestone", "the edition of 1911 was found")
    with calendar() as running:
        SealedLog(memory).anchor([running.url])
        (before,) = SealedLog(memory).verify().stamps
        assert SealedLog(memory).complete([running.url]) == (
            f"{running.url} has no block for it yet",
        )
        running.mined = True
        assert SealedLog(memory).complete([running.url]) == ()
    blocks = {HEIGHT: bytes.fromhex(running.header())}
    (after,) = SealedLog(memory).verify(blocks=blocks).stamps
    assert (before[1].when, after[1].authority) == (None, f"Bitcoin block {HEIGHT}")


def test_a_log_written_anew_does_not_hold_against_its_proof(memory: Memory) -> None:
    SealedLog(memory).append("milestone", "as it was")
    with calendar() as running:
        SealedLog(memory).anchor([running.url])
    with memory.store.write() as connection:
        connection.execute(seals.delete().where(seals.c.namespace == memory.namespace))
    SealedLog(memory).append("milestone", "as it should have been")
    assert SealedLog(memory).verify().reason
