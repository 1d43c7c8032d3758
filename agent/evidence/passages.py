"""Splits a saved text into citable passages with exact offsets, and ranks passages by a query."""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from agent.types import Passage
from browser.text.sentences import sentences
from browser.text.words import BM25, content_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MAX_PASSAGE_CHARS = 900
"""Maximum length of a passage in characters: about 150 words, enough for one statement."""
MIN_CUT_CHARS = 450
"""Minimum length in characters of the pieces of a split paragraph; most have 600 to 900."""
HEADING_SEPARATOR = " › "
HEADING_WEIGHT = 0.5
"""Weight of a query word in the headings, as a share of its IDF: headings name the topic, not the
fact."""
NEIGHBOUR_WEIGHT = 0.25
"""Share of the better neighbour's score that is added to a passage's score: an answer's subject is
often named just before it (`He was born …`). This increases recall on long dialogues by 15
points."""
MIN_RELEVANCE_SHARE = 0.4
"""Minimum score of a sentence about a claim, as a share of the most similar sentence's score.

All 163 quotations that decide a true claim pass (for 22, the claim's language differs from the
page's), as do 9 % of the 1,093 other sentences for a wrong claim. The most similar sentence always
passes; whether it is decisive is up to the judge."""

_LIST_ITEM = re.compile(r"\s*(?:[-*•‣◦]|\d{1,3}[.)])\s+\S")


def split_passages(text: str, source: int, pages: Sequence[int] = ()) -> list[Passage]:
    """Split the saved text of source number `source` into passages in reading order.

    A paragraph, heading, list item or table row is one passage. Those longer than
    `MAX_PASSAGE_CHARS` are split, between sentences if possible. `pages` contains the offset at
    which each page begins. A table row's `heading` ends with the column names, so that each figure
    can be matched to its column.
    """
    found: list[Passage] = []
    above: list[tuple[int, str]] = []  # level and title of the headings above, outermost first
    for kind, start, end, columns in _blocks(text):
        line = text[start:end]
        level = len(line) - len(line.lstrip("#"))
        while kind == "heading" and above and above[-1][0] >= level:
            above.pop()
        titles = [title for _, title in above]
        heading = HEADING_SEPARATOR.join([*titles, columns] if columns else titles)
        if kind == "heading":
            above.append((level, line.strip("# \t")))
        for first, last in _pieces(text, start, end):
            found.append(
                Passage(
                    id=passage_id(source, len(found) + 1),
                    source=source,
                    text=text[first:last],
                    start=first,
                    end=last,
                    heading=heading,
                    page=bisect_right(pages, first) or 1 if pages else None,
                    kind=kind,
                )
            )
    return found


def passage_id(source: int, number: int) -> str:
    """Return the id of passage `number` of a source, both counted from 1: `S3¶12`."""
    return f"S{source}¶{number}"


def line_kind(line: str) -> str:
    """Classify a line of Markdown: heading, table, list or text."""
    stripped = line.strip()
    marks = len(stripped) - len(stripped.lstrip("#"))
    if not line[:1].isspace() and 1 <= marks <= 6 and stripped[marks : marks + 1].isspace():
        return "heading"
    if len(stripped) > 1 and stripped[0] == stripped[-1] == "|":
        return "table"
    return "list" if _LIST_ITEM.match(line) else "text"


def is_table_rule(line: str) -> bool:
    """Return whether a line is the rule below a table header: `|---|---|`."""
    return bool(line.strip()) and not line.strip(" \t\r\n|:+-")


def bare_title(title: str) -> str:
    """Strip the qualifier or site name from a page title: `Nina (film)`, `Nina | Site` → `Nina`."""
    for separator in (" (", " | ", " – ", " — ", " - ", ": ", " · "):
        title = title.partition(separator)[0]
    return title


def introduces_next(text: str) -> bool:
    """Return whether a passage introduces the next one, such as a list, code or an answer."""
    return text.rstrip().endswith((":", "?"))


def split_row(row: str) -> list[str]:
    """Split a table row into cells without surrounding spaces."""
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def named_cells(passage: Passage) -> list[tuple[str, str]]:
    """Return (column name, cell) pairs for a table row; empty if the columns have no names."""
    if passage.kind != "table":
        return []
    names = split_row(passage.heading.rpartition(HEADING_SEPARATOR)[2])
    cells = split_row(passage.text)
    return list(zip(names, cells, strict=True)) if len(names) == len(cells) > 1 else []


class _Block(NamedTuple):
    """A heading, paragraph, list item or table row; `columns` contains a row's column names."""

    kind: str
    start: int
    end: int
    columns: str = ""


def _blocks(text: str) -> Iterator[_Block]:
    block: _Block | None = None
    table: list[_Block] = []
    at = 0
    for line in text.split("\n"):
        content = line.rstrip()
        start, end = at + len(content) - len(content.lstrip()), at + len(content)
        at += len(line) + 1
        kind = line_kind(content) if content else ""
        if table and kind != "table":
            yield from _rows(table, text)
            table = []
        indented = content[:1] == "\t" or content[:2] == "  "
        if (
            block
            and kind == "text"
            and (block.kind == "text" or (block.kind == "list" and indented))
        ):
            block = block._replace(end=end)
            continue
        if block:
            yield block
        block = _Block(kind, start, end) if kind not in {"", "table"} else None
        if kind == "table":
            table.append(_Block(kind, start, end))
    yield from [block] if block else _rows(table, text)


def _rows(table: Sequence[_Block], text: str) -> Iterator[_Block]:
    """Yield a table's rows without its rule, with the column names if it has any.

    The row above a rule names the columns. Without a rule, the first row names them, unless it
    contains a figure other than a year, or the table lists the properties of one thing: such a
    table has two columns, and the second contains figures in some rows and words in others.
    """
    lines = [text[row.start : row.end] for row in table]
    rows = [
        (row, split_row(line))
        for row, line in zip(table, lines, strict=True)
        if not is_table_rule(line)
    ]
    if not rows:
        return
    first, names = rows[0]
    has_names = len(lines) > 1 and is_table_rule(lines[1])
    if not has_names and not any(_is_figure(cell) and not _is_year(cell) for cell in names):
        values = [cells[1] for _, cells in rows[1:] if len(cells) == len(names) == 2]
        has_names = len({any(map(str.isdigit, value)) for value in values}) < 2
    yield first
    for row, _ in rows[1:]:
        yield row._replace(columns=" | ".join(names) if has_names else "")


def _is_figure(cell: str) -> bool:
    return cell.lstrip("+-−–$€£¥ ")[:1].isdigit()


def _is_year(cell: str) -> bool:
    return len(cell) == 4 and cell.isdigit() and cell[:2] in {"17", "18", "19", "20"}


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Split a block into pieces: at sentences, else line ends, else spaces, else anywhere."""
    while end - start > MAX_PASSAGE_CHARS:
        window = text[start : start + MAX_PASSAGE_CHARS]
        last_sentence = max((span.start for span in sentences(window)[1:]), default=0)
        length = MAX_PASSAGE_CHARS
        for place in (last_sentence, window.rfind("\n"), window.rfind(" ")):
            if place >= MIN_CUT_CHARS:
                length = place
                break
        cut = start + length
        yield start, start + len(text[start:cut].rstrip())
        start = cut + len(text[cut:end]) - len(text[cut:end].lstrip())
    if start < end:
        yield start, end


class PassageIndex:
    """A BM25 index over the passages of sources, given as (title, passages) pairs in order."""

    def __init__(self, sources: Iterable[tuple[str, Sequence[Passage]]]) -> None:
        self._passages: list[Passage] = []
        self._headings: list[frozenset[str]] = []
        for title, passages in sources:
            topic = frozenset(content_words(title))
            stems = {h: topic | set(content_words(h)) for h in {p.heading for p in passages}}
            self._passages += passages
            self._headings += (stems[passage.heading] for passage in passages)
        self._bm25 = BM25(content_words(passage.text) for passage in self._passages)

    def search(self, query: str, limit: int, source: int | None = None) -> list[Passage]:
        """Return the `limit` best passages, without headings and repeated passages."""
        terms = content_words(query)
        own = self._bm25.scores(terms)
        idf = {term: self._bm25.idf(term) for term in set(terms)}
        hits = [i for i, score in enumerate(own) if score > 0]
        for i in hits:
            own[i] += HEADING_WEIGHT * sum(idf[term] for term in idf.keys() & self._headings[i])
        scores = {}
        for i in {j for hit in hits for j in (hit - 1, hit, hit + 1) if 0 <= j < len(own)}:
            near = [j for j in (i - 1, i + 1) if 0 <= j < len(own)]
            passage_source = self._passages[i].source
            beside = (own[j] for j in near if self._passages[j].source == passage_source)
            scores[i] = own[i] + NEIGHBOUR_WEIGHT * max(beside, default=0.0)
        found: dict[str, Passage] = {}
        for i in sorted(scores, key=lambda i: (-scores[i], i)):
            if scores[i] <= 0 or len(found) == limit:
                break
            passage = self._passages[i]
            if passage.kind != "heading" and source in (None, passage.source):
                found.setdefault(passage.text, passage)
        return list(found.values())


class SentenceIndex:
    """A BM25 index over the sentences and table rows in passages, and their page titles."""

    def __init__(self, passages: Sequence[Passage], titles: Sequence[str] = ()) -> None:
        self._sentences: list[tuple[Passage | None, str]] = []
        self._subject = frozenset(content_words(" ".join(titles)))
        texts: list[str] = []
        for passage in dict.fromkeys(passages):
            is_row = passage.kind == "table"
            columns = passage.heading.rpartition(HEADING_SEPARATOR)[2] if is_row else ""
            for start, end in [(0, len(passage.text))] if is_row else sentences(passage.text):
                sentence = passage.text[start:end]
                self._sentences.append((passage, sentence))
                texts.append(f"{columns} {sentence}")
        self._sentences += ((None, title) for title in titles)
        self._bm25 = BM25(map(content_words, [*texts, *titles]))

    def nearest(self, claim: str) -> str:
        """Return the sentence or row that is most similar to a claim; empty if none is similar."""
        best = self._bm25.best(content_words(claim), 1)
        return self._sentences[best[0][0]][1].strip() if best else ""

    def is_relevant_to(self, claim: str, quotes: Iterable[tuple[str, Passage | None]]) -> bool:
        """Return whether quoted words are from sentences that are similar enough to a claim.

        `quotes` are quoted words, each with its passage, or None for a page title. Together, their
        sentences need at least `MIN_RELEVANCE_SHARE` of the most similar sentence's score. Words in
        the page's title do not count, since any sentence on the page may be about its subject.
        """
        quoted, words = list(quotes), content_words(claim)
        if all(passage is not None for _, passage in quoted):
            words = [word for word in words if word not in self._subject] or words
        scores = self._bm25.scores(words)
        own, best = 0.0, 0.0
        for (passage, sentence), score in zip(self._sentences, scores, strict=True):
            if passage is None or passage.kind != "heading":
                best = max(best, score)
            if any(p == passage and (q in sentence or sentence in q) for q, p in quoted):
                own += score
        return own >= MIN_RELEVANCE_SHARE * best


@functools.lru_cache(maxsize=16)
def sentence_index(passages: tuple[Passage, ...], titles: tuple[str, ...] = ()) -> SentenceIndex:
    """Build the index of some passages; cached, since an answer's sentences cite the same pages."""
    return SentenceIndex(passages, titles)


def nearest_quote(sentence: str, passages: Sequence[Passage]) -> str:
    """Return the most similar sentence or row in the passages, or empty if none is similar."""
    return sentence_index(tuple(passages)).nearest(sentence)
