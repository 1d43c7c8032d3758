"""Represents a live page's state as one string: the article, then snapshot-only content.

Article extraction drops the parts that make up an application: controls with their values,
comments, settings rows. A model sees them in the snapshot, so they become passages too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from agent.evidence.passages import is_table_rule, passage_id, split_passages, split_row
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent.types import Passage
    from browser.types import Document

_TARGETS = re.compile(r"(?<=[^\s#*-]) \(→ [^()]*\)$")
"""Matches the targets of a line's links, which are listed at its end."""

MIN_CONTAINED = 60
"""Minimum length in characters of a displayed line that is left out if a paragraph in the article
contains it. A shorter one (`Save`, `Ben`) is left out only if the article has the same line next to
the same neighbour: in another place, it may mean something else."""


def append_shown_lines(document: Document, shown: str, outcome: str = "") -> Document:
    """Append the `shown` lines that the article lacks to the document's text.

    `shown` is Markdown without refs; `outcome` describes the result of the action that led to this
    state.
    """
    article = _without_emptied_rows(clean(document.text).strip(), shown)
    added = clean("\n\n".join(filter(None, (outcome, _lines_missing_from(article, shown))))).strip()
    if not added:
        return document
    start = len(article) + 2 if article else 0
    text = f"{article}\n\n{added}" if article else added
    return replace(document, text=text, shown_from=start)


def split_state(text: str, source: int, shown_from: int, *, acted: bool = False) -> list[Passage]:
    """Split the text of a page state into passages, beginning with those of the article.

    If an action led to this state (`acted`), the first passage after the article describes it.
    """
    passages = split_passages(text[:shown_from], source)
    shown = split_passages(text[shown_from:], source)
    if acted and shown:
        shown[0] = replace(shown[0], kind="act")
    for passage in shown:
        number = passage_id(source, len(passages) + 1)
        start, end = passage.start + shown_from, passage.end + shown_from
        passages.append(replace(passage, id=number, start=start, end=end))
    return passages


def reuse_strings(passages: Iterable[Passage], before: Iterable[Passage]) -> list[Passage]:
    """Reuse the strings of equal passages from an earlier state: most of a page is unchanged."""
    known: dict[str, str] = {}
    for passage in before:
        known[passage.text], known[passage.heading] = passage.text, passage.heading
    return [
        replace(
            p, text=known.setdefault(p.text, p.text), heading=known.setdefault(p.heading, p.heading)
        )
        for p in passages
    ]


def _without_emptied_rows(article: str, shown: str) -> str:
    """Remove table rows from the article if the snapshot has them with more content.

    Article extraction drops the fields and buttons in cells and leaves rows such as `| Title | |`.
    """
    fuller: defaultdict[str, list[list[str]]] = defaultdict(list)
    for line in shown.split("\n"):
        if line.startswith("|") and (words := _plain_words(line).split()):
            for word in dict.fromkeys(words):
                fuller[word].append(words)

    def is_emptied(line: str) -> bool:
        words = _plain_words(line).split()
        if not (line.startswith("|") and words) or is_table_rule(line) or all(split_row(line)):
            return False
        longer = (row for row in fuller[words[0]] if len(row) > len(words))
        return any(_is_subsequence(words, row) for row in longer)

    return "\n".join(line for line in article.split("\n") if not is_emptied(line)).strip()


def _is_subsequence(words: Iterable[str], others: Iterable[str]) -> bool:
    """Return whether some words appear among others in the same order."""
    rest = iter(others)
    return all(word in rest for word in words)


def _lines_missing_from(article: str, shown: str) -> str:
    """Return shown lines that the article lacks, with the headings and column names above them."""
    lines = [key for line in article.split("\n") if (key := _plain_words(line))]
    known, neighbours = set(lines), set(pairwise(lines))
    rows = list(_lines(shown))
    keys = ["", *(_plain_words(line) for line, _ in rows), ""]
    flat = _plain_words(article.replace("\n", " "))
    blocks: list[str] = []
    headings: list[tuple[int, str]] = []  # headings above the line that are not in `blocks` yet
    columns = ""  # the current table's header, if it is not in `blocks` yet
    in_table = False  # whether the last block is the current table
    for at, (line, rule) in enumerate(rows, 1):
        key, level = keys[at], len(line) - len(line.lstrip("#"))
        if level:
            headings = [(above, text) for above, text in headings if above < level]
            headings.append((level, line))
        if rule:
            columns, in_table = f"{line}\n{rule}", False
        elif not line.startswith("|"):
            columns, in_table = "", False
        if len(key) >= MIN_CONTAINED:
            is_known = key in known or key in flat
        else:
            beside = {(keys[at - 1], key), (key, keys[at + 1])}
            is_known = key in known and (level > 0 or not beside.isdisjoint(neighbours))
        if is_known:
            continue
        blocks += (text for _, text in headings)
        headings = []
        if columns:
            blocks.append(columns)
            columns, in_table = "", True
        if in_table and not rule:
            blocks[-1] += f"\n{line}"
        elif not (level or rule):
            blocks.append(line)
            in_table = line.startswith("|")
    return "\n\n".join(blocks)


def _lines(shown: str) -> Iterator[tuple[str, str]]:
    """Yield the non-empty lines, each with the table rule below it, if any."""
    lines = [line for line in shown.split("\n") if line.strip()]
    for line, below in pairwise([*lines, ""]):
        if not is_table_rule(line):
            yield line, below if is_table_rule(below) else ""


def _plain_words(text: str) -> str:
    """Reduce a line to its words, without block markers, cell bars, link targets or spacing."""
    text = _TARGETS.sub("", text)
    return " ".join(text.lstrip("#-* ").replace("|", " ").split())
