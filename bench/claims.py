"""Measure claim checking without a model: `python -m bench.claims [DATA] [-v]`.

DATA is a folder with `citations.jsonl` (claim, doc, label, how) and `docs.jsonl` (id, text).
Without it, only the 6,002 claims in `paraphrases` are measured; -v prints every one. Their authors
had not seen the checks.
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

PARAPHRASES = Path(__file__).parent / "paraphrases"
SETS = (
    ("paraphrases", "paraphrase_pages"),
    ("varied", "varied_pages"),
    ("free", "free_pages"),
    ("blind", "blind_pages"),
)
STATES = tuple(VerdictState)
GOOD = frozenset({"supported", "faithful", "true"})
MISSED = 8
MOST_ALARMS, LEAST_CITATIONS, MOST_MS = 0.005, 0.97, 3.0
"""Targets: true claims called contradicted, citations right, milliseconds per claim."""


@dataclass
class Tally:
    """Verdicts on one kind of claim."""

    states: dict[VerdictState, int] = field(default_factory=lambda: dict.fromkeys(STATES, 0))
    right: int = 0

    @property
    def total(self) -> int:
        return sum(self.states.values())


def main() -> int:
    """Print the table by kind for each set; return 8 if a target is missed."""
    folders = [Path(argument) for argument in sys.argv[1:] if not argument.startswith("-")]
    met = True
    for folder in folders:
        pages = {d["id"]: d["text"] for d in read(folder / "docs.jsonl")}
        cases = [(c, pages[c["doc"]]) for c in read(folder / "citations.jsonl")]
        met &= measure("citations", cases, least=LEAST_CITATIONS)
    for name, of_pages in SETS:
        pages = {p["page"]: p["text"] for p in read(PARAPHRASES / f"{of_pages}.jsonl")}
        pairs = read(PARAPHRASES / f"{name}.jsonl")
        met &= measure(name, [({**c, "how": c["kind"]}, pages[c["page"]]) for c in pairs])
    return 0 if met else MISSED


def read(path: Path) -> list[dict[str, Any]]:
    """Read a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def measure(name: str, cases: list[tuple[dict[str, Any], str]], *, least: float = 0.0) -> bool:
    """Check every case and print verdicts by kind; return whether the targets are met.

    False alarms are true claims called contradicted and wrong ones called supported. A set of
    citations may have a few (`least` is the share that must be right), other sets none.
    """
    tallies: dict[str, Tally] = defaultdict(Tally)
    alarms = believed = good_ones = 0
    started = time.process_time()
    for case, text in cases:
        verdict = verify_claim(case["claim"], split_passages(text, 1))
        good = case["label"] in GOOD
        right = good == (verdict.state is VerdictState.SUPPORTED)
        good_ones += good
        alarms += good and verdict.state is VerdictState.CONTRADICTED
        believed += not good and not right
        tallies[case["how"]].states[verdict.state] += 1
        tallies[case["how"]].right += right
        if "-v" in sys.argv:
            print(f"{case['how']:16} {verdict.state:12} {case['claim'][:150]} | {verdict.reason}")
    spent = 1000 * (time.process_time() - started) / len(cases)
    right = show(name, tallies, spent)
    print(f"false alarms: {alarms} of {good_ones} true ones called contradicted,")
    print(f"              {believed} of {len(cases) - good_ones} wrong ones called supported")
    fine = right >= least if least else not believed
    return fine and alarms <= MOST_ALARMS * good_ones and spent <= MOST_MS


def show(name: str, tallies: dict[str, Tally], spent: float) -> float:
    """Print one table; return the share that is right."""
    print(
        f"\n{name}: {spent:.2f} ms a claim\n{'kind':18}", *(f"{s:>13}" for s in STATES), "  right"
    )
    for kind, tally in sorted(tallies.items()):
        counts = (f"{tally.states[state]:13}" for state in STATES)
        print(f"{kind:18}", *counts, f"{tally.right / tally.total:7.1%}")
    right, total = sum(t.right for t in tallies.values()), sum(t.total for t in tallies.values())
    print(f"{'all':18}", " " * 13 * len(STATES), f"{right / total:7.1%}")
    return right / total


if __name__ == "__main__":
    sys.exit(main())
