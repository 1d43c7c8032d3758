"""Counts which of a judge's quotations bear on a claim: `python -m bench.quotations`.

The data is in `bench/paraphrases`. `quotations.jsonl` has true claims with the words that a careful
judge would quote; they were written before the check, 22 of them in a language other than their
page's. For every thirteenth wrong claim of the other files, each sentence of its page except the
most similar one is tried as a quotation.
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path

from agent.evidence import split_passages
from agent.evidence.passages import sentence_index
from agent.evidence.verify import verdict_counts
from agent.types import Passage, Verdict, VerdictState
from bench.claims import GOOD, read
from browser.text.sentences import sentences

FOLDER = Path(__file__).with_name("paraphrases")
FILES = ("blind", "free", "varied")
MIN_RIGHT, MAX_WRONG = 0.97, 0.12
"""Minimum share of the deciding quotations that count, maximum share of the others."""
STEP = 13
"""Every thirteenth wrong claim is tried, since all would take minutes."""
TARGETS_MISSED = 8


def main() -> int:
    """Print both shares; return 8 if a target is missed."""
    rows = read(FOLDER / "quotations.jsonl")
    lost = [
        row["claim"] for row in rows if not is_counted(row["page"], row["claim"], row["quotes"])
    ]
    claims = [row for name in FILES for row in read(FOLDER / f"{name}.jsonl")]
    wrong = [row for row in claims if row["label"] not in GOOD][::STEP]
    tried = [
        is_counted(row["page"], row["claim"], [sentence])
        for row in wrong
        for sentence in other_sentences(row["page"], row["claim"])
    ]
    print(
        f"deciding quotations that count: {len(rows) - len(lost)} of {len(rows)}", *lost, sep="\n  "
    )
    print(f"other sentences that count for a wrong claim: {sum(tried)} of {len(tried)}")
    good = len(lost) <= (1 - MIN_RIGHT) * len(rows) and sum(tried) <= MAX_WRONG * len(tried)
    return 0 if good else TARGETS_MISSED


@functools.cache
def page_texts() -> dict[str, str]:
    """Return page texts by name."""
    return {
        row["page"]: row["text"] for name in FILES for row in read(FOLDER / f"{name}_pages.jsonl")
    }


@functools.lru_cache(maxsize=4)
def passages_of(page: str) -> tuple[Passage, ...]:
    """Return the passages of a page."""
    return tuple(split_passages(page_texts()[page], 1))


def is_counted(page: str, claim: str, quotes: list[str]) -> bool:
    """Whether a judge's support counts with these quotations."""
    return verdict_counts(
        claim, Verdict(VerdictState.SUPPORTED, quotes=tuple(quotes)), passages_of(page)
    )


def other_sentences(page: str, claim: str) -> list[str]:
    """Return a page's sentences, except the one most similar to a claim."""
    passages = [p for p in passages_of(page) if p.kind not in ("heading", "table")]
    found = [p.text[start:end] for p in passages for start, end in sentences(p.text)]
    nearest = sentence_index(passages_of(page)).nearest(claim)
    return [sentence for sentence in found if sentence.strip() != nearest]


if __name__ == "__main__":
    sys.exit(main())
