"""Cleans one engine's results, and merges the results of several engines."""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote, urlsplit

from browser.net.url import host, is_web_url, is_within, normalize, parse, registrable_domain
from browser.text.words import one_line, words
from browser.types import SearchResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from urllib.parse import SplitResult


# Markup that APIs leave in titles and snippets. Anything else in angle brackets (`Vec<T>`) is text.
_MARKUP = re.compile(
    r"</?(?:a|b|br|div|em|i|mark|p|small|span|strong|sub|sup|u|jats:[a-z-]+)(?:\s[^<>]{0,300})?/?>",
    re.IGNORECASE,
)
# `www.`, `m.`, `mobile.`, `amp.` at the start, or `m.` in the middle as in `en.m.wikipedia.org`.
_MOBILE_HOST = re.compile(r"^(?:www|mobile|m|amp)\.|(?<=^[a-z]{2}\.)m\.")
_MAX_UNWRAPS = 3  # more nested wrappers do not occur

# Engines' redirectors, by host and path, and the parameters that contain the target.
_REDIRECT_WRAPPERS = (
    (re.compile(r"(?:[^/]+\.)?duckduckgo\.com/l/?"), ("uddg",)),
    (re.compile(r"(?:[^/]+\.)?google\.[a-z.]{2,6}/(?:url|imgres)"), ("q", "url")),
    (re.compile(r"(?:[^/]+\.)?bing\.com/(?:ck/a|alink/link)"), ("u", "url")),
)
_YAHOO_WRAPPER = re.compile(r"(?:[^/]+\.)?yahoo\.com/.*?RU=([^/]+)")
# Google's newer wrapper is encrypted; opening it redirects to the target.
_ENCRYPTED_WRAPPER = re.compile(r"^https?://(?:www\.)?google\.[a-z.]{2,6}/goto\?")
# Advertisement links: DuckDuckGo's `/y.js`, Bing's `/aclick`, Google's `/aclk`, …
_AD_LINK = re.compile(
    r"^(?:[\w.-]*\.)?(?:duckduckgo\.com/[ym]\.js|bing\.com/acli?c?k|google\.[a-z.]{2,6}/aclk"
    r"|googleadservices\.com/|doubleclick\.net/|search\.brave\.com/a/redirect)"
)


def clean_results(results: Iterable[SearchResult], provider: str) -> tuple[SearchResult, ...]:
    """Unwrap and clean results; drop duplicates and any without a web address or title."""
    cleaned: dict[str, SearchResult] = {}
    for result in results:
        url, title = unwrap_target(result.url), one_line(result.title)
        key = same_page_key(url)
        if url and title and key not in cleaned:
            snippet = one_line(result.snippet)
            published = to_iso_date(result.published) or leading_date(snippet)
            cleaned[key] = SearchResult(url, title, snippet, provider, published)
    return tuple(cleaned.values())


def strip_markup(text: str) -> str:
    """Remove tags and decode entities that APIs leave in titles and snippets."""
    return html.unescape(_MARKUP.sub("", text))


def unwrap_target(url: str) -> str:
    """Undo redirect wrappers; "" for an advertisement, or if the target is not a web address."""
    url = url.strip()
    for _ in range(_MAX_UNWRAPS):
        if url.startswith("//"):
            url = f"https:{url}"
        try:
            parts = urlsplit(url)
        except ValueError:
            return ""
        if _AD_LINK.match(f"{parts.netloc}{parts.path}"):
            return ""
        inner = _unwrap(parts)
        if not inner:
            break
        url = inner
    # Security: a result page must not be able to make a run read a local file.
    return url if is_web_url(url) else ""


def _unwrap(parts: SplitResult) -> str:
    """The address inside a wrapper; "" if it is not a known wrapper."""
    address = f"{parts.hostname or ''}{parts.path}"
    if yahoo := _YAHOO_WRAPPER.match(address):
        return unquote(yahoo[1])
    for pattern, names in _REDIRECT_WRAPPERS:
        if pattern.fullmatch(address):
            values = parse_qs(parts.query)
            for name in names:
                if inner := _decode_parameter(values.get(name, [""])[0]):
                    return inner
            break
    return ""


def _decode_parameter(value: str) -> str:
    """Decode Bing's `a1` + base64 without padding; a plain address is returned unchanged."""
    if value.startswith("a1"):
        raw = value[2:] + "=" * (-len(value[2:]) % 4)
        try:
            value = base64.urlsafe_b64decode(raw).decode()
        except (binascii.Error, UnicodeDecodeError):
            return ""
    return value if value.startswith(("http://", "https://")) else ""


def is_encrypted_wrapper(url: str) -> bool:
    """Whether an address is a redirect wrapper that only the engine itself can resolve."""
    return bool(_ENCRYPTED_WRAPPER.match(url))


def is_on_site(url: str, site: str) -> bool:
    """Whether an address is on `site`: a host and its subdomains, or a folder (`a.org/docs`)."""
    address = parse(url)
    filter_url = parse(f"http://{site.strip().rpartition('//')[2]}")
    if address is None or filter_url is None:
        return False
    domain = filter_url.host.removeprefix("www.")
    if not is_within(address.host, domain):
        return False
    return address.path.startswith(filter_url.path.rstrip("/"))


def same_page_key(url: str) -> str:
    """Return a key that all variants of an address share.

    Scheme, `www.`, tracking parameters, a trailing slash, and mobile or AMP versions are ignored.
    """
    parts = urlsplit(normalize(url))
    host = _MOBILE_HOST.sub("", parts.netloc)
    path = parts.path.rstrip("/").removesuffix("/amp")
    query = f"?{parts.query}" if parts.query not in ("", "amp=1", "amp") else ""
    return f"{host}{path}{query}" if host else url


# The maximum age in days for each range, narrowest first.
_DATE_RANGES = ((1, "day"), (7, "week"), (31, "month"), (366, "year"))
_LEADING_DATE = re.compile(
    r"([A-Z]\w{2,8}\.? \d{1,2}, \d{4}|\d{1,2} [A-Z]\w{2,8}\.? \d{4}|\d{4}-\d\d-\d\d)\s*[—–·-]"
)


def nearest_range(since: str | None, today: date | None = None) -> str:
    """Return `day`, `week`, `month` or `year`; "" without a date or for an older one."""
    day = since_day(since)
    if day is None:
        return ""
    age = ((today or datetime.now(UTC).date()) - day).days
    return next((name for limit, name in _DATE_RANGES if age <= limit), "")


def days_since(since: str | None, joint: str) -> str:
    """Return `since` and today as two ISO dates with `joint` between them; "" without a date."""
    day = since_day(since)
    return f"{day.isoformat()}{joint}{datetime.now(UTC).date().isoformat()}" if day else ""


def since_day(since: str | None) -> date | None:
    """Parse an ISO date, or a date with a time; None if it is neither."""
    try:
        return datetime.fromisoformat(since).date() if since else None
    except ValueError:
        return None


def to_iso_date(text: str | None) -> str | None:
    """Convert a date such as `May 2, 2022` to ISO 8601; None for relative ones (`3 days ago`)."""
    if not text or since_day(text) is not None:
        return text or None
    return leading_date(f"{text} —")


def leading_date(snippet: str) -> str | None:
    """Parse the date at the start of a snippet (`May 2, 2022 — …`) as an ISO date."""
    match = _LEADING_DATE.match(snippet)
    if match is None:
        return None
    short = re.sub(r"([A-Z]\w\w)\w*\.?", r"\1", match[1])  # `Sept.` and `September` become `Sep`
    for form in ("%b %d, %Y", "%d %b %Y", "%Y-%m-%d"):
        with suppress(ValueError):
            return datetime.strptime(short, form).date().isoformat()  # noqa: DTZ007 - a day has no zone
    return None


# Cormack, Clarke & Büttcher (2009): reciprocal rank fusion, k = 60.
_RRF_K = 60
# If a site has more results than this, the others are ranked below those of other sites (engines
# show two or three per site).
_MAX_PER_SITE = 3
# Mirrors have the same title and nearly the same snippet: up to two words in ten may differ (a
# date, or a different cut-off). Shorter snippets are not compared.
_MIN_SNIPPET_WORDS = 10
_DUPLICATE_SNIPPET_SHARE = 0.8


def merge(lists: Sequence[Sequence[SearchResult]], limit: int) -> tuple[SearchResult, ...]:
    """Merge ranked lists by reciprocal rank fusion; duplicates of a page become one result.

    Ranks start at 1. A single list keeps its order: the engine ranks on the basis of more
    information.
    """
    scores: dict[str, float] = {}
    best: dict[str, SearchResult] = {}
    keys = _page_keys(result for results in lists for result in results)
    for results in lists:
        seen: set[str] = set()
        for rank, result in enumerate(results, 1):
            key = keys[result.url]
            best[key] = _merge_copies(best[key], result) if key in best else result
            if key not in seen:
                scores[key] = scores.get(key, 0.0) + 1 / (_RRF_K + rank)
            seen.add(key)
    ordered = [best[key] for key in sorted(scores, key=lambda key: -scores[key])]
    if len(lists) > 1:
        ordered = _limit_per_site(ordered)
    return tuple(ordered[:limit])


def _page_keys(results: Iterable[SearchResult]) -> dict[str, str]:
    """Map URLs to page keys; a mirror, recognised by its title and snippet, has the original's."""
    by_url: dict[str, str] = {}
    known: dict[str, str] = {}
    # Maps a title's words to pairs of snippet words and key.
    by_title: dict[tuple[str, ...], list[tuple[frozenset[str], str]]] = {}
    for result in results:
        own = same_page_key(result.url)
        if own not in known:
            snippet = frozenset(words(result.snippet))
            same_title = by_title.setdefault(tuple(words(result.title)), [])
            same = (key for other, key in same_title if _is_same_snippet(snippet, other))
            known[own] = next(same, own)
            same_title.append((snippet, known[own]))
        by_url[result.url] = known[own]
    return by_url


def _is_same_snippet(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two snippets, given as sets of words, come from the same page text."""
    long_enough = min(len(one), len(other)) >= _MIN_SNIPPET_WORDS
    return long_enough and len(one & other) >= _DUPLICATE_SNIPPET_SHARE * len(one | other)


def _merge_copies(first: SearchResult, other: SearchResult) -> SearchResult:
    names = first.provider.split("+")
    provider = first.provider if other.provider in names else f"{first.provider}+{other.provider}"
    snippet = max(first.snippet, other.snippet, key=len)
    published = first.published or other.published
    return replace(first, snippet=snippet, provider=provider, published=published)


def _limit_per_site(results: Iterable[SearchResult]) -> list[SearchResult]:
    """Keep a site's first few pages in place; move its other pages behind other sites' pages."""
    sites: Counter[str] = Counter()
    first: list[SearchResult] = []
    later: list[SearchResult] = []
    for result in results:
        site = registrable_domain(host(result.url))
        sites[site] += 1
        (first if sites[site] <= _MAX_PER_SITE else later).append(result)
    return first + later
