"""Waits and retries: how often, how long, and what the other side requests."""

from __future__ import annotations

import pytest

from browser import retries
from browser.errors import ConnectFailed, FetchError, NoAnswer
from browser.retries import RetryRule, Temporary, delay, repeat

RULE = RetryRule(3, 0.5, 4.0, patience=10.0)


@pytest.fixture
def waits(monkeypatch):
    """The waits requested, none of which took any time."""
    made = []

    async def sleep(seconds):
        made.append(seconds)

    monkeypatch.setattr(retries, "sleep", sleep)
    return made


def failing(*failures, then="done"):
    left = list(failures)

    async def attempt():
        if left:
            raise left.pop(0)
        return then

    return attempt


async def test_a_failure_that_may_pass_is_repeated_after_a_random_wait(waits):
    assert await repeat(RULE, failing(Temporary(ValueError()), Temporary(ValueError()))) == "done"
    assert len(waits) == 2
    assert 0 <= waits[0] <= 0.5
    assert 0 <= waits[1] <= 1.0


async def test_the_last_error_is_raised_and_the_last_value_returned(waits):
    with pytest.raises(KeyError):
        await repeat(RULE, failing(*[Temporary(KeyError())] * 3))
    assert await repeat(RULE, failing(*[Temporary(None, value="busy")] * 3)) == "busy"
    assert len(waits) == 4


async def test_what_fails_for_good_is_not_repeated(waits):
    with pytest.raises(ValueError, match="no"):
        await repeat(RULE, failing(ValueError("no")))
    assert waits == []


async def test_a_wait_is_as_long_as_the_other_side_asks_within_patience(waits):
    await repeat(RULE, failing(Temporary(None, 7.0)))
    assert waits == [7.0]
    assert await repeat(RULE, failing(Temporary(None, 11.0, "later"))) == "later"
    assert waits == [7.0]


async def test_a_rule_without_a_bound_goes_on_until_it_succeeds(waits):
    assert await repeat(RetryRule(0, 0.5, 4.0), failing(*[Temporary(KeyError())] * 50)) == "done"
    assert max(waits) <= 4.0


def test_a_delay_has_a_floor_where_a_rule_has_one():
    assert all(1.0 <= delay(RetryRule(0, 2.0, 60.0, least=1.0), n) <= 60.0 for n in range(1, 12))


def test_what_was_sent_is_no_failed_connection():
    assert not issubclass(NoAnswer, ConnectFailed)
    assert issubclass(NoAnswer, FetchError)
