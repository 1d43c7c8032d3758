"""Interprets engines' refusals: rate limits, quotas, wrong keys, block pages."""

from __future__ import annotations

import re

from browser.captchas import ENGINE_ADDRESSES, ENGINE_CLASSES, ENGINE_IDS
from browser.types import Outcome, SearchPage

# Words in API errors; these are searched for only in error bodies, never in results.
_QUOTA_WORDS = re.compile(
    r"not enough credits|insufficient (?:credits|balance)|quota|usage limit|plan.{0,20}limit"
    r"|billing|payment required",
    re.IGNORECASE,
)
_UNAUTHORIZED_WORDS = re.compile(
    r"unauthori[sz]ed|(?:invalid|missing|wrong|bad).{0,30}(?:api.?key|token|credential)"
    r"|(?:api.?key|token|credential)s?.{0,40}(?:invalid|missing|required|wrong)|bad credentials",
    re.IGNORECASE,
)
_RATE_LIMIT_WORDS = re.compile(r"rate.?limit|throttl|too many requests", re.IGNORECASE)
_OUTCOME_BY_ERROR_WORDS = (
    (_RATE_LIMIT_WORDS, Outcome.RATE_LIMITED),
    (_QUOTA_WORDS, Outcome.QUOTA),
    (_UNAUTHORIZED_WORDS, Outcome.UNAUTHORIZED),
)

# Pages shown instead of results. They are recognised by element ids, class names and form targets
# rather than by words, because a result may be about captchas.
_BLOCK_PAGES = re.compile(
    rf"""id=["']?(?:{"|".join(ENGINE_IDS)})\b
    |class=["'](?:[^"']*\s)?(?:{"|".join(ENGINE_CLASSES)})
    |{"|".join(ENGINE_ADDRESSES)}
    |<title[^>]*>[^<]{{0,60}}(?:Just\ a\ moment|Attention\ Required!|Access\ denied
       |Verifying\ your\ request|Making\ sure\ you|One\ last\ step|\bCaptcha\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_CONSENT_PAGES = re.compile(
    r"""<form[^>]+action=["']?https?://consent\.[^"'>]+|<title[^>]*>\s*Before you continue""",
    re.IGNORECASE,
)
# Words on bot checks; they are searched for only on pages without results.
BLOCK_PAGE_WORDS = re.compile(
    r"unusual traffic from your|automated (?:queries|requests)"
    r"|(?:you are|you're|are you) (?:not )?a robot|verify (?:that )?you(?:'re| are) (?:a )?human"
    r"|bots use DuckDuckGo too|checking your browser"
    r"|complete the (?:following )?(?:challenge|captcha)",
    re.IGNORECASE,
)

# Payment required, and Tavily's unregistered codes for an exhausted plan.
_QUOTA_STATUSES = (402, 432, 433)
_SEARCHED_CHARS = 20_000


UNREADABLE = "no results could be read; the layout may have changed"


def refusal_from_response(
    status: int, body: str, wait: float | None, *, keyed: bool
) -> SearchPage | None:
    """Interpret a status and an error body; returns None for an answer that can be parsed.

    `wait` is the answer's `Retry-After` in seconds. `keyed` means that the engine takes a key: for
    other engines, a 403 is a block page, not a wrong key.
    """
    if 200 <= status < 300:
        return None
    if blocked := recognise_block_page(body):
        return SearchPage(Outcome.BLOCKED, detail=blocked, retry_after=wait)
    outcome = _outcome_of(status, body[:_SEARCHED_CHARS], wait, keyed=keyed)
    return SearchPage(outcome, detail=f"HTTP {status}", retry_after=wait)


def _outcome_of(status: int, body: str, wait: float | None, *, keyed: bool) -> Outcome:
    if status in _QUOTA_STATUSES:
        return Outcome.QUOTA
    if status == 429:
        return Outcome.QUOTA if keyed and _QUOTA_WORDS.search(body) else Outcome.RATE_LIMITED
    if status in (403, 503) and wait is not None:
        return Outcome.RATE_LIMITED
    if status >= 500 or status in (404, 405, 410):
        return Outcome.ERROR
    if body.lstrip().startswith("{"):
        outcome = refusal_from_error(body).outcome
        if outcome is not Outcome.ERROR:
            return outcome
    if status in (401, 403):
        return Outcome.UNAUTHORIZED if keyed else Outcome.BLOCKED
    return Outcome.BLOCKED if status == 451 else Outcome.ERROR


def refusal_from_error(text: str) -> SearchPage:
    """Interpret the text of an error or of an unexpected page with status 200."""
    if blocked := recognise_block_page(text):
        return SearchPage(Outcome.BLOCKED, detail=blocked)
    detail = " ".join(text.split())[:200]
    for pattern, outcome in _OUTCOME_BY_ERROR_WORDS:
        if pattern.search(text):
            seconds = re.search(r"(\d{1,6}) seconds", text)
            wait = float(seconds[1]) if seconds else None
            return SearchPage(outcome, detail=detail, retry_after=wait)
    return SearchPage(Outcome.ERROR, detail=f"unexpected answer: {detail}")


def recognise_block_page(body: str) -> str:
    """Return the kind of block page, such as a bot check or consent page; "" for any other page."""
    if _BLOCK_PAGES.search(body):
        return "a bot check"
    return "a consent page" if _CONSENT_PAGES.search(body[:_SEARCHED_CHARS]) else ""
