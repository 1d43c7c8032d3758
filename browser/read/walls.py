"""Pages that stand in front of the page: checks, logins, consent, paywalls, plain errors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

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
_CAPTCHA_WORDS = re.compile(
    r"captcha|are you a (?:robot|human)|i'?m not a robot|unusual traffic|"
    r"(?:type|enter) the characters|prove (?:that )?you(?:'re| are) (?:a )?human|"
    r"kein roboter|ungewöhnlichen datenverkehr",
    re.IGNORECASE,
)
_BOT_CHECK = re.compile(
    r"just a moment\.\.\.|checking your browser|checking if the site connection is secure|"
    r"verif(?:y|ying) (?:that )?you are (?:a )?human|ddos protection by|pardon our interruption|"
    r"please wait while we (?:verify|check)|enable javascript and cookies to continue|"
    r"needs to review the security of your connection|_incapsula_resource|"
    r"cf-browser-verification|cf[-_]chl[-_]|browser (?:überprüft|wird geprüft)",
    re.IGNORECASE,
)
_BLOCKED = re.compile(
    r"access (?:to this page )?(?:has been )?denied|request blocked|you have been blocked|"
    r"the request could not be satisfied|zugriff verweigert",
    re.IGNORECASE,
)
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
_LOGIN_WORDS = re.compile(
    r"\b(?:log|sign) ?in\b|\banmelden\b|\beinloggen\b|\bse connecter\b|\biniciar sesión\b",
    re.IGNORECASE,
)
_LOGIN_PATH = re.compile(
    r"/(?:log-?in|sign-?in|auth|sso|account/login|uas/login)(?:[/?.]|$)", re.IGNORECASE
)
_PAYWALL = re.compile(
    r"subscribe (?:now )?to (?:continue|read|keep reading|unlock)|already a subscriber|"
    r"this (?:article|content|story) is (?:for|only available to|reserved for) (?:our )?"
    r"(?:subscribers|members)|to continue reading|jetzt (?:weiterlesen|abonnieren)|"
    r"réservé aux abonnés|nur für abonnenten|become a member to read",
    re.IGNORECASE,
)
_NOT_FREE = re.compile(r'"isAccessibleForFree"\s*:\s*"?false', re.IGNORECASE)


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
    if _PAYWALL.search(text) and (_NOT_FREE.search(html) or len(text) <= _LONGEST_WALL):
        return Wall(Outcome.PAYWALL, "only the beginning is free to read")
    return None


def _short(requested: str, url: str, html: str, words: str) -> Wall | None:
    return _check(html, words) or _consent(url, html, words) or _login(requested, url, html, words)


def _check(html: str, words: str) -> Wall | None:
    if _CAPTCHA_WORDS.search(words) and _CAPTCHA_MARKS.search(html):
        return Wall(Outcome.CAPTCHA, "the site asks to solve a captcha")
    if _BOT_CHECK.search(words) or (len(words) < _FEW and _BOT_CHECK.search(html)):
        return Wall(Outcome.BOT_CHECK, "the site checks whether a person is reading")
    if len(words) < _FEW and _BLOCKED.search(words):
        return Wall(Outcome.BLOCKED, "the site turned us away")
    return None


def _consent(url: str, html: str, words: str) -> Wall | None:
    if _CONSENT_HOST.match(host(url)) or _CONSENT.search(words):
        return Wall(Outcome.CONSENT, "a consent page stands before the content")
    if len(words) < _FEW and _CONSENT_DIALOG.search(html):
        return Wall(Outcome.CONSENT, "a consent dialog stands before the content")
    return None


def _login(requested: str, url: str, html: str, words: str) -> Wall | None:
    asks = _PASSWORD.search(html) is not None
    named = _LOGIN_WORDS.search(words) is not None
    sent = _LOGIN_PATH.search(_path(url)) and not _LOGIN_PATH.search(_path(requested))
    if sent and (asks or named):
        return Wall(Outcome.LOGIN, "the site sent us to its login page")
    if asks and named and len(words) < _FEW:
        return Wall(Outcome.LOGIN, "the page asks to log in")
    return None


def _path(url: str) -> str:
    parsed = parse(url)
    return parsed.path if parsed else ""
