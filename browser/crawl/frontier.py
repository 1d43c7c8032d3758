"""Which page of a section is read next: the one whose address and link speak of what is sought."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from browser.net.url import normalize, parse
from browser.text import content_words

if TYPE_CHECKING:
    from collections.abc import Iterable

# What no reader can read, and what a crawler should not ask for.
_NO_PAGE = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|ico|css|js|mjs|json|woff2?|ttf|mp[34]|m4a|avi|mov|webm|zip|gz|tgz"
    r"|bz2|xz|7z|rar|exe|dmg|msi|iso|apk|deb|rpm|jar|whl)$",
    re.IGNORECASE,
)
_NO_READING = re.compile(
    r"/(?:log-?(?:in|out)|sign-?(?:in|up|out)|register|cart|checkout|account|wp-(?:admin|json|login)"
    r"|cdn-cgi|feed)(?:[/?.]|$)|[?&](?:share|replytocom|print|add-to-cart|sort|order|session\w*)=",
    re.IGNORECASE,
)
# A calendar or a shop's filters have pages without end: so many that differ by their query only.
_MOST_OF_A_PATH = 5
# Of more pages than these nobody reads the last ones.
_MOST_KNOWN = 5_000


@dataclass(order=True, slots=True)
class _Candidate:
    cost: tuple[float, int, int]
    url: str
    depth: int


class Frontier:
    """The pages of one section that are known and not yet read, best first."""

    def __init__(self, start: str, query: str, depth: int) -> None:
        """`depth` counts the links from the start; pages of sitemaps stand at depth 1."""
        self.section = section_of(start)
        self._wanted = frozenset(content_words(query))
        self._deepest = depth
        self._known: set[str] = {normalize(start)}
        self._of_path: dict[str, int] = {}
        self._waiting: list[_Candidate] = []

    @property
    def known(self) -> int:
        """How many pages of the section were heard of, the start included."""
        return len(self._known)

    def add(self, places: Iterable[tuple[str, str]], depth: int) -> None:
        """Take addresses with the words of their links, but for those elsewhere or known."""
        if depth > self._deepest:
            return
        for url, text in places:
            key = normalize(url)
            if key not in self._known and len(self._known) < _MOST_KNOWN and self._takes(url):
                self._known.add(key)
                self._waiting.append(_Candidate(self._cost(url, text, depth), url, depth))

    def seen(self, url: str) -> bool:
        """Whether a page was met under another address before; from now on it was."""
        key = normalize(url)
        known = key in self._known
        self._known.add(key)
        return known

    def next(self, count: int) -> list[tuple[str, int]]:
        """Take the best pages off the list, as (address, depth)."""
        self._waiting.sort()
        chosen, self._waiting = self._waiting[:count], self._waiting[count:]
        return [(candidate.url, candidate.depth) for candidate in chosen]

    def _takes(self, url: str) -> bool:
        parsed = parse(url)
        if parsed is None or not within(url, self.section):
            return False
        if _NO_PAGE.search(parsed.path) or _NO_READING.search(url):
            return False
        self._of_path[parsed.path] = self._of_path.get(parsed.path, 0) + 1
        return self._of_path[parsed.path] <= _MOST_OF_A_PATH

    def _cost(self, url: str, text: str, depth: int) -> tuple[float, int, int]:
        """Low is good: first words that are sought, then what is near, then what came first."""
        words = frozenset(content_words(f"{text} {_spelt(url)}"))
        return (-float(len(words & self._wanted)), depth, len(self._known))


def section_of(url: str) -> tuple[str, str]:
    """The host and the folder that a page stands in."""
    parsed = parse(url)
    if parsed is None:
        return "", "/"
    path = parsed.path if parsed.path.endswith("/") else f"{PurePosixPath(parsed.path).parent}/"
    return _bare(parsed.host), path.replace("//", "/")


def within(url: str, section: tuple[str, str]) -> bool:
    """Whether a page belongs to a section."""
    parsed = parse(url)
    if parsed is None or _bare(parsed.host) != section[0]:
        return False
    return parsed.path.startswith(section[1]) or f"{parsed.path}/" == section[1]


def _bare(host: str) -> str:
    return host.removeprefix("www.")


def _spelt(url: str) -> str:
    parsed = parse(url)
    return re.sub(r"[/_.\-+]+", " ", unquote(parsed.path)) if parsed else ""
