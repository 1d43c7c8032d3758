"""How we introduce ourselves: as the browser that reads the page when HTTP does not suffice."""

from __future__ import annotations

import sys

from browser.net.decode import ACCEPT_ENCODING

# The stable Chrome of autumn 2026. Sites turn away user agents that are years old, not those
# a few versions behind.
_VERSION = "156"
# Chrome sends these frozen strings whatever the machine (its "reduced" user agent).
_PLATFORMS = {
    "darwin": ("Macintosh; Intel Mac OS X 10_15_7", "macOS"),
    "win32": ("Windows NT 10.0; Win64; x64", "Windows"),
}
_PLATFORM, _HINT = _PLATFORMS.get(sys.platform, ("X11; Linux x86_64", "Linux"))

USER_AGENT = (
    f"Mozilla/5.0 ({_PLATFORM}) AppleWebKit/537.36 (KHTML, like Gecko) "
    f"Chrome/{_VERSION}.0.0.0 Safari/537.36"
)
ROBOTS_AGENT = "Urchin"
"""The product token that robots.txt rules are looked up under (RFC 9309, 2.2.1)."""

_COMMON = {
    "User-Agent": USER_AGENT,
    "Accept-Encoding": ACCEPT_ENCODING,
    "Accept-Language": "en-US,en;q=0.9",
}
PAGE_HEADERS = {
    **_COMMON,
    "sec-ch-ua": f'"Chromium";v="{_VERSION}", "Google Chrome";v="{_VERSION}", "Not.A/Brand";v="99"',
    "sec-ch-ua-mobile": "?0",
    "sec-ch-ua-platform": f'"{_HINT}"',
    "Upgrade-Insecure-Requests": "1",
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Sec-Fetch-Site": "none",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-User": "?1",
    "Sec-Fetch-Dest": "document",
}
"""What accompanies a GET: a person opening a page."""

API_HEADERS = {**_COMMON, "Accept": "application/json, */*;q=0.5"}
"""What accompanies a POST."""
