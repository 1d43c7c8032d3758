"""Measure claim checking, in code alone: `python tests/bench/claims.py [DATA] [-v]`.

DATA is a folder with `citations.jsonl` (claim, doc, label, how) and `docs.jsonl` (id, text).
Without it only the paraphrases of the tests are measured; -v prints every claim.
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent.evidence import split_passages, verify_claim
from agent.types import VerdictState

PARAPHRASES = Path(__file__).parents[1] / "agent" / "evidence"
SETS = (
    ("paraphrases", "paraphrase_pages"),
    ("varied", "varied_pages"),
    ("free", "free_pages"),
    ("blind", "blind_pages"),
)
STATES = (VerdictState.SUPPORTED, VerdictState.CONTRADICTED, VerdictState.UNDECIDED)


@dataclass
class Tally:
    """Verdicts of one kind of claim."""

    states: dict[VerdictState, int] = field(default_factory=lambda: dict.fromkeys(STATES, 0))
    right: int = 0

    @property
    def total(self) -> int:
        return sum(self.states.values())


def main() -> None:
    """Print the table by kind for each set."""
    folders = [Path(argument) for argument in sys.argv[1:] if not argument.startswith("-")]
    for folder in folders:
        pages = {d["id"]: d["text"] for d in read(folder / "docs.jsonl")}
        measure("citations", [(c, pages[c["doc"]]) for c in read(folder / "citations.jsonl")])
    for name, of_pages in SETS:
        pages = {p["page"]: p["text"] for p in read(PARAPHRASES / f"{of_pages}.jsonl")}
        pairs = read(PARAPHRASES / f"{name}.jsonl")
        measure(name, [({**c, "how": c["kind"]}, pages[c["page"]]) for c in pairs])


def read(path: Path) -> list[dict[str, Any]]:
    """Read a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def measure(name: str, cases: list[tuple[dict[str, Any], str]]) -> None:
    """Check every case and print verdicts by kind, and the processor time a claim takes."""
    tallies: dict[str, Tally] = defaultdict(Tally)
    started = time.process_time()
    for case, text in cases:
        verdict = verify_claim(case["claim"], split_passages(text, 1))
        good = case["label"] in {"supported", "faithful"}
        tallies[case["how"]].states[verdict.state] += 1
        tallies[case["how"]].right += good == (verdict.state is VerdictState.SUPPORTED)
        if "-v" in sys.argv:
            print(f"{case['how']:16} {verdict.state:12} {case['claim'][:150]} | {verdict.reason}")
    spent = 1000 * (time.process_time() - started) / len(cases)
    show(name, tallies, spent)


def show(name: str, tallies: dict[str, Tally], spent: float) -> None:
    """Print one table."""
    print(
        f"\n{name}: {spent:.2f} ms a claim\n{'kind':18}", *(f"{s:>13}" for s in STATES), "  right"
    )
    for kind, tally in sorted(tallies.items()):
        counts = (f"{tally.states[state]:13}" for state in STATES)
        print(f"{kind:18}", *counts, f"{tally.right / tally.total:7.1%}")
    right, total = sum(t.right for t in tallies.values()), sum(t.total for t in tallies.values())
    print(f"{'all':18}", " " * 41, f"{right / total:7.1%}")


if __name__ == "__main__":
    main()
