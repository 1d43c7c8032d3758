"""From what a provider answered to the error that it means: what may pass, what is for good.

| provider says                                   | becomes             | another try |
|-------------------------------------------------|---------------------|-------------|
| 401, 403                                        | `ModelUnauthorized` | no          |
| 402, any status that speaks of quota or billing | `ModelQuota`        | no          |
| 404                                             | `UsageError`        | no          |
| 408, 409, 425, 429, 5xx (529 among them)        | `ModelUnavailable`  | yes         |
| nothing, half a stream, garbage                 | `ModelUnavailable`  | yes         |
| any other refusal                               | `ModelError`        | no          |
"""

from __future__ import annotations

import email.utils
import random
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from agent.errors import (
    ModelError,
    ModelQuota,
    ModelUnauthorized,
    ModelUnavailable,
    ResearchError,
    UsageError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.errors import ResearchError
    from agent.models.providers import Endpoint

UNREACHED = 0
"""The status of a call that got no answer, or only a piece of one."""
GARBAGE = (ValueError, TypeError, AttributeError, LookupError)
"""What reading an answer raises that has not the form it should have: the clients check none."""
_PASSING = frozenset({408, 409, 425, 429})
_QUOTA = ("quota", "billing", "credit", "spend_limit", "payment")
_NO_CREDIT = ("credit balance", "billing limit", "billing hard limit")
_TOO_LONG = ("context length", "context_length", "context window", "prompt is too long")
_SAID = 200
"""Characters of a provider's own words that are passed on."""
# What errors inside a stream, whose status was 200 when it began, call what other calls get as one.
_STATUS_OF_CODE = {
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "invalid_request_error": 400,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "overloaded_error": 529,
}


@dataclass(frozen=True, slots=True)
class Failure:
    """What a provider answered instead of a reply.

    `code` is its own word for the cause; `retry_after` the seconds that it asked to wait.
    """

    status: int
    said: str
    code: str = ""
    retry_after: float | None = None

    @classmethod
    def in_stream(cls, code: str, said: str) -> Failure:
        """Read an error that came in the middle of a stream."""
        return cls(_STATUS_OF_CODE.get(code, UNREACHED), said, code)

    @property
    def may_pass(self) -> bool:
        """Whether the same call may succeed a little later."""
        if self._no_quota:
            return False
        return self.status in _PASSING or self.status >= 500 or self.status == UNREACHED

    def meaning(self, where: Endpoint) -> ResearchError:
        """Give the error to raise when no other try is made."""
        said = " ".join(self.said.split())[:_SAID]
        if self.status in (401, 403) and not self._no_quota:
            return ModelUnauthorized(
                f"{where.name} refused the key ({self.status}): {said}",
                hint=f"Set {where.key_name or 'the key'} to a valid key, or use "
                "--model extractive, which needs none.",
            )
        if self._no_quota:
            return ModelQuota(f"{where.name} has no quota left ({self.status}): {said}")
        if self.status == 404:
            return UsageError(
                f"{where.base_url} knows no model {where.model!r}: {said}",
                hint="Check --model, and that --base-url ends where the API begins (often /v1).",
            )
        if self.status == 429:
            return ModelUnavailable(f"{where.name} limits the rate, after all retries: {said}")
        if self.status == UNREACHED or self.status >= 500:
            return ModelUnavailable(f"{where.name} at {where.base_url} cannot be reached: {said}")
        return ModelError(
            f"{where.name} refused the request ({self.status}): {said}", hint=_hint(said)
        )

    @property
    def _no_quota(self) -> bool:
        named = self.status in (400, 403, 429) and any(word in self.code.lower() for word in _QUOTA)
        return (
            self.status == 402 or named or any(words in self.said.lower() for words in _NO_CREDIT)
        )


def seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """Read how long a provider asks to wait, in any of the forms that are in use."""
    milliseconds, after = headers.get("retry-after-ms", ""), headers.get("retry-after", "")
    try:
        return max(0.0, float(milliseconds) / 1000 if milliseconds else float(after))
    except ValueError:
        pass
    try:
        at = email.utils.parsedate_to_datetime(after)
    except (ValueError, OverflowError):
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - datetime.now(UTC)).total_seconds())


def _hint(said: str) -> str | None:
    said = said.lower()
    if any(words in said for words in _TOO_LONG):
        return "The conversation is longer than this model takes: name one with a larger window."
    if "tool" in said and ("support" in said or "enabl" in said):
        return "It may know no function calling: --text-tools calls tools by text."
    return None


ATTEMPTS = 4
"""Three retries: an overload passes within half a minute or not soon."""
LONGEST_WAIT = 60.0
"""Seconds; a provider that asks for more is treated as down, so that a fallback can answer."""


class Transient(Exception):
    """A failure worth another try: what it means when that fails too, and how long to wait.

    `retry_after` is in seconds, where the provider named it; `billed` says that the try may have
    cost something all the same.
    """

    def __init__(
        self, meaning: ResearchError, retry_after: float | None = None, *, billed: bool = False
    ) -> None:
        super().__init__(str(meaning))
        self.billed = billed
        self.meaning = meaning
        self.retry_after = retry_after


BACKOFF = 0.5
"""Seconds of the first wait, at most; each further one may be twice as long."""


def pause(failed: Transient, tries: int, backoff: float) -> float | None:
    """Seconds before the next try, as the provider asked or by chance; None where none is made."""
    if tries >= ATTEMPTS or (failed.retry_after or 0) > LONGEST_WAIT:
        return None
    if failed.retry_after is not None:
        return failed.retry_after
    return random.uniform(0, backoff * 2 ** (tries - 1))
