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
"""The status of a call that got no answer, or only a piece of one."""
_PASSING = frozenset({408, 409, 425, 429})
_QUOTA = ("quota", "billing", "credit", "spend_limit", "payment")
_NO_CREDIT = ("credit balance", "billing limit", "billing hard limit")
_TOO_LONG = ("context length", "context_length", "context window", "prompt is too long")
_MESSAGE_CHARS = 200
"""Characters of a provider's own words that are passed on."""
# A stream answers 200 before it fails: what its errors are called, by the status of other calls.
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
    """A failure worth another try: the error that it is in the end, and seconds to wait.

    `retry_after` is None where the provider named none; `billed` says that the try may have cost
    something all the same.
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
    """What a provider answered instead of a reply.

    `code` is its own word for the cause; `retry_after` the seconds that it asked to wait.
    """

    status: int
    message: str
    code: str = ""
    retry_after: float | None = None

    def error(self, where: Endpoint) -> Exception:
        """The exception to raise: `Transient` where the same call may succeed a little later."""
        final = self._final(where)
        passing = self.status in _PASSING or self.status >= 500 or self.status == UNREACHED
        if passing and not self._no_quota:
            return Transient(final, self.retry_after, billed=self.status == UNREACHED)
        return final

    def _final(self, where: Endpoint) -> ResearchError:
        said = " ".join(self.message.split())[:_MESSAGE_CHARS]
        if self._no_quota:
            return ModelQuota(f"{where.name} has no quota left ({self.status}): {said}")
        if self.status in (401, 403):
            return ModelUnauthorized(
                f"{where.name} refused the key ({self.status}): {said}",
                hint=f"Set {where.key_name or 'the key'} to a valid key, or use "
                "--model extractive, which needs none.",
            )
        if self.status == 404:
            return UsageError(
                f"{where.base_url} knows no model {where.model!r}: {said}",
                hint="Check --model, and that --base-url ends where the API begins (often /v1).",
            )
        if self.status == 429:
            return ModelUnavailable(f"{where.name} limits the rate, after all retries: {said}")
        if self.status == UNREACHED or self.status >= 500:
            return ModelUnavailable(f"{where.name} at {where.base_url} cannot be reached: {said}")
        words = said.lower()
        hint = None
        if any(sign in words for sign in _TOO_LONG):
            hint = (
                "The conversation is longer than this model takes: name one with a larger window."
            )
        elif "tool" in words and ("support" in words or "enabl" in words):
            hint = "It may know no function calling: --text-tools calls tools by text."
        return ModelError(f"{where.name} refused the request ({self.status}): {said}", hint=hint)

    @property
    def _no_quota(self) -> bool:
        named = self.status in (400, 403, 429) and any(word in self.code.lower() for word in _QUOTA)
        said = any(words in self.message.lower() for words in _NO_CREDIT)
        return self.status == 402 or named or said


def read_failure(error: Any) -> Failure:
    """Read what a client library raised: OpenAI's and Anthropic's are made from one mould."""
    body = getattr(error, "body", None)
    detail = body.get("error", body) if isinstance(body, dict) else None
    message = detail.get("message") if isinstance(detail, dict) else None
    codes = [str(getattr(error, name, None) or "") for name in ("code", "error_code", "type")]
    status = int(getattr(error, "status_code", None) or UNREACHED)
    if status < 400:  # no connection, or an error in the middle of a stream
        status = next((_STATUS_OF_CODE[c] for c in codes if c in _STATUS_OF_CODE), UNREACHED)
    return Failure(
        status,
        str(message or error or type(error).__name__),
        next(filter(None, codes), ""),
        seconds_to_wait(getattr(getattr(error, "response", None), "headers", {})),
    )


def seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """Read how long a provider asks to wait, in any of the forms that are in use."""
    for name, per_second in (("retry-after-ms", 1000), ("retry-after", 1)):
        with suppress(ValueError):
            return max(0.0, float(headers.get(name, "")) / per_second)
    return retry_after(headers)
