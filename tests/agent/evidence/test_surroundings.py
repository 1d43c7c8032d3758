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


def state(claim: str, page: str = PAGE) -> VerdictState:
    return verify_claim(claim, split_passages(page, 1)).state


@pytest.mark.parametrize(
    "claim",
    [
        "The boat sets out from Korva three times daily.",
        "Most of the francs the fund raised came from Corvane.",
        "The slowing down before the collision was Captain Petter Lund's.",
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


@pytest.mark.parametrize(
    ("page", "claim"),
    [
        ("Jana Vrel is a painter. She never showed in London and refused a medal twice.",
         "Jana Vrel twice turned down a medal."),
        ("Slufter Bay is a reserve. We count its spoonbills: nine bred on Kleine Plaat in May.",
         "In May nine of the spoonbills of Slufter Bay bred."),
        ("The Polar Institute of Norrland runs Halvorsen, on the Ingrid Plateau.",
         "Norrland's Polar Institute runs Halvorsen."),
        ("The dam across the ModelClient, designed by Peder Holm, is 92 m high.",
         "The dam on the ModelClient measures 92 m in height."),
    ],
)  # fmt: skip
def test_a_name_that_a_statement_means_without_naming_it_is_not_replaced(
    page: str, claim: str
) -> None:
    assert state(claim, page) is not VerdictState.CONTRADICTED
