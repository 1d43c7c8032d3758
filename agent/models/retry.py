"""One retry policy for all models: what is worth another try, and how long to wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt
from tenacity.wait import wait_base, wait_random_exponential

if TYPE_CHECKING:
    from tenacity import RetryCallState

ATTEMPTS = 4
"""Three retries: an overload passes within half a minute or not soon."""
LONGEST_WAIT = 60.0
"""Seconds; a provider that asks for more is treated as down, so that a fallback can answer."""


class Transient(Exception):
    """A failure worth another try; `retry_after` is in seconds, where the provider named it."""

    def __init__(self, cause: Exception, retry_after: float | None = None) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.retry_after = retry_after


class _RetryAfter(wait_base):
    """What the provider asked for, else a random wait that doubles from half a second to 8 s."""

    _backoff = wait_random_exponential(multiplier=0.5, max=8)

    def __call__(self, retry_state: RetryCallState) -> float:
        error = retry_state.outcome.exception() if retry_state.outcome else None
        if isinstance(error, Transient) and error.retry_after is not None:
            return error.retry_after
        return self._backoff(retry_state)


def retrying() -> AsyncRetrying:
    """Give the policy; the last `Transient` is raised again when the tries are used up."""
    return AsyncRetrying(
        retry=retry_if_exception(_worth_another_try),
        stop=stop_after_attempt(ATTEMPTS),
        wait=_RetryAfter(),
        reraise=True,
    )


def _worth_another_try(error: BaseException) -> bool:
    return isinstance(error, Transient) and (error.retry_after or 0) <= LONGEST_WAIT
