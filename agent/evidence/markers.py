"""The shape of a Markdown answer: the lines that make claims, and the citation markers in them.

Known markers: `[S3¶12]`, `[S3¶12, S4¶2]`, `[S3¶1-3]`, `(S3¶12)`, bare `S3¶12`, `[S3]` (a whole
source), `[1]` and `[^1]` (a source by number, or a footnote defined below), and links to a URL
that was read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
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
    """A marker in a text: where it stood once all markers are out, and what it says.

    `unknown` is what it names that was not read; `numeric` that it is a bare number such as `[1]`.
    """

    offset: int
    references: tuple[CitedId, ...] = ()
    unknown: tuple[str, ...] = ()
    numeric: bool = False


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

    def unmark(self, text: str) -> tuple[str, tuple[Marker, ...]]:
        """Take all markers out of a piece of text; gives the rest of it, and the markers."""
        plain, markers, at = "", [], 0
        for match in _MARKER.finditer(text):
            if match["code"]:
                continue
            plain += text[at : match.start()]
            at = match.end()
            if match["link"] and not self._link(match["link"]).references:
                plain += match[0]  # an address in the text, of a page that was not read
                continue
            label = match["text"] or ""
            words = "" if _BARE_LABEL.fullmatch(label) else label
            plain = plain + words if words else plain.rstrip(" \t")
            markers.append(replace(self._marker(match), offset=len(plain)))
            if text[at : at + 1].isalnum() and not plain.endswith((" ", "\n")) and plain:
                plain += " "
        return plain + text[at:], tuple(markers)

    def _marker(self, match: re.Match[str]) -> Marker:
        if match["url"] or match["link"]:
            return self._link(match["url"] or match["link"])
        if match["footnote"]:
            return self._footnote(match["footnote"])
        if match["numbers"]:
            numbers = [self._footnote(number) for number in re.findall(r"\d+", match["numbers"])]
            references = tuple(r for marker in numbers for r in marker.references)
            unknown = tuple(name for marker in numbers for name in marker.unknown)
            return Marker(0, references, unknown, numeric=True)
        return self._items(match["items"] or match["bare"])

    def _link(self, url: str) -> Marker:
        source = self._evidence.by_url(url) or self._evidence.result_for(url)
        return Marker(0, (CitedId(source.n),)) if source else Marker(0, unknown=(url,))

    def _footnote(self, key: str) -> Marker:
        defined = self._footnotes.get(key)
        if defined is not None:
            _, found = self.unmark(defined)
            references = tuple(r for marker in found for r in marker.references)
            named = next((m["link"] for m in _MARKER.finditer(defined) if m["link"]), f"[{key}]")
            return Marker(0, references, () if references else (named,))
        if key.isdigit() and self._evidence.source(int(key)):
            return Marker(0, (CitedId(int(key)),))
        return Marker(0, unknown=(f"[{key}]",))

    def _items(self, text: str) -> Marker:
        """Read passages and sources by their ids: `S3¶12, ¶14-16; S4`."""
        references: list[CitedId] = []
        unknown: list[str] = []
        n = 0
        for match in filter(lambda part: part[0], _PART.finditer(text)):
            n = int(match[1]) if match[1] else n
            source = self._evidence.source(n)
            found = [CitedId(n)] if source else []
            if source and match[2]:
                first, last = int(match[2]), int(match[3] or match[2])
                last = min(last, first + LONGEST_RANGE - 1, len(source.passages))
                found = [CitedId(n, number) for number in range(max(1, first), last + 1)]
            references += found
            unknown += [] if found else [match[0].strip()]
        return Marker(0, tuple(references), tuple(unknown))


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

    kind: Literal["prose", "row", "verbatim"]
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
    paragraph = ""
    head: tuple[str, ...] = ()
    lines = answer.splitlines(keepends=True)
    for line, below in pairwise([*lines, ""]):
        fence = line.lstrip().startswith(("```", "~~~"))
        kind = "code" if fenced or fence else _kind(line)
        if paragraph and kind != "text":
            yield _prose(paragraph)
            paragraph = ""
        if kind in {"text", "item"}:
            paragraph += line
            continue
        body = line.rstrip("\r\n")
        ending = line[len(body) :]
        if kind == "row":
            is_head = "-" in below and is_rule(below)
            yield AnswerPart("row", "", body, ending, not is_head, () if is_head else head)
            head = tuple(cells_of(body)) if is_head else head
        elif kind == "heading":
            yield AnswerPart("prose", "", body, ending, claims=False)
        else:
            yield AnswerPart("verbatim", "", line, "", claims=False)
            fenced ^= fence
        if kind in {"blank", "heading"}:
            head = ()
    if paragraph:
        yield _prose(paragraph)


def _kind(line: str) -> str:
    """Tell what a line of an answer is: row, rule, heading, blank, item or text.

    A row may have its markers behind its last bar; what is blank holds nothing but rules.
    """
    if is_rule(line):
        return "rule"
    if line.lstrip().startswith("|") and line.count("|") > 1:
        return "row"
    kind = line_kind(line.rstrip())
    if kind in {"table", "heading"}:
        return "row" if kind == "table" else kind
    if not line.strip(" \t\r\n|:*_+=-"):
        return "blank"
    prefix = _PREFIX.match(line)
    return "item" if prefix and prefix[0].strip(" \t>") else "text"


def _prose(text: str) -> AnswerPart:
    prefix = _PREFIX.match(text)
    start = prefix.end() if prefix else 0
    body = text[start:].rstrip()
    leads_in = body.endswith(":")
    return AnswerPart("prose", text[:start], body, text[start + len(body) :], claims=not leads_in)
