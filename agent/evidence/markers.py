"""Parses a Markdown answer into parts that make claims, and reads their citation markers.

Markers are `[S3¶12]`, `[S3¶12, S4¶2]`, `[S3¶1-3]`, `(S3¶12)`, bare `S3¶12`, `[S3]` (an entire
source), `[1]` and `[^1]` (a source number, or a footnote that the answer defines), and links to a
URL that was read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from agent.evidence.passages import is_table_rule, line_kind, split_row
from agent.types import PASSAGE_ID
from browser.text.sentences import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.evidence.store import Evidence

MAX_RANGE_PASSAGES = 40
"""Maximum number of passages in a range such as `[S3¶1-40]`; longer ranges are truncated."""


class CitedId(NamedTuple):
    """A cited passage of a source, or the entire source if `passage` is None."""

    source: int
    passage: int | None = None


@dataclass(frozen=True, slots=True)
class Marker:
    """A citation marker; `offset` is its position in the text without markers.

    `unknown` contains the ids or URLs in it that were not read; `numeric` is true for a bare `[1]`.
    """

    offset: int
    references: tuple[CitedId, ...] = ()
    unknown: tuple[str, ...] = ()
    numeric: bool = False


_ID_ITEM = r"S\d+(?:\s?¶\s?\d+(?:\s?[-–—]\s?(?:S\d+)?¶?\d+)?)?"
_FURTHER_ID_ITEM = rf"(?:{_ID_ITEM}|¶\s?\d+(?:\s?[-–—]\s?¶?\d+)?)"
_ID_SEPARATOR = r"\s?(?:[,;&]|and)\s?"
_MARKER_RE = re.compile(
    rf"""(?P<code>```.*?(?:```|\Z)|`[^`\n]+`)
    |\[(?P<text>[^\[\]\n]*)\]\((?P<url>https?://[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)\)
    |[\[(【](?P<items>{_ID_ITEM}(?:{_ID_SEPARATOR}{_FURTHER_ID_ITEM})*)[\])】]
    |(?P<bare>\b{PASSAGE_ID}(?:[-–]¶?\d+)?)
    |\[(?P<numbers>\^?\d{{1,3}}(?:\s?[,;–-]\s?\^?\d{{1,3}})*)\]
    |\[\^(?P<footnote>[\w-]+)\]
    |[<(]?(?P<link>https?://[^\s<>()\[\]]+[^\s<>()\[\].,;:!?])[>)]?""",
    re.VERBOSE | re.DOTALL,
)
_FOOTNOTE_DEFINITION_RE = re.compile(r"^ {0,3}\[\^?([\w-]+)\]:[ \t]*(\S.*)$\n?", re.MULTILINE)
_ID_RE = re.compile(r"(?:S(\d+))?(?:\s?¶\s?(\d+)(?:\s?[-–—]\s?(?:S\d+)?¶?(\d+))?)?")
_ONLY_LINKS_RE = re.compile(
    r"(?:[ \t]*[,;|·]?[ \t]*\[[^\[\]\n]*\]\(https?://[^\s()]*\))*[ \t]*(?:\n|\Z)"
)
_SEPARATORS = " \t,;|·"
_BARE_LABEL_RE = re.compile(rf"\^?\d{{1,3}}|{_ID_ITEM}|source|link", re.IGNORECASE)


class MarkerReader:
    """Parses an answer's markers and looks them up in its run's evidence."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._footnotes: dict[str, str] = {}

    def take_footnotes(self, answer: str) -> str:
        """Remove footnote definitions (`[^1]: https://…`) from an answer and store them."""
        self._footnotes = {m[1]: m[2] for m in _FOOTNOTE_DEFINITION_RE.finditer(answer)}
        return _FOOTNOTE_DEFINITION_RE.sub("", answer)

    def strip_markers(self, text: str) -> tuple[str, tuple[Marker, ...]]:
        """Return the text without its markers, and the markers."""
        plain, markers, at = "", [], 0
        for match in _MARKER_RE.finditer(text):
            if match["code"]:
                continue
            plain += text[at : match.start()]
            at = match.end()
            if match["link"] and not self._link(match["link"]).references:
                plain += match[0]  # part of the text: an address that was not read
                continue
            label = match["text"] or ""
            if not label or _BARE_LABEL_RE.fullmatch(label):
                plain = plain.rstrip(" \t")
            elif _ONLY_LINKS_RE.match(text, at) and _follows_sentence(plain):
                plain = plain.rstrip(_SEPARATORS)  # `It is tall. [About us](https://…)`
            else:
                plain += label  # a link's words are part of the sentence
            markers.append(replace(self._marker(match), offset=len(plain)))
            # Two words with only a marker between them must not be joined.
            if plain and text[at : at + 1].isalnum() and not plain.endswith((" ", "\n")):
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
            _, found = self.strip_markers(defined)
            references = tuple(r for marker in found for r in marker.references)
            if references:
                return Marker(0, references)
            links = [m["link"] for m in _MARKER_RE.finditer(defined) if m["link"]]
            return Marker(0, unknown=(links[0] if links else f"[{key}]",))
        if key.isdigit() and self._evidence.source(int(key)):
            return Marker(0, (CitedId(int(key)),))
        return Marker(0, unknown=(f"[{key}]",))

    def _items(self, text: str) -> Marker:
        """Read a list of passage and source ids: `S3¶12, ¶14-16; S4`."""
        references: list[CitedId] = []
        unknown: list[str] = []
        n = 0
        for match in _ID_RE.finditer(text):
            if not match[0]:
                continue
            if match[1]:
                n = int(match[1])  # `¶14` alone refers to the preceding source
            source = self._evidence.source(n)
            found: list[CitedId] = []
            if source and match[2]:
                first, last = int(match[2]), int(match[3] or match[2])
                last = min(last, first + MAX_RANGE_PASSAGES - 1, len(source.passages))
                found = [CitedId(n, number) for number in range(max(1, first), last + 1)]
            elif source:
                found = [CitedId(n)]
            references += found
            if not found:
                unknown.append(match[0].strip())
        return Marker(0, tuple(references), tuple(unknown))


_PREFIX = re.compile(r"\s*(?:>\s?)*(?:(?:[-*+•]|\d{1,3}[.)])\s+)?(?:\[[ xX]\]\s+)?")

UNKNOWN_HEADING = "What is not known"
"""Heading of the section that lists what was not found; it needs no citations."""


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """A part of an answer: `prefix` (list bullet, blockquote marker), `text`, `suffix` (line ends).

    `verbatim` parts (code, rules, blank lines) stay unchanged and make no claims. `makes_claims` is
    also false for headings, table headers and lines that end with a colon, but their markers are
    read. `head` contains the column names of a table row.
    """

    kind: Literal["prose", "row", "verbatim"]
    prefix: str
    text: str
    suffix: str
    makes_claims: bool = True
    head: tuple[str, ...] = ()


def answer_parts(answer: str) -> Iterator[AnswerPart]:
    """Split an answer into parts; joining them gives exactly the original text."""
    in_not_known = False
    for part in _split_lines(answer):
        if line_kind(part.text) == "heading":
            in_not_known = part.text.strip("# ") == UNKNOWN_HEADING
        yield replace(part, makes_claims=False) if in_not_known else part


def _split_lines(answer: str) -> Iterator[AnswerPart]:
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
            is_head = "-" in below and is_table_rule(below)
            yield AnswerPart("row", "", body, ending, not is_head, () if is_head else head)
            head = tuple(split_row(body)) if is_head else head
        elif kind == "heading":
            yield AnswerPart("prose", "", body, ending, makes_claims=False)
        else:
            yield AnswerPart("verbatim", "", line, "", makes_claims=False)
            fenced ^= fence
        if kind in {"blank", "heading"}:
            head = ()
    if paragraph:
        yield _prose(paragraph)


def _kind(line: str) -> str:
    """Classify a line in an answer: row, rule, heading, blank, item or text.

    Unlike on a page, a row may have citation markers after its last bar.
    """
    if is_table_rule(line):
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
    suffix = text[start + len(body) :]
    return AnswerPart("prose", text[:start], body, suffix, makes_claims=not body.endswith(":"))


def sentences_with_markers(
    plain: str, markers: Sequence[Marker]
) -> Iterator[tuple[int, int, list[Marker]]]:
    """Yield each sentence in `plain` as offsets, with its markers.

    A marker belongs to the last sentence that begins before it.
    """
    spans = sentences(plain)
    edges = [span.start for span in spans[1:]] + [len(plain) + 1]
    remaining = list(markers)
    for span, edge in zip(spans, edges, strict=False):
        own = [marker for marker in remaining if marker.offset < edge]
        remaining = remaining[len(own) :]
        yield span.start, span.end, own


def _follows_sentence(plain: str) -> bool:
    """Return whether a word added to the last line of `plain` would begin a new sentence."""
    before = plain.rpartition("\n")[2].rstrip(_SEPARATORS)
    return bool(before) and len(sentences(f"{before} A")) > len(sentences(before))


def cited_sentences(answer: str, evidence: Evidence) -> Iterator[tuple[str, list[CitedId]]]:
    """Yield the sentences of an answer that cite sources of the run, each with its citations."""
    reader = MarkerReader(evidence)
    for part in answer_parts(reader.take_footnotes(answer)):
        plain, markers = reader.strip_markers(part.text)
        for start, end, own in sentences_with_markers(plain, markers):
            ids = [reference for marker in own for reference in marker.references]
            if part.makes_claims and ids:
                yield plain[start:end], ids
