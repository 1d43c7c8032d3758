"""One retry policy for all models: what is worth another try, and how long to wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt
from tenacity.wait import wait_base, wait_random_exponential

if TYPE_CHECKING:
    from tenacity import RetryCallState

    from agent.errors import ResearchError

ATTEMPTS = 4
"""Three retries: an overload passes within half a minute or not soon."""
LONGEST_WAIT = 60.0
"""Seconds; a provider that asks for more is treated as down, so that a fallback can answer."""


class Transient(Exception):
    """A failure worth another try: what it means when that fails too, and how long to wait.

    `retry_after` is in seconds, where the provider named it.
    """

    def __init__(self, meaning: ResearchError, retry_after: float | None = None) -> None:
        super().__init__(str(meaning))
        self.meaning = meaning
        self.retry_after = retry_after


BACKOFF = 0.5
"""Seconds of the first wait, at most; each further one may be twice as long, up to 16 times."""


class _RetryAfter(wait_base):
    """What the provider asked for, else a random wait that doubles with each try."""

    def __init__(self, backoff: float) -> None:
        self._backoff = wait_random_exponential(multiplier=backoff, max=16 * backoff)

    def __call__(self, retry_state: RetryCallState) -> float:
        error = retry_state.outcome.exception() if retry_state.outcome else None
        if isinstance(error, Transient) and error.retry_after is not None:
            return error.retry_after
        return self._backoff(retry_state)


def retrying(backoff: float = BACKOFF) -> AsyncRetrying:
    """Give the policy; the last `Transient` is raised again when the tries are used up."""
    return AsyncRetrying(
        retry=retry_if_exception(_worth_another_try),
        stop=stop_after_attempt(ATTEMPTS),
        wait=_RetryAfter(backoff),
        reraise=True,
    )


def _worth_another_try(error: BaseException) -> bool:
    return isinstance(error, Transient) and (error.retry_after or 0) <= LONGEST_WAIT
