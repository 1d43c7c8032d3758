"""Results as every engine should give them: real targets, plain text, ISO dates, no copies."""

from __future__ import annotations

import base64
import binascii
import html
import re
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from browser.net.url import is_web_url, normalize, parse
from browser.text.words import clean
from browser.types import SearchResult

if TYPE_CHECKING:
    from collections.abc import Iterable

# Marks that APIs leave in their texts; whatever else stands in angle brackets (`Vec<T>`) is text.
_MARK = re.compile(
    r"</?(?:a|b|br|div|em|i|mark|p|small|span|strong|sub|sup|u)(?:\s[^<>]{0,300})?/?>",
    re.IGNORECASE,
)
# `www.`, `m.`, `mobile.`, `amp.` in front, or `en.m.wikipedia.org` in the middle.
_TWIN_HOST = re.compile(r"^(?:www|mobile|m|amp)\.|(?<=^[a-z]{2}\.)m\.")
_MAX_UNWRAPS = 3  # a wrapper in a wrapper in a wrapper is already absurd

# Redirectors of engines: host pattern, path pattern, the parameters that hold the target.
_WRAPPERS = (
    (re.compile(r"(?:^|\.)duckduckgo\.com$"), re.compile(r"^/l/?$"), ("uddg",)),
    (re.compile(r"(?:^|\.)google\.[a-z.]{2,6}$"), re.compile(r"^/(?:url|imgres)$"), ("q", "url")),
    (re.compile(r"(?:^|\.)bing\.com$"), re.compile(r"^/(?:ck/a|alink/link)$"), ("u", "url")),
    (re.compile(r"(?:^|\.)yahoo\.com$"), re.compile(r"^/.*RU="), ("RU",)),
)
# Google's newer wrapper is encrypted; whoever opens it is led on to the target.
_SEALED = re.compile(r"^https?://(?:www\.)?google\.[a-z.]{2,6}/goto\?")
# Where advertisements lead: `/y.js` of DuckDuckGo, `/aclick` of Bing, `/aclk` of Google, …
_AD = re.compile(
    r"^(?:[\w.-]*\.)?(?:duckduckgo\.com/[ym]\.js|bing\.com/acli?c?k|google\.[a-z.]{2,6}/aclk"
    r"|googleadservices\.com/|doubleclick\.net/|search\.brave\.com/a/redirect)"
)


def tidy(results: Iterable[SearchResult], provider: str) -> tuple[SearchResult, ...]:
    """Unwrap, clean and number results; those without a web address or a title go."""
    kept: dict[str, SearchResult] = {}
    for result in results:
        url = target(result.url)
        title = readable(result.title)
        if not url or not title:
            continue
        key = same_page_key(url)
        if key not in kept:
            snippet = readable(result.snippet)
            kept[key] = SearchResult(
                url=url,
                title=title,
                snippet=snippet,
                provider=provider,
                rank=len(kept) + 1,
                published=as_iso(result.published) or leading_date(snippet),
            )
    return tuple(kept.values())


def readable(text: str) -> str:
    """Text on one line, without characters that steer or hide."""
    return " ".join(clean(text).split())


def without_marks(text: str) -> str:
    """Undo the tags and entities that APIs leave in their texts."""
    return html.unescape(_MARK.sub("", text))


def target(url: str) -> str:
    """Undo redirect wrappers; '' where an advertisement or no web address comes out."""
    url = url.strip()
    for _ in range(_MAX_UNWRAPS):
        if url.startswith("//"):
            url = f"https:{url}"
        try:
            parts = urlsplit(url)
        except ValueError:
            return ""
        if _AD.match(f"{parts.netloc}{parts.path}"):
            return ""
        inner = _unwrap(parts)
        if inner is None:
            break
        url = inner
    # A page of results that names a local file is not believed.
    return url if is_web_url(url) else ""


def is_sealed(url: str) -> bool:
    """Whether an address is a wrapper that only its engine can undo."""
    return bool(_SEALED.match(url))


def is_on_site(url: str, site: str) -> bool:
    """Whether an address lies on `site`: a host and its subdomains, or a folder (`a.org/docs`)."""
    there = parse(url)
    wanted = parse(f"http://{site.strip().rpartition('//')[2]}")
    if there is None or wanted is None:
        return False
    named = wanted.host.removeprefix("www.")
    return f".{there.host}".endswith(f".{named}") and there.path.startswith(wanted.path.rstrip("/"))


def same_page_key(url: str) -> str:
    """Give a key that is equal for spellings of one address.

    Scheme, `www.`, tracking and a last slash do not matter, nor whether it is the page for
    telephones or its AMP copy.
    """
    parts = urlsplit(normalize(url))
    host = _TWIN_HOST.sub("", parts.netloc)
    path = parts.path.rstrip("/").removesuffix("/amp")
    query = f"?{parts.query}" if parts.query not in ("", "amp=1", "amp") else ""
    return f"{host}{path}{query}" if host else url


def _unwrap(parts: SplitResult) -> str | None:
    host = parts.hostname or ""
    for hosts, paths, names in _WRAPPERS:
        if not (hosts.search(host) and paths.search(parts.path)):
            continue
        if "yahoo" in host:
            found = re.search(r"RU=([^/]+)", parts.path)
            return unquote(found[1]) if found else None
        values = parse_qs(parts.query)
        for name in names:
            inner = _decoded(values.get(name, [""])[0])
            if inner:
                return inner
    return None


def _decoded(value: str) -> str:
    """Undo Bing's `a1` + base64 without padding; plain addresses come back as they are."""
    if value.startswith(("http://", "https://")):
        return value
    if not value.startswith("a1"):
        return ""
    raw = value[2:] + "=" * (-len(value[2:]) % 4)
    try:
        decoded = base64.urlsafe_b64decode(raw).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return decoded if decoded.startswith(("http://", "https://")) else ""


# The longest age in days that each range still covers, narrowest first.
_RANGES = ((1, "day"), (7, "week"), (31, "month"), (366, "year"))

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_LEADING = re.compile(
    r"^([A-Z]\w{2,8}\.? \d{1,2}, \d{4}|\d{1,2} [A-Z]\w{2,8}\.? \d{4}|\d{4}-\d\d-\d\d)\s*[—–·-]"
)


def nearest_range(since: str | None, today: date | None = None) -> str:
    """Give `day`, `week`, `month` or `year`; '' where even a year does not reach back enough."""
    day = since_day(since)
    if day is None:
        return ""
    age = ((today or datetime.now(UTC).date()) - day).days
    return next((name for limit, name in _RANGES if age <= limit), "")


def days_since(since: str | None, joint: str) -> str:
    """Give `since` and today as two ISO dates with `joint` between them; '' without a day."""
    day = since_day(since)
    return f"{day.isoformat()}{joint}{datetime.now(UTC).date().isoformat()}" if day else ""


def since_day(since: str | None) -> date | None:
    """Read an ISO date or date and time; None where it is neither."""
    try:
        return datetime.fromisoformat(since).date() if since else None
    except ValueError:
        return None


def as_iso(said: str | None) -> str | None:
    """Give a date as ISO 8601, from that or from `May 2, 2022`; None for `3 days ago`."""
    if not said or since_day(said) is not None:
        return said or None
    return leading_date(f"{said} —")


def leading_date(snippet: str) -> str | None:
    """Read the date that engines put before a snippet (`May 2, 2022 — …`), as an ISO date."""
    found = _LEADING.match(snippet)
    if found is None:
        return None
    parts = re.findall(r"\w+", found[1])
    name = next((part[:3].lower() for part in parts if part.isalpha()), "")
    numbers = sorted((int(part) for part in parts if part.isdigit()), reverse=True)
    try:
        year, *rest = numbers
        month, day = (_MONTHS.index(name) + 1, rest[0]) if name else (int(parts[1]), int(parts[2]))
        return date(year, month, day).isoformat()
    except ValueError:
        return None
