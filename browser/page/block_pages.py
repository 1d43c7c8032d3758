"""Recognises pages shown instead of the content: bot checks, logins, consent, paywalls, errors.

A block page has little text: a longer page is never treated as one, whatever it mentions.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from browser.captchas import BOT_CHECK_MARKS, CAPTCHA_MARKS
from browser.net.url import host, parse
from browser.types import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from browser.types import Document

# Maximum length of the extracted text, in characters; an article about captchas is longer.
_MAX_BLOCK_PAGE_CHARS = 1_500
_MAX_PAYWALL_CHARS = 4_000
_MAX_NOTICE_CHARS = 500  # for a page that contains only a notice

_OUTCOME_BY_STATUS = {
    401: Outcome.UNAUTHORIZED, 402: Outcome.PAYWALL, 403: Outcome.BLOCKED, 404: Outcome.NOT_FOUND,
    407: Outcome.UNAUTHORIZED, 408: Outcome.TIMEOUT, 410: Outcome.NOT_FOUND,
    429: Outcome.RATE_LIMITED, 451: Outcome.BLOCKED, 504: Outcome.TIMEOUT,
}  # fmt: skip

_CAPTCHA = re.compile(
    r"captcha|are you (?:a )?(?:robot|human)|i'?m not a robot|unusual traffic"
    r"|(?:type|enter) the characters|prove (?:that )?you(?:'re| are) (?:a )?human"
    r"|press (?:&|and) hold|kein roboter|ungewöhnlichen datenverkehr",
    re.IGNORECASE,
)
_BOT_CHECK = re.compile(
    r"just a moment(?:\.\.\.|…|$)|checking (?:your browser|if the site connection is secure)"
    r"|verif(?:y|ying) (?:that )?you are (?:a )?human|ddos protection|pardon our interruption"
    r"|please wait while we (?:verify|check)|enable javascript and cookies to continue"
    r"|needs to review the security|browser (?:überprüft|wird geprüft)",
    re.IGNORECASE,
)
_PAYWALL = re.compile(
    r"subscribe (?:now )?to (?:continue|read|keep reading|unlock)|already a subscriber"
    r"|th(?:is|e) (?:article|content|story) is (?:only )?(?:for|available to|reserved for)"
    r" (?:our |paying )?(?:subscribers|members)|(?:article|content|story) is only available to"
    r"|subscribers? only|continue reading with|to continue reading|unlock this (?:article|story)"
    r"|(?:free )?articles? (?:left|remaining)|become a member to read"
    r"|jetzt (?:weiterlesen|abonnieren)|réservé aux abonnés|nur für abonnenten",
    re.IGNORECASE,
)
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
_FIELD = re.compile(r"<(?:input|select|textarea)\b")
_PASSWORD = re.compile(r"<input[^>]{1,300}type\s*=\s*[\"']?password", re.IGNORECASE)
# The other kinds are recognised by literal phrases, in lower case.
_BLOCKED_PHRASES = (
    "access denied", "access has been denied", "access to this page denied",
    "access to this page has been denied", "request blocked", "you have been blocked",
    "the request could not be satisfied", "403 forbidden", "zugriff verweigert",
)  # fmt: skip
_LOGIN_PHRASES = (
    "login", "log in", "signin", "sign in", "anmelden", "einloggen", "se connecter",
    "iniciar sesión", "wachtwoord",
)  # fmt: skip
_NOT_FREE_MARKUP = ('"isaccessibleforfree":false', '"isaccessibleforfree":"false')
_BOT_MARKS = re.compile("|".join(BOT_CHECK_MARKS), re.IGNORECASE)
_CONSENT_HOSTS = ("consent.", "consentmanager.", "privacyconsent.", "privacy-consent.")
_LOGIN_PATHS = ("/login/", "/log-in/", "/signin/", "/sign-in/", "/auth/", "/sso/")


CAPTCHA_REASON = "the site asks for a captcha to be solved"
PAYWALL_REASON = "only the beginning is free to read"


class BlockPage(NamedTuple):
    """The kind of block page, with a one-line reason for the verdict."""

    outcome: Outcome
    reason: str


def find_block_page(
    status: int | None,
    requested: str,
    url: str,
    html: str,
    document: Document | None,
    shown: str = "",
) -> BlockPage | None:
    """Recognise a block page by its status, address and wording; None if it is not one.

    `requested` is the address before redirects, `url` the one after them. `status` is None for a
    page that was read in the browser. `shown` is all of the page's visible text, because the
    paywall's wording may be missing from the extracted text.
    """
    block = _by_content(requested, url, html, document, shown)
    if status is None or status < 400:
        return block
    if block is not None and block.outcome in {Outcome.CAPTCHA, Outcome.BOT_CHECK, Outcome.LOGIN}:
        return BlockPage(block.outcome, f"{block.reason} (HTTP {status})")
    return BlockPage(_OUTCOME_BY_STATUS.get(status, Outcome.ERROR), f"HTTP {status}")


def is_bare_page(html: str, document: Document) -> bool:
    """Whether a live page has little text and no form.

    A captcha inside a form does not block the page.
    """
    return len(document.text) <= _MAX_BLOCK_PAGE_CHARS and _FIELD.search(html) is None


def mentions_captcha(document: Document) -> bool:
    """Whether a page contains only a notice about a captcha of any kind."""
    words = f"{document.title}\n{document.text}"
    return len(words) < _MAX_NOTICE_CHARS and _CAPTCHA.search(words) is not None


def may_be_paywall(html: str, document: Document | None) -> bool:
    """Whether to search all of a page's visible text for paywall wording."""
    return (
        document is not None
        and len(document.text) <= _MAX_PAYWALL_CHARS
        and _PAYWALL.search(html) is not None
    )


def _by_content(
    requested: str, url: str, html: str, document: Document | None, shown: str
) -> BlockPage | None:
    text = document.text if document else ""
    title = document.title if document else ""
    if len(text) > _MAX_PAYWALL_CHARS:
        return None
    words = f"{title}\n{text}"
    if len(text) <= _MAX_BLOCK_PAGE_CHARS and (
        block := _short_block_page(requested, url, html, words)
    ):
        return block
    if not _PAYWALL.search(f"{text}\n{shown}"):
        return None
    # A longer page with such wording must also be marked as not free (schema.org).
    if len(text) <= _MAX_BLOCK_PAGE_CHARS or _contains_any("".join(html.split()), _NOT_FREE_MARKUP):
        return BlockPage(Outcome.PAYWALL, PAYWALL_REASON)
    return None


def _short_block_page(requested: str, url: str, html: str, words: str) -> BlockPage | None:
    """Recognise a short block page; the most reliable signs are checked first."""
    bare = len(words) < _MAX_NOTICE_CHARS
    if _CAPTCHA.search(words) and _contains_any(html, CAPTCHA_MARKS):
        return BlockPage(Outcome.CAPTCHA, CAPTCHA_REASON)
    if _BOT_CHECK.search(words) or (bare and (_BOT_CHECK.search(html) or _BOT_MARKS.search(html))):
        return BlockPage(Outcome.BOT_CHECK, "the site checks whether the visitor is human")
    if bare and _contains_any(words, _BLOCKED_PHRASES):
        return BlockPage(Outcome.BLOCKED, "the site refused access")
    if host(url).startswith(_CONSENT_HOSTS) or _CONSENT.search(words):
        return BlockPage(Outcome.CONSENT, "a consent page covers the content")
    if bare and _CONSENT_DIALOG.search(html):
        return BlockPage(Outcome.CONSENT, "a consent dialog covers the content")
    has_password_field = _PASSWORD.search(html) is not None
    mentions_login = _contains_any(words, _LOGIN_PHRASES)
    was_redirected = _is_login(url) and not _is_login(requested)
    if was_redirected and (has_password_field or mentions_login):
        return BlockPage(Outcome.LOGIN, "the site redirected to its login page")
    if has_password_field and mentions_login and bare:
        return BlockPage(Outcome.LOGIN, "the page asks for a login")
    return None


def _contains_any(text: str, phrases: Iterable[str]) -> bool:
    folded = text.lower()
    return any(phrase in folded for phrase in phrases)


def _is_login(url: str) -> bool:
    """Whether the path has a login segment: `/login`, `/auth/…`, `/login.php`."""
    parsed = parse(url)
    path = parsed.path.lower().replace(".", "/") + "/" if parsed else ""
    return any(login in path for login in _LOGIN_PATHS)
