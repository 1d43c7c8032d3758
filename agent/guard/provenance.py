"""Provenance: the origin of all text in a run's model context.

A run has one `Provenance`. All text that enters the context of a loop is added to it: the first
messages by `ContextBuilder`, observations by `ProvenanceCalls`, which handles all tool calls. It
knows whether private or untrusted text was read, and tells `agent.guard.outgoing` who wrote a word
and where a URL was seen. Everything is computed on demand.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from browser.net.url import host, join, netloc, parse, registrable_domain
from browser.text.languages import question_language
from browser.text.words import stem_in, words
from browser.types import DOI_START

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from browser.net.url import Url


class Kind(StrEnum):
    """The origin of some text. A `PAGE` is a web page that only the logged-in user can see."""

    USER = "user"
    WEB = "web"
    PAGE = "page"
    FILE = "file"
    CORPUS = "corpus"
    MEMORY = "memory"
    TURNS = "turns"
    TOOL = "tool"


PRIVATE_KINDS = frozenset(set(Kind) - {Kind.USER, Kind.WEB})
UNTRUSTED_KINDS = frozenset({Kind.WEB, Kind.PAGE, Kind.FILE, Kind.CORPUS, Kind.TOOL})
SEARCH_SITE = "search"
"""The "site" of search results and queries."""
SERVER = "mcp:"
"""Prefix of the "site" of an MCP server, followed by its name."""
FUNCTION = "tool:"
"""Prefix of the "site" of a plug-in's or caller's tool, followed by its name."""
MAX_PUBLIC_CHARS = 20_000_000
"""Maximum number of characters of public text that is kept, for long-running servers. Dropping text
makes checks stricter, never more lenient."""
_BEFORE_URL, _AFTER_URL = r"(?<![\w.\-@])", r"(?![\w\-/%&=?#~+@]|[.,:;!]\w)"
"""Patterns before and after a URL: anything but characters that could be part of it."""
_DOI = re.compile(rf"^doi\.org/({DOI_START}\S+)$")
_ARXIV = re.compile(r"^arxiv\.org/(?:abs|pdf)/(\d{4}\.\d{4,5}(?:v\d+)?|[a-z-]+/\d{7})$")


class OriginText(NamedTuple):
    """Text that was read, its origin, and the site that showed it."""

    kind: Kind
    site: str
    text: str


class SeenLink(NamedTuple):
    """The place where a URL was seen: the page's site, and the number of links on the page."""

    site: str
    links_on_page: int


def site_of(url: str) -> str:
    """Return the site of a URL, which has one owner: its domain, or "" if it is not a URL.

    If there is no registrable domain (an IP address, a host without a dot), each port is a separate
    site.
    """
    hostname = host(url)
    domain = registrable_domain(hostname)
    return domain if domain != hostname else netloc(url)


def exact_url(url: str) -> str:
    """Return a normalised URL with user name and fragment, which can contain words too."""
    parsed = parse(url)
    return parsed.href if parsed else url


@dataclass(slots=True)
class Provenance:
    """What a run has read so far: kinds and sites (`read`), and the text itself.

    `shared` contains the kinds that may be sent (`--share`): `KIND` to search engines, tools and
    sites named in the question, `KIND@SITE` also to that site, tool or server. `on_read` is called
    when text of a kind is first read from a site. `sites` are those where the run is logged in;
    their pages in the browser are private, and so are all pages in an `attached` Chrome.
    `named_hosts` are the hosts in the user's settings (`--allow-private`). `links` maps the URLs
    seen to where they were seen; `personal_links` are URLs that the user wrote, or that one of
    their private pages links to on the same site. `has_read_untrusted` means that this run itself
    read text by others, rather than only recalling it from memory.
    """

    question: str = ""
    language: str = field(init=False)
    shared: frozenset[str] = frozenset()
    attached: bool = False
    sites: set[str] = field(default_factory=set)
    named_hosts: frozenset[str] = frozenset()
    on_read: Callable[[Kind, str], object] = lambda _kind, _site: None
    read: set[tuple[Kind, str]] = field(default_factory=set)
    texts: list[OriginText] = field(default_factory=list)
    links: dict[str, SeenLink] = field(default_factory=dict)
    personal_links: set[str] = field(default_factory=set)
    has_read_untrusted: bool = False
    _public_chars: int = 0
    _stems: dict[str, tuple[int, set[str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.language = question_language(self.question) or "en"
        self.add(self.question, Kind.USER)

    # Adding what was read.

    def add(
        self, text: str, kind: Kind, url: str = "", *, quoted: bool = False, recalled: bool = False
    ) -> None:
        """Add text in the model's context; `url` is its URL, `SEARCH_SITE`, or a tool's site.

        `quoted` means that text from memory or an earlier turn quotes text by others;
        `recalled` means that this run did not read the text itself.
        """
        site = url if url == SEARCH_SITE or url.startswith((SERVER, FUNCTION)) else site_of(url)
        if kind is Kind.PAGE and not url.startswith(("http", "file:")):
            return  # an empty tab contains no text
        for origin in (kind, Kind.WEB) if quoted else (kind,):
            self.has_read_untrusted |= origin in UNTRUSTED_KINDS and not recalled
            if origin is not Kind.USER and (origin, site) not in self.read:
                self.read.add((origin, site))
                self.on_read(origin, site)
        if not text:
            return
        self.texts.append(OriginText(kind, site, text))
        if kind is Kind.WEB:
            self._public_chars += len(text)
            if self._public_chars > MAX_PUBLIC_CHARS:
                self._drop_older_half()
        if kind is Kind.USER:
            self.add_links((part for part in text.split() if "://" in part), kind)

    def _drop_older_half(self) -> None:
        """Drop the older half of the public texts."""
        public = [text for text in self.texts if text.kind is Kind.WEB]
        kept = set(map(id, public[len(public) // 2 :]))
        self.texts = [text for text in self.texts if text.kind is not Kind.WEB or id(text) in kept]
        self._public_chars = sum(len(t.text) for t in self.texts if t.kind is Kind.WEB)
        self._stems.clear()

    def add_links(self, urls: Iterable[str], kind: Kind, base: str = "") -> None:
        """Add the links of a page at `base`, or the URLs that the user wrote."""
        addresses = [join(base, url) if base else url.rstrip(".,;:!?)]}>'\"»”") for url in urls]
        site = site_of(base) if base else ""
        for address in addresses:
            exact = exact_url(address)
            known = self.links.get(exact)
            if known is None or known.links_on_page > len(addresses):
                self.links[exact] = SeenLink(site, len(addresses))
            if kind is Kind.USER or (kind is Kind.PAGE and site_of(address) == site):
                self.personal_links.add(exact)

    # Checking what was read and what may be sent.

    @property
    def untrusted(self) -> bool:
        """Whether the run has read anything from others; even an empty page counts."""
        return any(kind in UNTRUSTED_KINDS for kind, _ in self.read)

    def has_private_text_for(self, site: str) -> bool:
        """Return whether the run has read private text that this site may not receive."""
        return any(
            kind in PRIVATE_KINDS
            and not self.is_shared(kind, site)
            and not (at == site and (kind is Kind.PAGE or site.startswith((SERVER, FUNCTION))))
            for kind, at in self.read
        )

    def is_shared(self, kind: Kind, site: str) -> bool:
        """Return whether the user allows sending a kind of text to a site, tool or search engine.

        Earlier turns count as memory.
        """
        name = (Kind.MEMORY if kind is Kind.TURNS else kind).value
        if f"{name}@{site}" in self.shared:
            return True
        chosen = (
            site == SEARCH_SITE
            or site.startswith((SERVER, FUNCTION))
            or self.is_named_by_user(site)
        )
        return name in self.shared and chosen

    def is_named_by_user(self, site: str) -> bool:
        """Return whether the user named a site in the question or in a reply."""
        users = self.texts_of(Kind.USER)
        return bool(site) and any(
            _contains_url(site, text.casefold(), inside=True) for text in users
        )

    def is_personal(self, url: str) -> bool:
        """Return whether a page in the browser may show content only to the logged-in user."""
        return self.attached or registrable_domain(host(url)) in self.sites

    # Looking up words.

    def stems(self, text: str) -> list[str]:
        """Split text into stems, in the language of the question."""
        return [stem_in(self.language, word) for word in words(text)]

    def texts_of(self, *kinds: Kind) -> Iterator[str]:
        """Yield the text of these kinds."""
        return (text.text for text in self.texts if text.kind in kinds)

    def own_stems(self, site: str) -> set[str]:
        """Return the stems of the user's words, and of text shared with a site."""
        kinds = [Kind.USER, *(kind for kind in PRIVATE_KINDS if self.is_shared(kind, site))]
        return self._stems_of(f"own {site}", kinds)

    def shown_stems(self, site: str) -> set[str]:
        """Return the stems of the text that a site itself showed."""
        return self._stems_of(f"shown {site}", (Kind.WEB, Kind.PAGE, Kind.TOOL), site)

    def public_stems(self) -> set[str]:
        """Return the stems of the question and of all public text."""
        return self._stems_of("public", (Kind.USER, Kind.WEB))

    def _stems_of(self, name: str, kinds: Iterable[Kind], site: str | None = None) -> set[str]:
        """Return the stems in text of these kinds, cached under `name`."""
        done, found = self._stems.get(name, (0, set[str]()))
        wanted = frozenset(kinds)
        for text in self.texts[done:]:
            if text.kind in wanted and (site is None or text.site == site):
                found.update(self.stems(text.text))
        self._stems[name] = len(self.texts), found
        return found

    # Looking up addresses.

    def link_to(self, url: str) -> SeenLink | None:
        """Return where this exact URL was seen, or None."""
        exact = exact_url(url)
        if known := self.links.get(exact):
            return known
        parsed = parse(url)
        if parsed is None or not parsed.host:
            return None
        bare = exact.partition("://")[2]
        forms = {bare, unquote(bare), bare.rstrip("/"), url.partition("://")[2]} - {""}
        # A word in private text is not a URL, even if there is a host with that name.
        whole = {f"{scheme}://{form}" for form in forms for scheme in ("http", "https")}
        if named := _DOI.match(bare) or _ARXIV.match(bare):
            whole.add(named[1])
        for text in self.texts:
            is_open = text.kind in (Kind.WEB, Kind.USER)
            if any(
                _contains_url(form, text.text) for form in (whole | forms if is_open else whole)
            ):
                many = max(text.text.count("://"), text.text.count(site_of(url)), 1)
                # Links from the user, their files and their engines are not hostile choices.
                return SeenLink(text.site if text.kind is Kind.WEB else "", many)
        return None

    def has_seen_host(self, netloc: str) -> bool:
        """Return whether a host was named in public text or the question, or linked anywhere."""
        if netloc in self.named_hosts or netloc.partition(":")[0] in self.named_hosts:
            return True
        if any(address.partition("://")[2].startswith(f"{netloc}/") for address in self.links):
            return True
        return any(
            _contains_url(
                netloc if text.kind in (Kind.WEB, Kind.USER) else f"://{netloc}",
                text.text.casefold(),
                inside=True,
            )
            for text in self.texts
        )

    def addresses_at(self, netloc: str) -> list[Url]:
        """List the seen URLs of a host."""
        written = (
            re.findall(r"https?://[^\s<>\"]+", t.text) for t in self.texts if netloc in t.text
        )
        parsed = map(parse, dict.fromkeys(itertools.chain(self.links, *written)))
        return [url for url in parsed if url is not None and url.netloc == netloc]


def _contains_url(part: str, text: str, *, inside: bool = False) -> bool:
    """Return whether `text` contains a URL, and not merely as part of a longer URL.

    With `inside`, the URL may be a site in a longer URL, before its path or after a subdomain.
    """
    if part not in text:
        return False
    start, end = (r"(?<![\w\-@])", r"(?![\w\-@]|\.\w)") if inside else (_BEFORE_URL, _AFTER_URL)
    return re.search(rf"{start}{re.escape(part)}{end}", text) is not None
