"""Measure both stages of claim checking together, with a person or a model as the judge.

`python -m tests.bench.judged ask PAGES PAIRS FOLDER` writes, for each page, what the judge would
be asked about the claims that code leaves undecided: `NAME.request.txt`. The answers go beside
them as `NAME.reply.txt`, and `python -m tests.bench.judged read PAGES PAIRS FOLDER` counts. PAGES
and PAIRS are files of JSON lines as in `tests/agent/evidence`.

A faithful claim is right where it is supported, a wrong one where it is not.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent.evidence import Evidence, verify_claim
from agent.judge import judge_request, judge_system, read_verdicts
from agent.types import Passage, VerdictState
from browser.types import Document, Outcome, Page
from tests.bench.claims import Tally, read, show

SYSTEM = "system.txt"
URL = "https://page.example/"


def main() -> None:
    """Write the requests, or read the replies and print a table by kind."""
    step, pages, pairs, folder = sys.argv[1], *map(Path, sys.argv[2:5])
    claims: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for pair in read(pairs):
        claims[pair["page"]].append(pair)
    texts = {page["page"]: page["text"] for page in read(pages)}
    if step == "ask":
        folder.mkdir(parents=True, exist_ok=True)
        (folder / SYSTEM).write_text(judge_system(), encoding="utf-8")
        for name, text in texts.items():
            _ask(folder / f"{name}.request.txt", text, claims[name])
        return
    tallies: dict[str, Tally] = defaultdict(Tally)
    for name, text in texts.items():
        _count(folder / f"{name}.reply.txt", text, claims[name], tallies)
    show("with a judge", tallies, 0.0)


def _evidence(text: str) -> tuple[Evidence, list[Passage]]:
    evidence = Evidence()
    page = Page(
        requested_url=URL,
        url=URL,
        via="http",
        outcome=Outcome.OK,
        fetched_at=datetime.now(UTC),
        document=Document(url=URL, text=text),
    )
    return evidence, list(evidence.add(page).passages)


def _open(text: str, pairs: list[dict[str, Any]]) -> tuple[Evidence, dict[str, list[Passage]]]:
    evidence, passages = _evidence(text)
    found = (p["claim"] for p in pairs)
    left = [c for c in found if verify_claim(c, passages).state is VerdictState.UNDECIDED]
    return evidence, dict.fromkeys(left, passages)


def _ask(file: Path, text: str, pairs: list[dict[str, Any]]) -> None:
    evidence, left = _open(text, pairs)
    file.write_text(judge_request(left, evidence), encoding="utf-8")


def _count(file: Path, text: str, pairs: list[dict[str, Any]], tallies: dict[str, Tally]) -> None:
    _, left = _open(text, pairs)
    verdicts = read_verdicts(file.read_text(encoding="utf-8"), left)
    _, passages = _evidence(text)
    for pair in pairs:
        state = verify_claim(pair["claim"], passages, verdicts).state
        tally = tallies[pair["kind"]]
        tally.states[state] += 1
        right = (pair["label"] == "faithful") == (state is VerdictState.SUPPORTED)
        tally.right += right
        if not right or "-v" in sys.argv:
            print(json.dumps({"state": state.value, **pair}, ensure_ascii=False))


if __name__ == "__main__":
    main()
