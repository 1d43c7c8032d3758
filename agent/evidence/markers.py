"""The citation markers that models write: found, taken out of the text, and read.

Known forms: `[S3¶12]`, `[S3¶12, S4¶2]`, `[S3¶1-3]`, `(S3¶12)`, bare `S3¶12`, `[S3]` (a whole
source), `[1]` and `[^1]` (a source by number, or a footnote defined below), and links to a URL
that was read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from agent.evidence.store import Evidence

LONGEST_RANGE = 40
"""Passages that `[S3¶1-40]` may name; a wider range cites a page, not words."""


class CitedId(NamedTuple):
    """What a marker points at: a passage of a source, or the whole source (`passage` None)."""

    source: int
    passage: int | None = None


@dataclass(frozen=True, slots=True)
class Marker:
    """A marker in a text: where it stood once all markers are out, and what it says."""

    offset: int
    references: tuple[CitedId, ...] = ()
    unknown: tuple[str, ...] = ()
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class Unmarked:
    """A text without its markers."""

    text: str
    markers: tuple[Marker, ...] = field(default=())


_ITEM = r"S\d+(?:\s?¶\s?\d+(?:\s?[-–—]\s?(?:S\d+)?¶?\d+)?)?"
_LATER = rf"(?:{_ITEM}|¶\s?\d+(?:\s?[-–—]\s?¶?\d+)?)"
_JOIN = r"\s?(?:[,;&]|and)\s?"
_MARKER = re.compile(
    rf"""(?P<code>```.*?(?:```|\Z)|`[^`\n]+`)
    |\[(?P<text>[^\[\]\n]*)\]\((?P<url>https?://[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)\)
    |[\[(【](?P<items>{_ITEM}(?:{_JOIN}{_LATER})*)[\])】]
    |(?P<bare>\bS\d+¶\d+(?:[-–]¶?\d+)?)
    |\[(?P<numbers>\^?\d{{1,3}}(?:\s?[,;–-]\s?\^?\d{{1,3}})*)\]
    |\[\^(?P<footnote>[\w-]+)\]
    |[<(]?(?P<link>https?://[^\s<>()\[\]]+[^\s<>()\[\].,;:!?])[>)]?""",
    re.VERBOSE | re.DOTALL,
)
_DEFINITION = re.compile(r"^ {0,3}\[\^?([\w-]+)\]:[ \t]*(\S.*)$\n?", re.MULTILINE)
_PART = re.compile(r"(?:S(\d+))?\s?(?:¶\s?(\d+)(?:\s?[-–—]\s?(?:S\d+)?¶?(\d+))?)?")
_BARE_LABEL = re.compile(rf"\^?\d{{1,3}}|{_ITEM}|source|link", re.IGNORECASE)


class MarkerReader:
    """Reads the markers of one answer against the evidence of its run."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._footnotes: dict[str, str] = {}

    def take_footnotes(self, answer: str) -> str:
        """Take footnote definitions (`[^1]: https://…`) out of an answer and remember them."""
        self._footnotes = {m[1]: m[2] for m in _DEFINITION.finditer(answer)}
        return _DEFINITION.sub("", answer)

    def unmark(self, text: str) -> Unmarked:
        """Take all markers out of a piece of text."""
        plain, markers, at = "", [], 0
        for match in _MARKER.finditer(text):
            if match["code"]:
                continue
            plain += text[at : match.start()]
            at = match.end()
            kept, marker = self._read(match)
            if marker is None:
                plain += kept
                continue
            plain = plain + kept if kept else plain.rstrip(" \t")
            markers.append(replace(marker, offset=len(plain)))
            if text[at : at + 1].isalnum() and not plain.endswith((" ", "\n")) and plain:
                plain += " "
        return Unmarked(plain + text[at:], tuple(markers))

    def _read(self, match: re.Match[str]) -> tuple[str, Marker | None]:
        """Read one match: the words that stay in the text, and the marker, if it is one."""
        if match["url"] or match["link"]:
            return self._link(match)
        if match["numbers"]:
            return "", self._numbers(match["numbers"])
        if match["footnote"]:
            return "", self._footnote(match["footnote"])
        return "", self._items(match["items"] or match["bare"])

    def _link(self, match: re.Match[str]) -> tuple[str, Marker | None]:
        url = match["url"] or match["link"]
        label = match["text"] or ""
        kept = "" if _BARE_LABEL.fullmatch(label) else label
        source = self._evidence.by_url(url) or self._evidence.result_for(url)
        if source:
            return kept, Marker(0, (CitedId(source.n),))
        if match["link"]:
            return match[0], None
        return kept, Marker(0, unknown=(url,))

    def _numbers(self, text: str) -> Marker:
        references: list[CitedId] = []
        unknown: list[str] = []
        for number in re.findall(r"\d+", text):
            marker = self._footnote(number)
            references.extend(marker.references)
            unknown.extend(marker.unknown)
        return Marker(0, tuple(references), tuple(unknown), numeric=True)

    def _footnote(self, key: str) -> Marker:
        defined = self._footnotes.get(key)
        if defined is not None:
            found = self.unmark(defined).markers
            references = tuple(r for marker in found for r in marker.references)
            return Marker(0, references, () if references else (f"[{key}]",))
        if key.isdigit() and self._evidence.source(int(key)):
            return Marker(0, (CitedId(int(key)),))
        return Marker(0, unknown=(f"[{key}]",))

    def _items(self, text: str) -> Marker:
        references: list[CitedId] = []
        unknown: list[str] = []
        source = 0
        for part in re.split(r"\s?(?:[,;&]|and)\s?", text):
            match = _PART.fullmatch(part.strip())
            if match is None:
                continue
            source = int(match[1]) if match[1] else source
            found = self._existing(source, match[2], match[3])
            references.extend(found)
            if not found:
                unknown.append(part.strip())
        return Marker(0, tuple(references), tuple(unknown))

    def _existing(self, source: int, first: str | None, last: str | None) -> list[CitedId]:
        known = self._evidence.source(source)
        if known is None:
            return []
        if first is None:
            return [CitedId(source)]
        end = min(int(last or first), int(first) + LONGEST_RANGE - 1)
        wanted = range(int(first), end + 1)
        return [CitedId(source, n) for n in wanted if 0 < n <= len(known.passages)]
