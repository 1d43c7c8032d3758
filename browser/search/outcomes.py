"""What an HTTP answer that is no answer means: limits, quotas, keys, walls."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from browser.types import Outcome, SearchPage

if TYPE_CHECKING:
    from collections.abc import Mapping

# Words that APIs put into the error they send; looked for in error bodies only, never in results.
_QUOTA = re.compile(
    r"not enough credits|insufficient (?:credits|balance)|quota|usage limit|plan.{0,20}limit"
    r"|billing|payment required",
    re.IGNORECASE,
)
_UNAUTHORIZED = re.compile(
    r"unauthori[sz]ed|(?:invalid|missing|wrong|bad).{0,30}(?:api.?key|token|credential)"
    r"|(?:api.?key|token|credential)s?.{0,40}(?:invalid|missing|required|wrong)|bad credentials",
    re.IGNORECASE,
)
_LIMITED = re.compile(r"rate.?limit|throttl|too many requests", re.IGNORECASE)

# A page between the asker and the results. Element ids, class names and form targets rather than
# words: a result may well speak of captchas.
_WALLS = re.compile(
    r"""id=["']?(?:challenge-form|challenge-running|cf-challenge|captcha-form|cf-wrapper|px-captcha)\b
    |class=["'](?:[^"']*\s)?(?:anomaly-modal|cf-browser-verification|cf-turnstile|pow-captcha)
    |/cdn-cgi/challenge-platform/
    |<title>\s*(?:Just\ a\ moment|Attention\ Required!|Access\ denied|Verifying\ your\ request
       |Making\ sure\ you)""",
    re.IGNORECASE | re.VERBOSE,
)
_CONSENT = re.compile(
    r"""<form[^>]+action=["']?https?://consent\.[^"'>]+|<title>\s*Before you continue""",
    re.IGNORECASE,
)

# Tavily's codes for a used-up plan stand outside the registry of HTTP status codes.
_QUOTA_STATUSES = (402, 432, 433)
_LOOKED_AT = 20_000


def judge_refusal(
    status: int, headers: Mapping[str, str], body: str, *, is_api: bool
) -> SearchPage | None:
    """Name what a status, its headers and an error body say; None for an answer to be parsed."""
    if not is_api or not body.lstrip().startswith(("{", "[")):
        wall = wall_of(body)
        if wall:
            return SearchPage(Outcome.BLOCKED, detail=wall, retry_after=retry_after(headers))
    if 200 <= status < 300:
        return None
    outcome = _outcome_of(status, body[:_LOOKED_AT], is_api=is_api, headers=headers)
    return SearchPage(outcome, detail=f"HTTP {status}", retry_after=retry_after(headers))


def error_payload(text: str) -> SearchPage:
    """Judge an error that an API sent with status 200, from what it says."""
    detail = " ".join(text.split())[:200]
    for pattern, outcome in (
        (_LIMITED, Outcome.RATE_LIMITED),
        (_QUOTA, Outcome.QUOTA),
        (_UNAUTHORIZED, Outcome.UNAUTHORIZED),
    ):
        if pattern.search(text):
            return SearchPage(outcome, detail=detail)
    return SearchPage(Outcome.ERROR, detail=f"unexpected answer: {detail}")


def wall_of(body: str) -> str:
    """Say what stands between us and the results: a check for robots, consent, or nothing ('')."""
    if _WALLS.search(body):
        return "a check for robots"
    if _CONSENT.search(body[:_LOOKED_AT]):
        return "a consent page"
    return ""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that `Retry-After` (or GitHub's reset time) asks to wait; None if it says nothing."""
    lower = {name.lower(): value.strip() for name, value in headers.items()}
    value = lower.get("retry-after", "")
    if value.isdigit():
        return float(value)
    now = datetime.now(UTC)
    if not value and lower.get("x-ratelimit-remaining") == "0":
        reset = lower.get("x-ratelimit-reset", "")
        return max(0.0, float(reset) - now.timestamp()) if reset.isdigit() else None
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds())


def _outcome_of(status: int, body: str, *, is_api: bool, headers: Mapping[str, str]) -> Outcome:
    if status in _QUOTA_STATUSES:
        return Outcome.QUOTA
    if status == 429:
        return Outcome.QUOTA if is_api and _QUOTA.search(body) else Outcome.RATE_LIMITED
    if status == 503 and retry_after(headers) is not None:
        return Outcome.RATE_LIMITED
    if status >= 500 or (status in (404, 405, 410)):
        return Outcome.ERROR
    if not is_api:
        return Outcome.BLOCKED if status in (401, 403, 451) else Outcome.ERROR
    return _api_refusal(status, body, headers)


def _api_refusal(status: int, body: str, headers: Mapping[str, str]) -> Outcome:
    said = error_payload(body).outcome
    if said is not Outcome.ERROR:
        return said
    if status == 403 and retry_after(headers) is not None:
        return Outcome.RATE_LIMITED
    return Outcome.UNAUTHORIZED if status in (401, 403) else Outcome.ERROR
