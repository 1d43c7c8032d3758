"""A report by rules: what was read on the question, in sections, word for word and cited.

Sections are the things that the question names, or, where it names one at most, the pages that
speak of it. Nothing is written that no page says.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from agent.keyless.answer import cite, quote
from agent.keyless.names import bare_title, name_stems, numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent.keyless.doubt import Doubt
    from agent.keyless.evidence import Sentence
    from agent.keyless.findings import Findings

WORTH_SAYING, ROW_WORTH_SAYING = 0.5, 0.8
"""Score of a sentence that a report takes up, as a share of the best one's on the same of the
things asked about. A row of a table says little by itself: it must nearly be the answer."""
SENTENCES = 5
"""Of one section: what a reader takes in at a glance."""
ALIKE = 0.7
"""Share of common stems from which two sentences say the same, or the contrary, of one thing."""
_PASSAGE = re.compile(r"S(\d+)¶(\d+)")


def report(found: Findings) -> str:
    """Write the report; empty where the evidence is too thin for an answer."""
    if found.thin:
        return ""
    worth = list(_worth_saying(found))
    sections = [(heading, cite(group)) for heading, group in _sections(found, worth)]
    parts = [
        ("Summary", quote(found.chosen)),
        *sections,
        ("What is contested", _contested(worth)),
        ("What is not known", _unknown(found.doubt)),
    ]
    return "\n\n".join(f"## {heading}\n\n{text}" for heading, text in parts if text)


def _worth_saying(found: Findings) -> Iterator[Sentence]:
    """The sentences that bear on the question, best first, each thing once for a page."""
    said: list[Sentence] = []
    names = _name_stems(found)
    best: dict[tuple[bool, ...], float] = {}
    for each in found.ranking.scored:
        sentence = each.sentence
        of = tuple(map(sentence.speaks_of, names))
        if names and not any(of):
            continue  # on another thing, in words like those of the question
        enough = ROW_WORTH_SAYING if sentence.is_row else WORTH_SAYING
        if each.score < enough * best.setdefault(of, each.score):
            continue
        if sentence.is_whole and not any(_again(sentence, before) for before in said):
            said.append(sentence)
            yield sentence


def _again(sentence: Sentence, before: Sentence) -> bool:
    """Whether a page says a thing once more, or another, or itself later on, in the same words."""
    same_page = sentence.source == before.source
    return sentence.text == before.text or (same_page and _alike(before, sentence))


def _sections(found: Findings, worth: list[Sentence]) -> Iterator[tuple[str, list[Sentence]]]:
    """Headings and sentences, pages on what is asked about first; a sentence stands in one."""
    names = found.question.telling_names
    topics = [(name, name_stems(name)) for name in names] if len(names) > 1 else []
    groups: dict[str, list[Sentence]] = {}
    for sentence in worth:
        of = [name for name, stems in topics if sentence.speaks_of(stems)]
        heading = of[0] if len(of) == 1 else bare_title(sentence.title) or "Other pages"
        groups.setdefault(heading, []).append(sentence)
    about = _name_stems(found)
    ordered = sorted(groups.items(), key=lambda section: not _on(section[1], about))
    for heading, group in ordered[: found.effort.sections]:
        yield heading, sorted(group[:SENTENCES], key=_place)


def _name_stems(found: Findings) -> list[frozenset[str]]:
    return [name_stems(name) for name in found.question.telling_names]


def _on(group: list[Sentence], names: list[frozenset[str]]) -> bool:
    """Whether sentences stand on a page that is called by one of the names."""
    return any(name <= sentence.title_stems for name in names for sentence in group)


def _contested(worth: Iterable[Sentence]) -> str:
    """Pairs of sentences on one thing, from two sources, that share none of their figures."""
    pairs = [
        f"Two sources differ:\n\n- {one.text} [{one.passage}]\n- {other.text} [{other.passage}]"
        for one, other in itertools.combinations(worth, 2)
        if one.source != other.source and _alike(one, other) and _differ(one.text, other.text)
    ]
    return "\n\n".join(pairs)


def _differ(one: str, other: str) -> bool:
    here, there = set(numbers(one)), set(numbers(other))
    return bool(here and there) and not here & there


def _alike(one: Sentence, other: Sentence) -> bool:
    plain = [{s for s in sentence.own if not s.isdigit()} for sentence in (one, other)]
    fewest = min(map(len, plain))
    return bool(fewest) and len(plain[0] & plain[1]) >= ALIKE * fewest


def _unknown(doubt: Doubt) -> str:
    lines = [f"- No page that was read speaks of {name}." for name in doubt.unseen]
    if doubt.unmet:
        lines.append(f"- What is said above leaves open: {', '.join(doubt.unmet)}.")
    return "\n".join(lines)


def _place(sentence: Sentence) -> tuple[int, int]:
    match = _PASSAGE.fullmatch(sentence.passage)
    return (int(match[1]), int(match[2])) if match else (0, 0)
