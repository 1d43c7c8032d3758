"""Repeated real runs of the extractive model over the same pages, and what memory then contains.

Each question is asked in three ways, over and over; memory consolidates now and then. Nothing may
accumulate: no duplicate facts, no extra copy of a question each time it is asked, no prompt text,
and no more text shown to a model.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent import research
from agent.memory import Memory
from agent.memory.consolidation import consolidate
from agent.memory.layers import HEAD, context_block
from agent.memory.terms import index_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from fixtures.server import Site

# A source names the five questions that it served last; which these are changes the length.
ROTATION = 1.02
QUESTIONS = (
    ("When was Hesk Light first lit?", "Hesk Light was first lit when?"),
    ("Who is the curator of the Net Loft Museum?", "Net Loft Museum: who is the curator?"),
    ("How long is Sunnock Pier?", "What is the length of Sunnock Pier?"),
    ("Who described the Orlenn wren?", "By whom was the Orlenn wren described?"),
    ("What is the fine for an unannounced bonfire?", "An unannounced bonfire: what is the fine?"),
    ("How many tins of the drift bottle post reached the mainland?", "drift bottle post tins"),
    ("How many members has the Isles Council?", "The Isles Council has how many members?"),
    ("How deep is the harbour of Tarrith Sound?", "Tarrith Sound harbour depth?"),
    ("What does the word scaddle mean in Orlenn dialect?", "What is a scaddle in Orlenn dialect?"),
    ("How many puffin pairs were counted in 2025?", "How many pairs of puffins in 2025?"),
)
ASKED = tuple(form for forms in QUESTIONS for form in (*forms, forms[0].lower().rstrip("?")))


@dataclass
class MemoryContents:
    """What memory contains after a round of all questions, and what it would show a model."""

    counts: Counter[str]
    injected: int
    twice: list[str] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)


async def rounds(
    site: Site, folder: Path, runs: int, asked: Sequence[str] = ASKED
) -> list[MemoryContents]:
    """Run this many times; returns what was left after each round of questions, and at the end."""
    found = []
    for number in range(runs):
        await research(
            asked[number % len(asked)],
            model="extractive",
            search=["searxng"],
            searxng_url=site.url,
            allow_private=[site.address],
            data_dir=folder,
            memory=True,
        )
        if (number + 1) % len(asked) == 0 or number + 1 == runs:
            found.append(left(folder, asked))
    return found


def left(folder: Path, asked: Sequence[str]) -> MemoryContents:
    """Consolidate, then inspect."""
    with Memory.open(folder / "memory.db") as memory:
        consolidate(memory.entries, 30.0)
        held = memory.newest(limit=None)
        injected = [context_block(memory.layers(question).recalled) for question in asked]
    facts = [hit.text for hit in held if hit.kind == "fact"]
    return MemoryContents(
        Counter(hit.kind for hit in held),
        sum(map(len, injected)),
        _repeated(facts) + [line for block in injected for line in _repeated(_lines(block))],
        [hit.text for hit in held if HEAD in hit.text or "<<TOOL" in hit.text],
    )


def _lines(block: str) -> list[str]:
    return [line for line in block.splitlines() if line.startswith("[")]


def _repeated(texts: Iterable[str]) -> list[str]:
    """Find texts that consist of the same words, in any order."""
    counts = Counter(" ".join(sorted(set(index_terms(text)))) for text in texts)
    return [words for words, count in counts.items() if count > 1]
