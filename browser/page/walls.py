"""What stands in front of a live page: checks, logins, paywalls, limits."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from browser import signs
from browser.page import library
from browser.types import Outcome

if TYPE_CHECKING:
    from playwright.async_api import Page

# A wall says little; a page with this much to read is no wall, whatever it mentions.
LONGEST_WALL = 1_800  # characters
LONGEST_TEASER = 6_000
_STATUS = {429: Outcome.RATE_LIMITED, 401: Outcome.UNAUTHORIZED, 402: Outcome.PAYWALL}
_MISSING = frozenset({404, 410})
_CAPTCHA_FRAMES = re.compile(
    r"recaptcha/(?:api2|enterprise)/(?:anchor|bframe)|hcaptcha\.com|challenges\.cloudflare\.com"
    r"|arkoselabs|funcaptcha|captcha-delivery\.com|geo\.captcha",
    re.IGNORECASE,
)
_LIMIT = re.compile(
    r"too many requests|rate limit|slow down|try again (?:later|in \d+)", re.IGNORECASE
)


async def wall_of(page: Page, status: int | None) -> Outcome:
    """Judge what a page is: OK, or the kind of wall that stands in front of it."""
    return judge(await library.call(page.main_frame, "wall"), status)


def judge(facts: dict[str, Any], status: int | None) -> Outcome:
    """Judge by the page's facts and HTTP status, the surest sign first."""
    words = f"{facts['title']}\n{facts['text']}"
    short = facts["length"] < LONGEST_WALL
    if status in _MISSING and short:
        return Outcome.NOT_FOUND
    if short and (check := _check(facts, words)):
        return check
    if status in _STATUS and short:
        return _STATUS[status]
    if short and _LIMIT.search(words) and status is not None and status >= 400:
        return Outcome.RATE_LIMITED
    if short and facts["password"] and signs.LOGIN.search(words):
        return Outcome.LOGIN
    if facts["length"] < LONGEST_TEASER and _behind_paywall(facts, words):
        return Outcome.PAYWALL
    if short and (status == 403 or signs.BLOCKED.search(words)):
        return Outcome.BLOCKED
    return Outcome.OK


def _check(facts: dict[str, Any], words: str) -> Outcome | None:
    if signs.BOT_CHECK.search(words):
        return Outcome.BOT_CHECK
    framed = any(_CAPTCHA_FRAMES.search(source) for source in facts["frames"])
    # Beside fields to fill in, a captcha is part of a form and nothing stands behind it.
    if (framed or facts["challenge"]) and not facts["fields"]:
        return Outcome.CAPTCHA
    return Outcome.CAPTCHA if signs.CAPTCHA.search(words) else None


def _behind_paywall(facts: dict[str, Any], words: str) -> bool:
    said = bool(signs.PAYWALL.search(words))
    return said and (facts["paywall"] or facts["marked"] or facts["length"] < LONGEST_WALL)
