"""The retry rules: what is retried, how often, and after what delay (uses tenacity).

| user (rule)                     | repeats                                            | attempts  |
|---------------------------------|----------------------------------------------------|-----------|
| pages, `browser.net.http` (WEB) | a GET: no connection, no answer, 502, 503, 429 *   | 3         |
| models, `agent.models` (MODEL)  | an outage, a rate limit, an empty or broken reply  | 4         |
| notices, channel calls, mail    | unprocessed requests: no connection, 429, 503,     | 5         |
|   (SERVICE)                     | a mail server's 4xx; otherwise anything repeatable |           |
| channels (CHANNEL)              | a lost connection, an unsent answer                | unbounded |
| jobs (`delay`)                  | a failed run, as often as the job's `--retry`      | its own   |
| `write_atomic`, on Windows      | replacing a file that another process has open     | 7         |

* only with a Retry-After. Each wait is random, up to a limit that doubles (full jitter), so that
many clients do not retry at the same moment; it is at least as long as the server's Retry-After.
If that is longer than the rule's `max_retry_after`, there is no further attempt.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tenacity import RetryCallState

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RetryRule:
    """The number of attempts (0: until one succeeds), and the waits between them in seconds."""

    attempts: int
    base: float
    max_delay: float
    max_retry_after: float = float("inf")
    min_delay: float = 0.0


WEB = RetryRule(3, 0.3, 2.0, max_retry_after=3.0)
MODEL = RetryRule(4, 0.5, 4.0, max_retry_after=60.0)
"""An overload either ends within half a minute or lasts much longer."""
SERVICE = RetryRule(5, 0.5, 30.0, max_retry_after=120.0)
CHANNEL = RetryRule(0, 0.5, 30.0, min_delay=0.25)


class TemporaryFailure(Exception):
    """A failed attempt that is worth repeating.

    If there is no further attempt, `error` is raised or, if there is no error, `value` is
    returned. `after` is the number of seconds that the server asks to wait.
    """

    def __init__(
        self, error: Exception | None, after: float | None = None, value: object = None
    ) -> None:
        super().__init__(str(error))
        self.error = error
        self.after = after
        self.value = value


async def sleep(seconds: float) -> None:
    """Wait between two attempts; tests can replace this one function."""
    await asyncio.sleep(seconds)


def delay(rule: RetryRule, attempt: int) -> float:
    """Return the seconds to wait after an attempt, counted from 1."""
    from tenacity import wait_random_exponential  # noqa: PLC0415 - see `repeat`

    bound = wait_random_exponential(
        rule.base, rule.max_delay, min=min(rule.min_delay, rule.max_delay)
    )
    return float(bound(_Attempt(attempt)))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class _Attempt:
    attempt_number: int


async def repeat(rule: RetryRule, attempt: Callable[[], Awaitable[T]]) -> T:
    """Repeat attempts, according to a rule, until one does not raise `TemporaryFailure`."""
    # Imported on the first call: nearly every command imports this module, but few send requests.
    from tenacity import AsyncRetrying, retry_if_exception_type  # noqa: PLC0415

    def gives_up(state: RetryCallState) -> bool:
        last = 0 < rule.attempts <= state.attempt_number
        return last or (_failure(state).after or 0.0) > rule.max_retry_after

    def wait(state: RetryCallState) -> float:
        return max(_failure(state).after or 0.0, delay(rule, state.attempt_number))

    async def once() -> T:  # tenacity awaits coroutine functions, not lambdas that return one
        return await attempt()

    retrying = AsyncRetrying(
        retry=retry_if_exception_type(TemporaryFailure),
        stop=gives_up,
        wait=wait,
        sleep=sleep,
        retry_error_callback=_final_result,
    )
    return await retrying(once)


def _failure(state: RetryCallState) -> TemporaryFailure:
    failed = state.outcome.exception() if state.outcome else None
    assert isinstance(failed, TemporaryFailure), "only such an attempt is repeated"
    return failed


def _final_result(state: RetryCallState) -> Any:
    failed = _failure(state)
    if failed.error is not None:
        raise failed.error from failed
    return failed.value
