"""Maps a provider's failures to Urchin's errors, and decides whether a retry may help.

| provider says                                              | becomes             | retried |
|------------------------------------------------------------|---------------------|---------|
| the conversation is too long                               | `ModelContext`      | cut     |
| a content filter                                           | `ModelFiltered`     | no      |
| 402, any status whose message is about quota or billing    | `ModelQuota`        | no      |
| 401, 403, an invalid key                                   | `ModelUnauthorized` | no      |
| 404, any status whose message names the model              | `ModelUnknown`      | no      |
| a web page, another API, 404 or 405 without a message      | `NotAnEndpoint`     | no      |
| 408, 409, 425, 429, 5xx; no, partial or invalid response   | `ModelUnavailable`  | yes     |
| any other refusal                                          | `ModelError`        | no      |

A failure may have the status 200, or be reported in a stream or a choice. In these cases, its error
code is used instead of the status.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.errors import (
    ModelContext,
    ModelError,
    ModelFiltered,
    ModelQuota,
    ModelUnauthorized,
    ModelUnavailable,
    ModelUnknown,
    NotAnEndpoint,
    ResearchError,
)
from browser.net.pace import retry_after
from browser.retries import TemporaryFailure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.models.providers import Endpoint

NO_RESPONSE_STATUS = 0
"""Used as the status of a call without a response, or with an incomplete one."""
NOT_A_REPLY = 1
"""Used as the status of a response that is not a model's reply: a web page or other JSON."""
_TEMPORARY_STATUSES = frozenset({408, 409, 425, 429})
_MESSAGE_CHARS = 200
"""Maximum number of characters of a provider's message that are passed on."""
_OPENROUTER_MESSAGE = "Provider returned error"
"""OpenRouter's message if the provider's message is in `metadata.raw`."""
# A stream has the status 200 even if it fails; these are the statuses that correspond to its error
# codes.
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
_TOO_LONG_RE = re.compile(
    r"context[ _](?:length|window|size)|prompt is too long|exceed_context|too many tokens"
)
_TOKEN_LIMIT_RE = re.compile(
    r"(?:maximum context length is|n_ctx\D{1,4}|> |limit of|context size \()\s*(\d[\d,]+)"
)
_CONTENT_FILTER_RE = re.compile(
    r"content[_ ](?:filter|management)|responsibleai|safety system|recitation"
)
_NO_QUOTA_RE = re.compile(r"quota|billing|credit|spend_limit|payment")
_NO_CREDIT_RE = re.compile(
    r"credit balance|insufficient (?:credit|balance|funds)|billing (?:hard )?limit|more credits"
)
_BAD_KEY_RE = re.compile(
    r"(?:invalid|incorrect|missing|no) api[ _-]?key|api key not valid|unauthori[sz]ed"
)
_NO_MODEL_RE = re.compile(
    r"model\b.{0,80}(?:not (?:exist|found|supported)|unknown|no longer)|model_not_found"
    r"|(?:no such|unknown|invalid) model"
)
_WEB_PAGE_RE = re.compile(
    r"\s*<(?:!doctype|html)|\A\s*404 page not found|\A\s*(?:not found|method not allowed)\s*\Z",
    re.IGNORECASE,
)


class TransientFailure(TemporaryFailure):
    """A failure for which a retry may help; `billed` means that the attempt may cost money."""

    def __init__(
        self, error: ResearchError, after: float | None = None, *, billed: bool = False
    ) -> None:
        super().__init__(error, after)
        self.billed = billed


class ErrorInReply(Exception):
    """A response with the status 200 that is an error or not a reply; `body` is its content."""

    def __init__(self, body: Any, status: int = NO_RESPONSE_STATUS) -> None:
        super().__init__(str(body))
        self.body, self.status_code = body, status


@dataclass(frozen=True, slots=True)
class Failure:
    """A provider's failure; `code` is the provider's name for it, `retry_after` is in seconds."""

    status: int
    message: str
    code: str = ""
    retry_after: float | None = None

    def error(self, endpoint: Endpoint) -> Exception:
        """Return the exception to raise: `TransientFailure` if a retry may succeed."""
        final = self._final_error(endpoint)
        if isinstance(final, ModelUnavailable):
            # Without a response, it is unknown whether the provider processed the request.
            return TransientFailure(
                final, self.retry_after, billed=self.status == NO_RESPONSE_STATUS
            )
        return final

    def _final_error(self, endpoint: Endpoint) -> ResearchError:  # noqa: PLR0911 - a table
        said = " ".join(self.message.split())[:_MESSAGE_CHARS]
        words, code = f"{self.code} {self.message}".lower(), self.code.lower()
        name, refused = endpoint.name, self.status in range(400, 500)
        if _TOO_LONG_RE.search(words):
            limit = _TOKEN_LIMIT_RE.search(words)
            bound = int(limit[1].replace(",", "")) if limit else None
            return ModelContext(f"the conversation is too long for {name}: {said}", tokens=bound)
        if _CONTENT_FILTER_RE.search(words):
            return ModelFiltered(f"a content filter of {name} stopped the call: {said}")
        if (
            self.status == 402
            or (refused and _NO_QUOTA_RE.search(code))
            or _NO_CREDIT_RE.search(words)
        ):
            return ModelQuota(f"{name} has no quota left ({self.status}): {said}")
        if self.status in (401, 403) or (self.status != 429 and _BAD_KEY_RE.search(words)):
            return ModelUnauthorized(
                f"{name} refused the key ({self.status}): {said}",
                hint=f"Set {endpoint.key_name or 'the key'} to a valid key, or use "
                "--model extractive, which needs none.",
            )
        if self.status in (NOT_A_REPLY, 405) or (self.status == 404 and _WEB_PAGE_RE.match(said)):
            return NotAnEndpoint(f"{endpoint.base_url} responds, but not like a model API: {said}")
        if self.status == 404 or (refused and _NO_MODEL_RE.search(words)):
            return ModelUnknown(f"{endpoint.base_url} has no model {endpoint.model!r}: {said}")
        if self.status == 429:
            return ModelUnavailable(f"{name} is still rate-limiting after all retries: {said}")
        if (
            self.status in _TEMPORARY_STATUSES
            or self.status >= 500
            or self.status == NO_RESPONSE_STATUS
        ):
            return ModelUnavailable(f"{name} at {endpoint.base_url} cannot be reached: {said}")
        return ModelError(f"{name} refused the request ({self.status}): {said}")


def read_failure(error: Any) -> Failure:
    """Read an exception from OpenAI's or Anthropic's library, or an error in a reply."""
    body, response = getattr(error, "body", None), getattr(error, "response", None)
    if isinstance(body, list) and body:  # Gemini's format
        body = body[0]
    detail = body.get("error", body) if isinstance(body, dict) else {"message": body}
    detail = detail if isinstance(detail, dict) else {"message": detail}
    raw = detail.get("metadata")
    message = detail.get("message") or detail.get("detail") or detail.get("error")
    if isinstance(raw, dict) and raw.get("raw") and message == _OPENROUTER_MESSAGE:
        message = raw["raw"]
    if not message and response is not None:
        with suppress(Exception):  # the body was streamed and not read
            message = response.text
    own = [detail.get(name) for name in ("code", "type", "status")]
    named = [getattr(error, name, None) for name in ("code", "error_code", "type")]
    codes = [str(code) for code in [*named, *own] if code]
    status = int(getattr(error, "status_code", None) or NO_RESPONSE_STATUS)
    if status < 400:  # no connection, or an error in a reply or in the middle of a stream
        numbers = [int(code) for code in codes if code.isdigit() and 400 <= int(code) < 600]
        known = [*numbers, *(_STATUS_OF_CODE[code] for code in codes if code in _STATUS_OF_CODE)]
        status = known[0] if known else status
    extra = {k: v for k, v in detail.items() if k in ("n_ctx", "n_prompt_tokens")}
    return Failure(
        status,
        f"{message or error or type(error).__name__}{f' {extra}' if extra else ''}",
        next((code for code in codes if not code.isdigit()), ""),
        seconds_to_wait(getattr(response, "headers", {})),
    )


def seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """Read how long a provider asks the client to wait: milliseconds, seconds, or a date."""
    for name, per_second in (("retry-after-ms", 1000), ("retry-after", 1)):
        with suppress(ValueError):
            return max(0.0, float(headers.get(name, "")) / per_second)
    return retry_after(headers)
