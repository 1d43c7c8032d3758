"""Results as every engine should give them: real targets, readable text, no duplicates."""

from __future__ import annotations

import base64
import binascii
import html
import re
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from browser.net.url import is_web_url, normalize, parse
from browser.search.dates import as_iso, leading_date
from browser.text import clean
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
