"""What an HTTP answer that is no answer means: limits, quotas, keys, walls."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from browser.net.pace import retry_after as said_in
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
    |class=["'](?:[^"']*\s)?(?:captcha_header|b_captcha)\b
    |/cdn-cgi/challenge-platform/ | /anomaly\.js\? | action=["']?/checkcaptcha\?
    |<title[^>]*>[^<]{0,60}(?:Just\ a\ moment|Attention\ Required!|Access\ denied
       |Verifying\ your\ request|Making\ sure\ you|One\ last\ step|\bCaptcha\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_CONSENT = re.compile(
    r"""<form[^>]+action=["']?https?://consent\.[^"'>]+|<title[^>]*>\s*Before you continue""",
    re.IGNORECASE,
)

# What such pages say; for texts of pages on which no result was found.
WALL_WORDS = re.compile(
    r"unusual traffic from your|automated (?:queries|requests)"
    r"|(?:you are|you're|are you) (?:not )?a robot|verify (?:that )?you(?:'re| are) (?:a )?human"
    r"|bots use DuckDuckGo too|checking your browser"
    r"|complete the (?:following )?(?:challenge|captcha)",
    re.IGNORECASE,
)

# Tavily's codes for a used-up plan stand outside the registry of HTTP status codes.
_QUOTA_STATUSES = (402, 432, 433)
_LOOKED_AT = 20_000


def judge_refusal(
    status: int, headers: Mapping[str, str], body: str, *, keyed: bool
) -> SearchPage | None:
    """Name what a status, its headers and an error body say; None for an answer to be parsed.

    `keyed` says that the engine knows keys: without, a 403 is a wall, not a wrong key.
    """
    if 200 <= status < 300:
        return None
    wall = wall_of(body)
    if wall:
        return SearchPage(Outcome.BLOCKED, detail=wall, retry_after=retry_after(headers))
    wait = retry_after(headers)
    outcome = _outcome_of(status, body[:_LOOKED_AT], wait, keyed=keyed)
    return SearchPage(outcome, detail=f"HTTP {status}", retry_after=wait)


def error_payload(text: str) -> SearchPage:
    """Judge an error, or a page, that an API sent with status 200, from what it says."""
    wall = wall_of(text)
    if wall:
        return SearchPage(Outcome.BLOCKED, detail=wall)
    detail = " ".join(text.split())[:200]
    for pattern, outcome in (
        (_LIMITED, Outcome.RATE_LIMITED),
        (_QUOTA, Outcome.QUOTA),
        (_UNAUTHORIZED, Outcome.UNAUTHORIZED),
    ):
        if pattern.search(text):
            return SearchPage(outcome, detail=detail, retry_after=_said_seconds(text))
    return SearchPage(Outcome.ERROR, detail=f"unexpected answer: {detail}")


def _said_seconds(text: str) -> float | None:
    found = re.search(r"(\d{1,6}) seconds", text)
    return float(found[1]) if found else None


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
    reset = lower.get("x-ratelimit-reset", "")
    if "retry-after" not in lower and lower.get("x-ratelimit-remaining") == "0" and reset.isdigit():
        return max(0.0, float(reset) - time.time())
    return said_in(lower)


def _outcome_of(status: int, body: str, wait: float | None, *, keyed: bool) -> Outcome:
    if status in _QUOTA_STATUSES:
        return Outcome.QUOTA
    if status == 429:
        return Outcome.QUOTA if keyed and _QUOTA.search(body) else Outcome.RATE_LIMITED
    if status in (403, 503) and wait is not None:
        return Outcome.RATE_LIMITED
    if status >= 500 or status in (404, 405, 410):
        return Outcome.ERROR
    said = error_payload(body).outcome if body.lstrip().startswith("{") else Outcome.ERROR
    if said is not Outcome.ERROR:
        return said
    if status in (401, 403):
        return Outcome.UNAUTHORIZED if keyed else Outcome.BLOCKED
    return Outcome.BLOCKED if status == 451 else Outcome.ERROR
