"""Waits and retries: how often, how long, and what the other side requests."""

from __future__ import annotations

import pytest

from browser import retries
from browser.errors import ConnectFailed, FetchError, NoAnswer
from browser.retries import RetryRule, TemporaryFailure, delay, repeat

RULE = RetryRule(3, 0.5, 4.0, max_retry_after=10.0)


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


async def test_temporary_failure_is_retried_after_random_wait(waits):
    assert (
        await repeat(RULE, failing(TemporaryFailure(ValueError()), TemporaryFailure(ValueError())))
        == "done"
    )
    assert len(waits) == 2
    assert 0 <= waits[0] <= 0.5
    assert 0 <= waits[1] <= 1.0


async def test_exhausted_retries_raise_last_error_or_return_last_value(waits):
    with pytest.raises(KeyError):
        await repeat(RULE, failing(*[TemporaryFailure(KeyError())] * 3))
    assert await repeat(RULE, failing(*[TemporaryFailure(None, value="busy")] * 3)) == "busy"
    assert len(waits) == 4


async def test_permanent_failure_is_not_retried(waits):
    with pytest.raises(ValueError, match="no"):
        await repeat(RULE, failing(ValueError("no")))
    assert waits == []


async def test_requested_wait_is_honoured_within_patience(waits):
    await repeat(RULE, failing(TemporaryFailure(None, 7.0)))
    assert waits == [7.0]
    assert await repeat(RULE, failing(TemporaryFailure(None, 11.0, "later"))) == "later"
    assert waits == [7.0]


async def test_unbounded_rule_retries_until_success(waits):
    assert (
        await repeat(RetryRule(0, 0.5, 4.0), failing(*[TemporaryFailure(KeyError())] * 50))
        == "done"
    )
    assert max(waits) <= 4.0


def test_delay_respects_minimum():
    assert all(
        1.0 <= delay(RetryRule(0, 2.0, 60.0, min_delay=1.0), n) <= 60.0 for n in range(1, 12)
    )


def test_no_answer_is_a_fetch_error_but_not_connect_failed():
    assert not issubclass(NoAnswer, ConnectFailed)
    assert issubclass(NoAnswer, FetchError)
