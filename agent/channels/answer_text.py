"""Formats a report as plain-text chat messages, split between sentences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from agent.export import report_view
from agent.jsvalues import cut, length
from browser.text.sentences import sentences
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markdown_it.token import Token

    from agent.types import Report

MAX_MESSAGES = 3
"""Maximum number of messages per answer; a longer answer is also sent as a file."""
_CITATIONS_RE = re.compile(r"(?:\s*\[\d{1,3}\])*\s*")
_MORE_IN_FILE_NOTE = "… The full answer with its sources is in the attached file."


def answer_text(report: Report) -> str:
    """Format the answer with citations, followed by its unverified sentences and its sources."""
    if report.status == "failed":
        return clean(f"The run failed: {report_view.error_line(report)}")
    unsupported = [
        f"? {s.text} ({report_view.verdict_label(s, report)})"
        for s in report_view.other_unsupported(report)
    ]
    closest = [
        f"“{' '.join(one.text.split())}” [{one.source}] {report_view.closest_place(one)}"
        for one in report.closest
    ]
    sources = [
        f"[{s.n}] {s.title or s.url}" + (f"\n{s.url}" if s.url.startswith("http") else "")
        for s in report.sources
    ]
    blocks = [
        " ".join(report_view.head_lines(report)),
        plain_text(report_view.annotated_answer(report)),
        "\n".join(["Not verified:", *unsupported]) if unsupported else "",
        "\n".join([report_view.closest_title(report), *closest]) if closest else "",
        "\n".join(sources),
    ]
    return clean("\n\n".join(filter(None, blocks))) or "No answer."


def split_answer(text: str, longest: int) -> tuple[list[str], bool]:
    """Split text into messages; the second value is true if the rest must be sent as a file."""
    pieces = split_text(text, longest)
    if len(pieces) <= MAX_MESSAGES:
        return pieces, False
    head = split_text(text, longest - length(_MORE_IN_FILE_NOTE) - 2)[: MAX_MESSAGES - 1]
    return [*head[:-1], f"{head[-1]}\n\n{_MORE_IN_FILE_NOTE}"], True


def split_text(text: str, longest: int) -> list[str]:
    """Split text into pieces of at most `longest` UTF-16 units, between paragraphs or sentences.

    Sentences that are too long are split between words, and words that are too long at any
    character.
    """
    pieces: list[str] = []
    room = ""
    for unit in _split_units(text, longest):
        if room and length(room + unit) > longest:
            pieces.append(room.strip())
            room = ""
        room += unit
    return [piece for piece in [*pieces, room.strip()] if piece]


def _split_units(text: str, longest: int) -> Iterable[str]:
    """Split text into paragraphs, sentences or words that are short enough."""
    for paragraph in text.splitlines(keepends=True):
        if length(paragraph) <= longest:
            yield paragraph
            continue
        # keep citations with the sentence before them
        found = [_CITATIONS_RE.match(paragraph, span.end) for span in sentences(paragraph)]
        ends = [markers.end() for markers in found if markers]
        at = 0
        for end in [*ends[:-1], len(paragraph)]:
            yield from _words(paragraph[at:end], longest)
            at = end


def _words(sentence: str, longest: int) -> Iterable[str]:
    while length(sentence) > longest:
        head = cut(sentence, longest)
        head = head[:-1] if "\ud800" <= head[-1] <= "\udbff" else head  # half of a surrogate pair
        at = head.rfind(" ") + 1 or len(head)
        yield sentence[:at]
        sentence = sentence[at:]
    yield sentence


def plain_text(markdown: str) -> str:
    """Convert Markdown to plain text, since services support different markup or none."""
    tokens = MarkdownIt("commonmark", {"html": False}).parse(markdown)
    texts: list[str] = []
    depth = 0
    mark, listed = "", False
    for token in tokens:
        if token.type in {"bullet_list_open", "ordered_list_open"}:
            depth += 1
        elif token.type in {"bullet_list_close", "ordered_list_close"}:
            depth -= 1
        elif token.type == "list_item_open":
            mark = "  " * (depth - 1) + (f"{token.info}. " if token.info else "• ")
        elif token.type in {"inline", "fence", "code_block"}:
            between = "\n" if mark and listed else "\n\n"
            texts.append(f"{between if texts else ''}{mark}{_text_of(token)}")
            mark, listed = "", depth > 0
    return "".join(texts)


def _text_of(token: Token) -> str:
    if not token.children:
        return token.content.rstrip("\n")
    breaks = {"softbreak", "hardbreak"}
    return "".join("\n" if child.type in breaks else child.content for child in token.children)
