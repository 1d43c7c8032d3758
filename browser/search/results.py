"""Results as every engine should give them, and several engines' results as one list."""

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

from browser.net.url import host, is_web_url, normalize, parse, registrable_domain
from browser.text.words import clean, words
from browser.types import SearchResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from urllib.parse import SplitResult


# Marks that APIs leave in their texts; whatever else stands in angle brackets (`Vec<T>`) is text.
_MARK = re.compile(
    r"</?(?:a|b|br|div|em|i|mark|p|small|span|strong|sub|sup|u)(?:\s[^<>]{0,300})?/?>",
    re.IGNORECASE,
)
# `www.`, `m.`, `mobile.`, `amp.` in front, or `en.m.wikipedia.org` in the middle.
_TWIN_HOST = re.compile(r"^(?:www|mobile|m|amp)\.|(?<=^[a-z]{2}\.)m\.")
_MAX_UNWRAPS = 3  # a wrapper in a wrapper in a wrapper is already absurd

# Redirectors of engines, by host and path, and the parameters that hold the target.
_WRAPPERS = (
    (re.compile(r"(?:[^/]+\.)?duckduckgo\.com/l/?"), ("uddg",)),
    (re.compile(r"(?:[^/]+\.)?google\.[a-z.]{2,6}/(?:url|imgres)"), ("q", "url")),
    (re.compile(r"(?:[^/]+\.)?bing\.com/(?:ck/a|alink/link)"), ("u", "url")),
)
_YAHOO = re.compile(r"(?:[^/]+\.)?yahoo\.com/.*?RU=([^/]+)")
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
        url, title = target(result.url), readable(result.title)
        key = same_page_key(url)
        if url and title and key not in kept:
            snippet = readable(result.snippet)
            published = as_iso(result.published) or leading_date(snippet)
            kept[key] = SearchResult(url, title, snippet, provider, len(kept) + 1, published)
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
        if not inner:
            break
        url = inner
    # A page of results that names a local file is not believed.
    return url if is_web_url(url) else ""


def _unwrap(parts: SplitResult) -> str:
    place = f"{parts.hostname or ''}{parts.path}"
    if yahoo := _YAHOO.match(place):
        return unquote(yahoo[1])
    names = next((names for pattern, names in _WRAPPERS if pattern.fullmatch(place)), ())
    values = parse_qs(parts.query) if names else {}
    return next(filter(None, (_decoded(values.get(name, [""])[0]) for name in names)), "")


def _decoded(value: str) -> str:
    """Undo Bing's `a1` + base64 without padding; plain addresses come back as they are."""
    if value.startswith("a1"):
        raw = value[2:] + "=" * (-len(value[2:]) % 4)
        try:
            value = base64.urlsafe_b64decode(raw).decode()
        except (binascii.Error, UnicodeDecodeError):
            return ""
    return value if value.startswith(("http://", "https://")) else ""


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


# The longest age in days that each range still covers, narrowest first.
_RANGES = ((1, "day"), (7, "week"), (31, "month"), (366, "year"))
_LEADING = re.compile(
    r"([A-Z]\w{2,8}\.? \d{1,2}, \d{4}|\d{1,2} [A-Z]\w{2,8}\.? \d{4}|\d{4}-\d\d-\d\d)\s*[—–·-]"
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


def as_iso(text: str | None) -> str | None:
    """Give a date as ISO 8601, from that or from `May 2, 2022`; None for `3 days ago`."""
    if not text or since_day(text) is not None:
        return text or None
    return leading_date(f"{text} —")


def leading_date(snippet: str) -> str | None:
    """Read the date that engines put before a snippet (`May 2, 2022 — …`), as an ISO date."""
    found = _LEADING.match(snippet)
    if found is None:
        return None
    short = re.sub(r"([A-Z]\w\w)\w*\.?", r"\1", found[1])  # `Sept.` and `September` alike
    for form in ("%b %d, %Y", "%d %b %Y", "%Y-%m-%d"):
        with suppress(ValueError):
            return datetime.strptime(short, form).date().isoformat()  # noqa: DTZ007 - a day has no zone
    return None


# Cormack, Clarke & Büttcher (2009): reciprocal rank fusion, k = 60.
_K = 60
# One site's pages beyond these come after the other sites' (engines themselves show two or three).
_MOST_OF_A_SITE = 3
# Mirrors have the same title and nearly the same words in the snippet: of ten, one or two may
# differ (a date, another cut). Shorter snippets prove nothing.
_TELLING_WORDS = 10
_SAME_WORDS = 0.8


def merge(lists: Sequence[Sequence[SearchResult]], limit: int) -> tuple[SearchResult, ...]:
    """Fuse ranked lists; of a page's copies the longest snippet is kept. Ranks start at 1.

    A single list keeps its order: its engine has weighed more than we can see.
    """
    scores: dict[str, float] = {}
    best: dict[str, SearchResult] = {}
    key_of = _PageKeys()
    for results in lists:
        seen: set[str] = set()
        for rank, result in enumerate(results, 1):
            key = key_of(result)
            best[key] = _fold(best[key], result) if key in best else result
            if key not in seen:
                scores[key] = scores.get(key, 0.0) + 1 / (_K + rank)
            seen.add(key)
    ordered = [best[key] for key in sorted(scores, key=lambda key: -scores[key])]
    if len(lists) > 1:
        ordered = _spread(ordered)
    return tuple(replace(result, rank=n) for n, result in enumerate(ordered[:limit], 1))


class _PageKeys:
    """Keys of pages; a mirror, told by its title and snippet, has the key of the page it copies."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._titled: dict[tuple[str, ...], list[tuple[frozenset[str], str]]] = {}

    def __call__(self, result: SearchResult) -> str:
        own = same_page_key(result.url)
        if own not in self._known:
            said = frozenset(words(result.snippet))
            twins = self._titled.setdefault(tuple(words(result.title)), [])
            self._known[own] = next((key for other, key in twins if _alike(said, other)), own)
            twins.append((said, self._known[own]))
        return self._known[own]


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two snippets say the same, but for where they are cut and a date before them."""
    telling = min(len(one), len(other)) >= _TELLING_WORDS
    return telling and len(one & other) >= _SAME_WORDS * len(one | other)


def _fold(first: SearchResult, other: SearchResult) -> SearchResult:
    names = first.provider.split("+")
    provider = first.provider if other.provider in names else f"{first.provider}+{other.provider}"
    snippet = max(first.snippet, other.snippet, key=len)
    published = first.published or other.published
    return replace(first, snippet=snippet, provider=provider, published=published)


def _spread(results: Iterable[SearchResult]) -> list[SearchResult]:
    """Put one site's pages beyond the first few behind the other sites'."""
    sites: Counter[str] = Counter()
    first: list[SearchResult] = []
    later: list[SearchResult] = []
    for result in results:
        site = registrable_domain(host(result.url))
        sites[site] += 1
        (first if sites[site] <= _MOST_OF_A_SITE else later).append(result)
    return first + later
