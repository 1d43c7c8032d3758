"""Free paraphrases: the value, name or denied word that a claim's few shared words stand around."""

from __future__ import annotations

import pytest

from agent.evidence import split_passages, verify_claim
from agent.types import VerdictState

PAGE = (
    "Thanks go to Pavel Novotny, who rewrote the scheduler, and to Ingrid Solheim, who wrote the "
    "manual. The boat leaves from Virtsu three times a day and takes 50 minutes; the only cash "
    "machine is in the shop at Korva. Captain Rolf Hagman had slowed down before the collision, an "
    "inquiry found.\n\n"
    "The fund raised 212 million francs, chiefly from Zuider Capital. The managing director, "
    "Petter Lund, declined to comment. A hand injury kept Marit Sol from playing for seven months. "
    "The lamp's reactive mode has been dropped. Live sports cannot be recorded. Swimming is "
    "allowed, though the water is cold. Sales in France fell by 4 per cent."
)


def state(claim: str) -> VerdictState:
    return verify_claim(claim, split_passages(PAGE, 1)).state


@pytest.mark.parametrize(
    "claim",
    [
        "Rewriting the scheduler was the work of Ingrid Solheim.",
        "Boats to the island set out from Korva and need 50 minutes.",
        "The lion's share of what the fund raised came from Corvane.",
    ],
)
def test_another_value_where_the_claim_belongs_contradicts(claim: str) -> None:
    assert state(claim) is VerdictState.CONTRADICTED


@pytest.mark.parametrize(
    "claim",
    [
        "The managing director agreed to comment.",
        "In spite of her hand injury Marit Sol was playing.",
        "The lamp comes with a reactive mode.",
        "Viewers may record live sports for later.",
        "Swimming is prohibited here.",
    ],
)
def test_a_word_that_the_page_denies_or_has_the_contrary_of_contradicts(claim: str) -> None:
    assert state(claim) is VerdictState.CONTRADICTED


@pytest.mark.parametrize(
    "claim",
    [
        "Pavel Novotny is to be thanked for the new scheduler.",
        "According to the inquiry Captain Hagman slowed down before the ships met.",
        "French revenue was down by four per cent.",
        "Marit Sol could not play for seven months because of her hand.",
        "The reactive mode of the lamp is gone.",
        "Whether Petter Lund agrees is unknown, since he made no comment.",
    ],
)
def test_the_same_told_freely_is_not_contradicted(claim: str) -> None:
    assert state(claim) is not VerdictState.CONTRADICTED
