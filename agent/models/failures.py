"""Mapping a provider's failures to our errors, and deciding which are worth a retry.

| provider says                                   | becomes             | retried     |
|-------------------------------------------------|---------------------|-------------|
| 401, 403                                        | `ModelUnauthorized` | no          |
| 402, any status that speaks of quota or billing | `ModelQuota`        | no          |
| 404                                             | `UsageError`        | no          |
| 408, 409, 425, 429, 5xx (529 among them)        | `ModelUnavailable`  | yes         |
| nothing, half a stream, garbage                 | `ModelUnavailable`  | yes         |
| any other refusal                               | `ModelError`        | no          |
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.errors import (
    ModelError,
    ModelQuota,
    ModelUnauthorized,
    ModelUnavailable,
    ResearchError,
    UsageError,
)
from browser.net.pace import retry_after

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.models.providers import Endpoint

UNREACHED = 0
"""The status of a call without an answer, or with only a part of one."""
_TEMPORARY = frozenset({408, 409, 425, 429})
_QUOTA = ("quota", "billing", "credit", "spend_limit", "payment")
_NO_CREDIT = ("credit balance", "billing limit", "billing hard limit")
_TOO_LONG = ("context length", "context_length", "context window", "prompt is too long")
_MESSAGE_CHARS = 200
"""Characters of a provider's message that are passed on."""
# A stream has the status 200 even if it fails: these are the statuses of its error codes.
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


class Transient(Exception):
    """A failure that is worth a retry; `error` is raised if all retries fail.

    `retry_after` are the seconds that the provider asks to wait, None if it does not say; `billed`
    says that the failed attempt may have cost something.
    """

    def __init__(
        self, error: ResearchError, retry_after: float | None = None, *, billed: bool = False
    ) -> None:
        super().__init__(str(error))
        self.error = error
        self.retry_after = retry_after
        self.billed = billed


@dataclass(frozen=True, slots=True)
class Failure:
    """A provider's failure; `code` is its name of the cause, `retry_after` seconds to wait."""

    status: int
    message: str
    code: str = ""
    retry_after: float | None = None

    def error(self, endpoint: Endpoint) -> Exception:
        """Return the exception to raise: `Transient` if a retry may succeed."""
        final = self._final_error(endpoint)
        temporary = self.status in _TEMPORARY or self.status >= 500 or self.status == UNREACHED
        if temporary and not self._no_quota:
            # Without an answer nobody knows whether the provider did the work.
            return Transient(final, self.retry_after, billed=self.status == UNREACHED)
        return final

    def _final_error(self, endpoint: Endpoint) -> ResearchError:
        said = " ".join(self.message.split())[:_MESSAGE_CHARS]
        if self._no_quota:
            return ModelQuota(f"{endpoint.name} has no quota left ({self.status}): {said}")
        if self.status in (401, 403):
            return ModelUnauthorized(
                f"{endpoint.name} refused the key ({self.status}): {said}",
                hint=f"Set {endpoint.key_name or 'the key'} to a valid key, or use "
                "--model extractive, which needs none.",
            )
        if self.status == 404:
            return UsageError(
                f"{endpoint.base_url} knows no model {endpoint.model!r}: {said}",
                hint="Check --model, and that --base-url ends where the API begins (often /v1).",
            )
        if self.status == 429:
            return ModelUnavailable(f"{endpoint.name} limits the rate, after all retries: {said}")
        if self.status == UNREACHED or self.status >= 500:
            return ModelUnavailable(
                f"{endpoint.name} at {endpoint.base_url} cannot be reached: {said}"
            )
        words = said.lower()
        hint = None
        if any(sign in words for sign in _TOO_LONG):
            hint = (
                "The conversation is longer than this model takes: name one with a larger window."
            )
        elif "tool" in words and ("support" in words or "enabl" in words):
            hint = "It may know no function calling: --text-tools calls tools by text."
        return ModelError(f"{endpoint.name} refused the request ({self.status}): {said}", hint=hint)

    @property
    def _no_quota(self) -> bool:
        in_code = any(word in self.code.lower() for word in _QUOTA)
        in_message = any(words in self.message.lower() for words in _NO_CREDIT)
        return self.status == 402 or (self.status in (400, 403, 429) and in_code) or in_message


def read_failure(error: Any) -> Failure:
    """Read an exception of OpenAI's or Anthropic's library, which have the same attributes."""
    body = getattr(error, "body", None)
    detail = body.get("error", body) if isinstance(body, dict) else None
    message = detail.get("message") if isinstance(detail, dict) else None
    codes = [str(getattr(error, name, None) or "") for name in ("code", "error_code", "type")]
    status = int(getattr(error, "status_code", None) or UNREACHED)
    if status < 400:  # no connection, or an error in the middle of a stream
        known = [_STATUS_OF_CODE[code] for code in codes if code in _STATUS_OF_CODE]
        status = known[0] if known else UNREACHED
    codes = [code for code in codes if code]
    return Failure(
        status,
        str(message or error or type(error).__name__),
        codes[0] if codes else "",
        seconds_to_wait(getattr(getattr(error, "response", None), "headers", {})),
    )


def seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """Read how long a provider asks to wait, in milliseconds, seconds, or as a date."""
    for name, per_second in (("retry-after-ms", 1000), ("retry-after", 1)):
        with suppress(ValueError):
            return max(0.0, float(headers.get(name, "")) / per_second)
    return retry_after(headers)
