"""Claims by authors who had not seen the checks: a fixed sample of each set.

`make bench` counts all 5,802. Half of each set's pages were used while the checks were written, the
other half never.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from agent.evidence import split_passages, verify_claim

if TYPE_CHECKING:
    from agent.types import VerdictState

SETS = Path(__file__).parents[3] / "bench" / "paraphrases"
SAMPLE = 300


@pytest.fixture(scope="module", params=["paraphrase", "varied", "free", "blind"])
def verdicts(request: pytest.FixtureRequest) -> list[tuple[dict[str, Any], VerdictState]]:
    pages = {p["page"]: p["text"] for p in read(f"{request.param}_pages")}
    pairs = read("paraphrases" if request.param == "paraphrase" else request.param)
    sample = random.Random(0).sample(pairs, min(SAMPLE, len(pairs)))
    return [
        (pair, verify_claim(pair["claim"], split_passages(pages[pair["page"]], 1)).state)
        for pair in sample
    ]


def read(name: str) -> list[dict[str, Any]]:
    lines = (SETS / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.sample(2)
def test_wrong_claims_are_never_supported(verdicts) -> None:
    wrong = [p["claim"] for p, s in verdicts if p["label"] == "wrong" and s == "supported"]
    assert wrong == []


def test_faithful_claims_are_never_contradicted(verdicts) -> None:
    faithful = [p["claim"] for p, s in verdicts if p["label"] == "faithful" and s == "contradicted"]
    assert faithful == []
