r"""The only URL parser. It works as in browsers: ada implements the WHATWG URL standard.

A URL's host is determined only here, so that rules check the host that Chromium connects to:
`https://good.test\@evil.test/` is `good.test`; `http://0x7f.1` and `http://１２７。1` are
`127.0.0.1`. Functions that return part of a URL return "" for an invalid one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_letters, digits

import ada_url

WEB_SCHEMES = frozenset({"http", "https"})
WEBSOCKET_SCHEMES = frozenset({"ws", "wss"})
DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}


@dataclass(frozen=True, slots=True)
class Url:
    """A parsed URL.

    `host` is in ASCII form, IPv6 without brackets; `port` is the scheme's default if none
    is given; `path` keeps its escapes; `query` and `fragment` include their `?` and `#`.
    """

    href: str
    scheme: str
    host: str
    port: int
    path: str
    query: str
    fragment: str

    @property
    def netloc(self) -> str:
        """The host, bracketed if IPv6, with `:port` if it is not the scheme's default."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if DEFAULT_PORTS.get(self.scheme) == self.port else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme, host and port, which the same-origin policy compares."""
        return f"{self.scheme}://{self.netloc}"

    @property
    def path_and_query(self) -> str:
        """Path and query, as in a request line."""
        return self.path + self.query


@lru_cache(maxsize=4096)
def parse(url: str, base: str | None = None) -> Url | None:
    """Parse as a browser does, relative to `base` if given; None for an invalid URL."""
    try:
        parsed = ada_url.URL(url, base)
    except (ValueError, UnicodeEncodeError):
        return None
    scheme = parsed.protocol.removesuffix(":")
    return Url(
        href=parsed.href,
        scheme=scheme,
        host=parsed.hostname.strip("[]"),
        port=int(parsed.port or DEFAULT_PORTS.get(scheme, 0)),
        path=parsed.pathname,
        query=parsed.search,
        fragment=parsed.hash,
    )


@lru_cache(maxsize=4096)
def join(base: str, reference: str) -> str:
    """Resolve a link's `href` against its page; "" if the result is not a URL."""
    try:
        return str(ada_url.join_url(base, reference))
    except (ValueError, UnicodeEncodeError):
        return ""


def is_web_url(url: str) -> bool:
    """Whether a URL is http or https with a host: not `data:`, `file:`, `javascript:`."""
    parsed = parse(url)
    return parsed is not None and parsed.scheme in WEB_SCHEMES


def host(url: str) -> str:
    """Return the host in ASCII form, IPv6 without brackets."""
    parsed = parse(url)
    return parsed.host if parsed else ""


def origin(url: str) -> str:
    """Return `scheme://host[:port]`."""
    parsed = parse(url)
    return parsed.origin if parsed and parsed.host else ""


def netloc(url: str) -> str:
    """Return `host[:port]`, which identifies a server; limits and delays apply to it."""
    parsed = parse(url)
    return parsed.netloc if parsed else ""


def without_query(url: str) -> str:
    """Return an address without query and fragment, which forms and reloads may change."""
    return url.partition("#")[0].partition("?")[0]


def normalize(url: str) -> str:
    """Normalise a URL to one fetchable form that all spellings of a page's URL share.

    Escapes are unified (RFC 3986, 6.2.2); tracking parameters, credentials, fragment, the host's
    trailing dot and an empty query are removed. From URLs that are not web URLs, only surrounding
    whitespace is removed.
    """
    parsed = parse(strip_tracking(url))
    if parsed is None or parsed.scheme not in WEB_SCHEMES:
        return url.strip()
    # `1.2..` is a name, but `1.2` is an address, so several trailing dots are all kept.
    bare = parsed.host.removesuffix(".")
    host = parsed.host if bare.endswith(".") else bare or parsed.host
    netloc = parsed.netloc.replace(parsed.host, host, 1)
    query = parsed.query if len(parsed.query) > 1 else ""
    # In older applications, `#!` fragments are separate pages.
    fragment = parsed.fragment if parsed.fragment.startswith("#!") else ""
    path = _ESCAPE.sub(_unify_escape, parsed.path + query)
    return f"{parsed.scheme}://{netloc}{path}{fragment}"


def strip_tracking(url: str) -> str:
    """Remove tracking parameters and `#:~:text=` highlights."""
    parsed = parse(url)
    if parsed is None or not (parsed.query or parsed.fragment):
        return url
    # The parser reports no fragment for a lone `#` at the end, but keeps it in the address.
    head = parsed.href.removesuffix(parsed.fragment or "#").removesuffix(parsed.query)
    pairs = parsed.query.removeprefix("?").split("&")
    kept = [pair for pair in pairs if not _TRACKING.fullmatch(pair.partition("=")[0])]
    query = "?" + "&".join(kept) if any(kept) else ""
    return head + query + parsed.fragment.partition(":~:")[0].rstrip("#")


def registrable_domain(host: str) -> str:
    """Return a host's registrable domain (`bbc.co.uk`), or the host itself if it has none."""
    host = host.strip("[]").rstrip(".").lower()
    if "." not in host or ":" in host or host.rpartition(".")[2].isdigit():
        return host
    return _domain_by_suffix_list(host) or host


def is_within(host: str, domain: str) -> bool:
    """Return whether a host is a domain or one of its subdomains; both in ASCII form."""
    return host == domain or host.endswith(f".{domain}")


def same_site(a: str, b: str) -> bool:
    """Whether two URLs belong to one registrable domain; False if either is invalid."""
    site = registrable_domain(host(a))
    return bool(site) and site == registrable_domain(host(b))


@lru_cache(maxsize=4096)
def _domain_by_suffix_list(host: str) -> str:
    # Imported here: the public suffix list takes 30 ms to load, and many runs never need it.
    from tld import get_tld  # noqa: PLC0415

    found = get_tld(f"http://{host}", fail_silently=True, as_object=True, search_private=True)
    return str(found.fld) if found is not None and not isinstance(found, str) else ""


def _unify_escape(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else match[0].upper()


# An escape after a lone `%` is left unchanged, because decoding it could create another escape.
_ESCAPE = re.compile(r"(?<!%)(?<!%[0-9A-Fa-f])%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset(f"{ascii_letters}{digits}._~-")

# Campaign parameters and click ids, as listed by the tracking filters of Firefox, Brave and the
# ClearURLs project; none of them affects the content.
_TRACKING = re.compile(
    r"utm_\w+|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|ysclid|twclid|ttclid|igshid|igsh"
    r"|mc_[ce]id|mkt_tok|_hs(?:enc|mi)|__hs(?:sc|tc|fp)|hsctatracking|oly_(?:anon|enc)_id|vero_(?:id|conv)"
    r"|wickedid|rb_clickid|s_cid|srsltid|_ga|_gl|li_fat_id|_openstat|at_(?:campaign|medium)|cmpid"
    r"|guce_referrer(?:_sig)?|ref_src|ref_url|wt\.mc_id|sc_(?:channel|campaign)|trk_(?:contact|msg|module|sid)",
    re.IGNORECASE,
)
