"""Paraphrases of invented pages: half faithful, half wrong in one way.

`paraphrases` was written before the verifier and is frozen. `varied` has pages of many sorts
(encyclopedia, news, products, abstracts, tables, terms, lives, travel, medicine, software, firms,
German); it was written in nine parts, each measured once before the verifier was fitted to it
(59 to 76 % of the plain facts contradicted), and is harder: a fifth of its denials wants inference.
`free` was written by three authors who had not seen the verifier, and is the furthest from its
pages' words: of their plain facts 54, 44 and 45 % were contradicted at the first look, and 10 % of
the faithful; of the second part 54 % with what the first had taught, of the third 64 % with both.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from agent.evidence import split_passages, verify_claim
from agent.types import VerdictState

HERE = Path(__file__).parent
FROZEN = "68c7be4b61578eb09e4a56a78bb8bd9009a444452e289941b3124040ff90d344"
REACHED = {"paraphrases": 0.85, "varied": 0.8, "free": 0.75}
"""Share of the wrong figures, names, dates and denials of a set that must be contradicted."""
PLAIN_FACTS = {"figure", "name", "date", "negation"}

Verdicts = list[tuple[dict[str, Any], VerdictState]]


def read(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text("utf-8").splitlines()]


@pytest.fixture(
    scope="module",
    params=[
        ("paraphrase_pages", "paraphrases"),
        ("varied_pages", "varied"),
        ("free_pages", "free"),
    ],
    ids=lambda names: names[1],
)
def verdicts(request: pytest.FixtureRequest) -> Verdicts:
    pages, pairs = request.param
    passages = {p["page"]: split_passages(p["text"], 1) for p in read(f"{pages}.jsonl")}
    return [
        (pair, verify_claim(pair["claim"], passages[pair["page"]]).state)
        for pair in read(f"{pairs}.jsonl")
    ]


def share(verdicts: Verdicts, state: VerdictState) -> float:
    return sum(found is state for _, found in verdicts) / len(verdicts)


def test_the_pairs_are_as_they_were_before_the_verifier() -> None:
    digest = hashlib.sha256()
    for name in ("paraphrase_pages.jsonl", "paraphrases.jsonl"):
        digest.update((HERE / name).read_bytes())
    assert digest.hexdigest() == FROZEN


def test_wrong_figures_names_dates_and_denials_are_contradicted(
    verdicts: Verdicts, request: pytest.FixtureRequest
) -> None:
    plain = [pair for pair in verdicts if pair[0]["kind"] in PLAIN_FACTS]
    name = request.node.callspec.id
    assert share(plain, VerdictState.CONTRADICTED) >= REACHED[name]


def test_wrong_claims_are_hardly_ever_called_supported(verdicts: Verdicts) -> None:
    wrong = [pair for pair in verdicts if pair[0]["label"] == "wrong"]
    assert share(wrong, VerdictState.SUPPORTED) <= 0.03


def test_faithful_claims_are_hardly_ever_called_contradicted(verdicts: Verdicts) -> None:
    faithful = [pair for pair in verdicts if pair[0]["label"] == "faithful"]
    assert share(faithful, VerdictState.CONTRADICTED) <= 0.03
