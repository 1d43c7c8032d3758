"""The marks of captchas and bot checks: class names, ids, hosts and paths of each vendor.

They are used on live pages (`page/js/captcha.js`), on pages read (`page/block_pages.py`) and on
search engines' pages (`search/refusals.py`).
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Captcha(NamedTuple):
    """A captcha that a solver can answer.

    - `hosts`: where its frames come from.
    - `widget`: the class of its element.
    - `frame`: a regular expression for its frame's address; the group is the site key.
    - `api`: the global variable of its script, and `script`: a part of the script's address.
    - `fields`: the names of the form fields that take the token; the first is added if none exists.
    """

    kind: str
    hosts: tuple[str, ...]
    widget: str
    frame: str
    api: str
    script: str
    fields: tuple[str, ...]


TURNSTILE: Final = Captcha(
    kind="turnstile",
    hosts=("cloudflare.com",),
    widget="cf-turnstile",
    frame=r"challenges\.cloudflare\.com\/.*\/(0x[\w-]{8,})(?:\/|$)",
    api="turnstile",
    script="turnstile",
    fields=("cf-turnstile-response", "g-recaptcha-response"),
)
HCAPTCHA: Final = Captcha(
    kind="hcaptcha",
    hosts=("hcaptcha.com",),
    widget="h-captcha",
    frame=r"hcaptcha\.com\/.*[?#&]sitekey=([\w-]+)",
    api="hcaptcha",
    script="hcaptcha",
    fields=("h-captcha-response", "g-recaptcha-response"),
)
RECAPTCHA: Final = Captcha(
    kind="recaptcha",
    hosts=("google.com", "recaptcha.net"),
    widget="g-recaptcha",
    frame=r"recaptcha\/(?:api2|enterprise)\/(?:anchor|bframe)\?.*\bk=([\w-]+)",
    api="grecaptcha",
    script="recaptcha",
    fields=("g-recaptcha-response",),
)
SOLVABLE: Final = (TURNSTILE, HCAPTCHA, RECAPTCHA)

_PERIMETERX = "px-captcha"
_CAPTCHA_FORM = "captcha-form"
_CLOUDFLARE_CHECK = "cf-browser-verification"

CAPTCHA_MARKS: Final = (
    *(RECAPTCHA.widget, HCAPTCHA.widget, *HCAPTCHA.hosts),
    *("captcha-delivery.com", "geo.captcha"),  # DataDome
    *("arkoselabs", "funcaptcha"),
    *(_PERIMETERX, _CAPTCHA_FORM, "/captcha/"),
)
"""Strings in the HTML of a page that asks for a captcha; Turnstile counts as a bot check."""
BOT_CHECK_MARKS: Final = ("_incapsula_resource", _CLOUDFLARE_CHECK, "cf[-_]chl[-_]")
"""Regular expressions for the HTML of a page that checks the browser."""
ENGINE_IDS: Final = (
    *("challenge-form", "challenge-running", "cf-challenge", "cf-wrapper"),  # Cloudflare
    *(_CAPTCHA_FORM, _PERIMETERX),
)
"""The ids of elements on pages that search engines show instead of results."""
ENGINE_CLASSES: Final = (
    *("anomaly-modal", _CLOUDFLARE_CHECK, TURNSTILE.widget, "pow-captcha"),
    *(r"captcha_header\b", r"b_captcha\b"),
)
"""The beginnings of class names on such pages, as regular expressions."""
ENGINE_ADDRESSES: Final = (
    "/cdn-cgi/challenge-platform/",
    r"/anomaly\.js\?",
    r"""action=["']?/checkcaptcha\?""",
)
"""Scripts and form targets on such pages, as regular expressions."""
