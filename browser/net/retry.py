"""Asking again: what failed to connect, and servers that say they are busy for a moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    retry_if_result,
    stop_after_attempt,
    wait_random_exponential,
)

from browser.errors import ConnectFailed
from browser.net.resolve import NameUnknown
from browser.net.retry_after import retry_after

if TYPE_CHECKING:
    from collections.abc import Mapping

# Bad gateway and unavailable: the two that load balancers send while a server restarts.
_BUSY = frozenset({502, 503})
# Full jitter between 0 and 0.3, 0.6, … s, so that many requests do not come back together.
_backoff = wait_random_exponential(multiplier=0.3, max=2.0)
# A server that wants more patience (s) than this gets its answer taken as it is.
_PATIENCE_S = 3.0


class Answered(Protocol):
    """The part of an answer that decides whether to ask again."""

    @property
    def status(self) -> int:
        """The HTTP status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, case-insensitive."""
        ...


def retrying(attempts: int) -> AsyncRetrying:
    """Return a caller that asks up to `attempts` times; the last answer or error is the outcome."""
    return AsyncRetrying(
        stop=stop_after_attempt(attempts),
        retry=retry_if_exception(_may_pass) | retry_if_result(_asks_for_a_moment),
        wait=_wait,
        retry_error_callback=_last,
    )


def _may_pass(error: BaseException) -> bool:
    return isinstance(error, ConnectFailed) and not isinstance(error, NameUnknown)


def _asks_for_a_moment(answer: Answered) -> bool:
    return answer.status in _BUSY and (retry_after(answer.headers) or 0.0) <= _PATIENCE_S


def _wait(state: RetryCallState) -> float:
    outcome = state.outcome
    asked = None if outcome is None or outcome.failed else retry_after(outcome.result().headers)
    return max(_backoff(state), asked or 0.0)


def _last(state: RetryCallState) -> object:
    assert state.outcome
    return state.outcome.result()
