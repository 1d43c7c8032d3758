"""The shape of a Markdown answer: the lines that make claims, and the citation markers in them.

Known markers: `[S3¶12]`, `[S3¶12, S4¶2]`, `[S3¶1-3]`, `(S3¶12)`, bare `S3¶12`, `[S3]` (a whole
source), `[1]` and `[^1]` (a source by number, or a footnote defined below), and links to a URL
that was read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from agent.evidence.passages import cells_of, is_rule, line_kind

if TYPE_CHECKING:
    from collections.abc import Iterator

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
_PART = re.compile(r"(?:S(\d+))?(?:\s?¶\s?(\d+)(?:\s?[-–—]\s?(?:S\d+)?¶?(\d+))?)?")
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
            named = next((m["link"] for m in _MARKER.finditer(defined) if m["link"]), f"[{key}]")
            return Marker(0, references, () if references else (named,))
        if key.isdigit() and self._evidence.source(int(key)):
            return Marker(0, (CitedId(int(key)),))
        return Marker(0, unknown=(f"[{key}]",))

    def _items(self, text: str) -> Marker:
        references: list[CitedId] = []
        unknown: list[str] = []
        source = 0
        for match in _PART.finditer(text):
            if not match[0]:
                continue
            source = int(match[1]) if match[1] else source
            found = self._existing(source, match[2], match[3])
            references.extend(found)
            if not found:
                unknown.append(match[0].strip())
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


UnitKind = Literal["prose", "row", "verbatim"]

_PREFIX = re.compile(r"\s*(?:>\s?)*(?:(?:[-*+•]|\d{1,3}[.)])\s+)?(?:\[[ xX]\]\s+)?")

NOT_KNOWN = "What is not known"
"""Heading of a part that says what research did not find: there is nothing to cite for it."""


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """A piece of an answer: `prefix` (list bullet, quote mark), `text`, `suffix` (line ends).

    `verbatim` units (code, rules, blank lines) make no claim and are not touched. Headings, the
    head of a table and a line that ends with a colon make none either (`claims` is false), but
    their markers are read. `head` are the cells that name the columns of a row.
    """

    kind: UnitKind
    prefix: str
    text: str
    suffix: str
    claims: bool = True
    head: tuple[str, ...] = ()


def units(answer: str) -> Iterator[AnswerPart]:
    """Cut an answer into units; joined again they are the answer, character for character."""
    silent = False
    for unit in _units(answer):
        if line_kind(unit.text) == "heading":
            silent = unit.text.strip("# ") == NOT_KNOWN
        yield replace(unit, claims=False) if silent else unit


def _units(answer: str) -> Iterator[AnswerPart]:
    fenced = False
    pending: list[str] = []
    head: tuple[str, ...] = ()
    lines = answer.splitlines(keepends=True)
    for number, line in enumerate(lines):
        fence = line.lstrip().startswith(("```", "~~~"))
        plain = not (fenced or fence) and _is_prose(line)
        if plain and (not pending or not _is_item(line)):
            pending.append(line)
            continue
        if pending:
            yield _prose("".join(pending))
            pending = []
        if plain:
            pending.append(line)
        elif fenced or fence:
            fenced ^= fence
            yield AnswerPart("verbatim", "", line, "", claims=False)
        else:
            headed = number + 1 < len(lines) and "-" in lines[number + 1]
            unit = _single(line, head, is_head=headed and is_rule(lines[number + 1]))
            head = _next_head(unit, line, head)
            yield unit
    if pending:
        yield _prose("".join(pending))


def _next_head(unit: AnswerPart, line: str, head: tuple[str, ...]) -> tuple[str, ...]:
    if unit.kind == "row":
        return head if unit.claims else tuple(cells_of(unit.text))
    return head if is_rule(line) else ()


def _is_prose(line: str) -> bool:
    ruled = not line.strip(" \t\r\n|:*_+=-")
    return bool(line.strip()) and _kind(line.rstrip()) in {"text", "list"} and not ruled


def _kind(line: str) -> str:
    """Tell what a line is; a row of a table may have its markers behind its last bar."""
    row = line.lstrip().startswith("|") and line.count("|") > 1
    return "table" if row else line_kind(line)


def _is_item(line: str) -> bool:
    prefix = _PREFIX.match(line)
    return prefix is not None and bool(prefix[0].strip(" \t>"))


def _single(line: str, head: tuple[str, ...], *, is_head: bool) -> AnswerPart:
    body = line.rstrip("\r\n")
    end = line[len(body) :]
    kind = _kind(body)
    if kind == "table" and not is_rule(line):
        return AnswerPart("row", "", body, end, claims=not is_head, head=() if is_head else head)
    if kind == "heading":
        return AnswerPart("prose", "", body, end, claims=False)
    return AnswerPart("verbatim", "", line, "", claims=False)


def _prose(text: str) -> AnswerPart:
    prefix = _PREFIX.match(text)
    start = prefix.end() if prefix else 0
    body = text[start:].rstrip()
    lead_in = body.endswith(":")
    return AnswerPart("prose", text[:start], body, text[start + len(body) :], claims=not lead_in)
