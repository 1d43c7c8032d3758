"""Pages that stand in front of the page: checks, logins, consent, paywalls, plain errors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from browser import signs
from browser.net.url import host, parse
from browser.types import Outcome

if TYPE_CHECKING:
    from browser.types import Document

# A wall is short; an article about captchas is not.
_LONGEST_WALL = 1_500
_LONGEST_PAYWALL = 4_000
# What fits on a bare notice.
_FEW = 500

_STATUS = {
    401: Outcome.UNAUTHORIZED, 402: Outcome.PAYWALL, 403: Outcome.BLOCKED, 404: Outcome.NOT_FOUND,
    407: Outcome.UNAUTHORIZED, 408: Outcome.TIMEOUT, 410: Outcome.NOT_FOUND,
    429: Outcome.RATE_LIMITED, 451: Outcome.BLOCKED, 504: Outcome.TIMEOUT,
}  # fmt: skip

_CAPTCHA_MARKS = re.compile(
    r"g-recaptcha|hcaptcha\.com|h-captcha|captcha-delivery\.com|px-captcha|geo\.captcha|"
    r"/captcha/|captcha-form|arkoselabs|funcaptcha",
    re.IGNORECASE,
)
_BOT_MARKS = re.compile(r"_incapsula_resource|cf-browser-verification|cf[-_]chl[-_]", re.IGNORECASE)
_CONSENT_HOST = re.compile(r"^(?:consent|consentmanager|privacy-?consent)\.", re.IGNORECASE)
_CONSENT = re.compile(
    r"before you continue to|bevor sie (?:fortfahren|zu .{1,40} weitergehen)|"
    r"(?:accept|agree to|alle) (?:all |the )?(?:use of )?cookies?\b.{0,80}"
    r"(?:to continue|continue reading|weiterlesen)|avant d'accéder|"
    r"mit werbung (?:und tracking )?weiterlesen",
    re.IGNORECASE | re.DOTALL,
)
_CONSENT_DIALOG = re.compile(
    r"<(?:dialog\b|[^>]{0,300}(?:role\s*=\s*[\"']?(?:alert)?dialog|aria-modal\s*=\s*[\"']?true))"
    r"[^>]{0,300}>.{0,1500}?(?:cookie|consent|einwilligung|consentement|consentimiento)",
    re.IGNORECASE | re.DOTALL,
)
_PASSWORD = re.compile(r"<input[^>]{1,300}type\s*=\s*[\"']?password", re.IGNORECASE)
_LOGIN_PATH = re.compile(
    r"/(?:log-?in|sign-?in|auth|sso|account/login|uas/login)(?:[/?.]|$)", re.IGNORECASE
)


class Wall(NamedTuple):
    """What stands in the way, and one line for people that says so."""

    outcome: Outcome
    reason: str


def find_wall(
    status: int | None, requested: str, url: str, html: str, document: Document | None
) -> Wall | None:
    """Name what stands before the page, by status, address and words; None for a page."""
    wall = _by_content(requested, url, html, document)
    if status is None or status < 400:
        return wall
    if wall is not None and wall.outcome in {Outcome.CAPTCHA, Outcome.BOT_CHECK, Outcome.LOGIN}:
        return Wall(wall.outcome, f"{wall.reason} (HTTP {status})")
    return Wall(_STATUS.get(status, Outcome.ERROR), f"HTTP {status}")


def _by_content(requested: str, url: str, html: str, document: Document | None) -> Wall | None:
    text = document.text if document else ""
    title = document.title if document else ""
    if len(text) > _LONGEST_PAYWALL:
        return None
    if len(text) <= _LONGEST_WALL and (wall := _short(requested, url, html, f"{title}\n{text}")):
        return wall
    if signs.PAYWALL.search(text) and (signs.NOT_FREE.search(html) or len(text) <= _LONGEST_WALL):
        return Wall(Outcome.PAYWALL, "only the beginning is free to read")
    return None


def _short(requested: str, url: str, html: str, words: str) -> Wall | None:
    return _check(html, words) or _consent(url, html, words) or _login(requested, url, html, words)


def _check(html: str, words: str) -> Wall | None:
    if signs.CAPTCHA.search(words) and _CAPTCHA_MARKS.search(html):
        return Wall(Outcome.CAPTCHA, "the site asks to solve a captcha")
    if signs.BOT_CHECK.search(words) or (len(words) < _FEW and _bot_check_in(html)):
        return Wall(Outcome.BOT_CHECK, "the site checks whether a person is reading")
    if len(words) < _FEW and signs.BLOCKED.search(words):
        return Wall(Outcome.BLOCKED, "the site turned us away")
    return None


def _bot_check_in(html: str) -> bool:
    return bool(signs.BOT_CHECK.search(html) or _BOT_MARKS.search(html))


def _consent(url: str, html: str, words: str) -> Wall | None:
    if _CONSENT_HOST.match(host(url)) or _CONSENT.search(words):
        return Wall(Outcome.CONSENT, "a consent page stands before the content")
    if len(words) < _FEW and _CONSENT_DIALOG.search(html):
        return Wall(Outcome.CONSENT, "a consent dialog stands before the content")
    return None


def _login(requested: str, url: str, html: str, words: str) -> Wall | None:
    asks = _PASSWORD.search(html) is not None
    named = signs.LOGIN.search(words) is not None
    sent = _LOGIN_PATH.search(_path(url)) and not _LOGIN_PATH.search(_path(requested))
    if sent and (asks or named):
        return Wall(Outcome.LOGIN, "the site sent us to its login page")
    if asks and named and len(words) < _FEW:
        return Wall(Outcome.LOGIN, "the page asks to log in")
    return None


def _path(url: str) -> str:
    parsed = parse(url)
    return parsed.path if parsed else ""
