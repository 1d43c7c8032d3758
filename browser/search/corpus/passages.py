"""Texts cut into passages to be indexed, and snippets cut out of passages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from browser.text import UNSPACED, content_words, sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

# About a paragraph: long enough for a question's words to meet, short enough to be about one thing.
SHORTEST, LONGEST = 500, 1500
SNIPPET = 320

_UNSPACED = re.compile(f"[{UNSPACED}]")


def split(text: str) -> Iterator[str]:
    """Cut a text at blank lines into passages of SHORTEST to LONGEST characters."""
    gathered = ""
    for block in re.split(r"\n\s*\n", text):
        for piece in _pieces(block.strip()):
            if gathered and len(gathered) + len(piece) > LONGEST:
                yield gathered
                gathered = ""
            gathered = f"{gathered}\n\n{piece}" if gathered else piece
            if len(gathered) >= SHORTEST:
                yield gathered
                gathered = ""
    if gathered:
        yield gathered


def unspaced(text: str) -> str:
    """Give the characters of scripts written without spaces, each as a word of its own."""
    return " ".join(_UNSPACED.findall(text))


def snippet(passage: str, weights: Mapping[str, float]) -> str:
    """Cut the sentences around the one that matches best, SNIPPET characters at most.

    `weights` says how much each stem of the query counts.
    """
    spans = sentences(passage)
    if not spans:
        return " ".join(passage.split())[:SNIPPET]
    scores = [_weight(passage[span.start : span.end], weights) for span in spans]
    first = last = max(range(len(spans)), key=lambda n: scores[n])
    while last + 1 < len(spans) and spans[last + 1].end - spans[first].start <= SNIPPET:
        last += 1
    while first > 0 and spans[last].end - spans[first - 1].start <= SNIPPET:
        first -= 1
    cut = " ".join(passage[spans[first].start : spans[last].end].split())
    return cut if len(cut) <= SNIPPET else f"{cut[: SNIPPET - 1].rsplit(' ', 1)[0]}…"


def _weight(text: str, weights: Mapping[str, float]) -> float:
    return sum(weights.get(word, 0.0) for word in set(content_words(text)))


def _pieces(block: str) -> Iterable[str]:
    if len(block) <= LONGEST:
        return [block] if block else []
    pieces, start, end = [], 0, 0
    for span in sentences(block):
        if span.end - start > LONGEST and end > start:
            pieces.append(block[start:end])
            start = span.start
        end = span.end
    pieces.append(block[start:])
    return [part for piece in pieces for part in _chunks(piece)]


def _chunks(piece: str) -> list[str]:
    """Cut what has no sentences (tables, logs) by length."""
    step = 2 * LONGEST
    return [piece[n : n + step] for n in range(0, len(piece), step)]
