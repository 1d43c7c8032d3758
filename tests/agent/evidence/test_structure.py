"""What a sentence says by its structure: shorter statements, tables, hooks of names, ranges."""

from __future__ import annotations

import pytest

from agent.evidence import split_passages, verify_claim
from agent.types import VerdictState

LIGHT = """# Hesk Light

Hesk Light is a 31-metre lighthouse built in 1811 by the firm of Adams on the cape of Hesk. It was
first lit on 4 June 1812 and is run by the harbour board. The lens, a gift from Norway, was moved
to the museum in 1990. Released in 1938, the film about it was directed by Paula Brandt, who studied
in Graz. It may have been painted white. The keeper of the light was Tom Sayle; Mayor Ida Renn
opened a café in the tower. Mains power was led in, a telephone was not."""

TABLE = """# Ferries

| Ship | Port | Cars | Heated | Owner |
|---|---|---|---|---|
| Alma | Vik | 40 | yes | Brage |
| Bera | Nes | 62 | no | Sund Line |
"""

SUPPORTED, CONTRADICTED, UNDECIDED = (
    VerdictState.SUPPORTED,
    VerdictState.CONTRADICTED,
    VerdictState.UNDECIDED,
)


def state(claim: str, page: str = LIGHT) -> VerdictState:
    verdict = verify_claim(claim, split_passages(page, 1))
    assert verdict.quote in page
    return verdict.state


@pytest.mark.parametrize(
    "claim",
    [
        "Hesk Light was built in 1811 by the firm of Adams.",
        "Hesk Light was first lit on 4 June 1812.",
        "Hesk Light is run by the harbour board.",
        "The lens was moved to the museum in 1990.",
        "The lens was a gift from Norway.",
        "Paula Brandt studied in Graz.",
    ],
)
def test_what_a_sentence_says_beside_other_things_is_supported(claim: str) -> None:
    assert state(claim) is SUPPORTED


@pytest.mark.parametrize(
    "claim",
    [
        "The lens was run by the harbour board.",
        "The harbour board is run by Hesk Light.",
        "Hesk Light was moved to the museum in 1990.",
        "Hesk Light was painted white.",
        "Paula Brandt was run by the harbour board.",
    ],
)
def test_parts_of_a_sentence_are_not_put_together_otherwise(claim: str) -> None:
    assert state(claim) is not SUPPORTED


@pytest.mark.parametrize(
    "claim",
    [
        "The keeper was Adams.",
        "Mayor Tom Sayle opened a café in the tower.",
        "The film was directed by Tom Sayle.",
        "The film was directed by Greta Holm.",
        "A telephone was led in.",
        "The light was lit for the first time on 4 July 1812.",
    ],
)
def test_another_name_on_the_same_deed_or_part_is_contradicted(claim: str) -> None:
    assert state(claim) is CONTRADICTED


@pytest.mark.parametrize(
    "claim",
    [
        "Bera can take 40 cars.",
        "Alma belongs to Sund Line.",
        "Bera is heated.",
        "The Alma is not heated.",
        "The port of the Alma is Nes.",
    ],
)
def test_a_cell_of_another_row_is_contradicted(claim: str) -> None:
    assert state(claim, TABLE) is CONTRADICTED


@pytest.mark.parametrize(
    "claim", ["Bera can take 62 cars.", "The Alma is heated.", "Alma sails from Vik."]
)
def test_a_rows_own_cells_contradict_nothing(claim: str) -> None:
    assert state(claim, TABLE) is not CONTRADICTED


@pytest.mark.parametrize(
    ("claim", "page"),
    [
        ("The firm earned £4m.", "The firm earned £5m in its best year."),
        ("It hurts 97 per cent of patients.", "It hurts 91 in 100 patients."),
        ("The vaccine is for people aged 60 to 79.", "The vaccine is for those aged 65 to 79."),
        ("Er wurde am 7. Juli 1892 geboren.", "Er wurde am 7. Juni 1892 in Halm geboren."),
        ("Der See ist 8,3 Hektar groß.", "Der See ist 3,8 Hektar groß."),
        ("The walk starts on Tuesday.", "The walk starts on Friday at the gate."),
    ],
)
def test_shares_scales_ranges_and_dates_are_compared(claim: str, page: str) -> None:
    assert verify_claim(claim, [page]).state is CONTRADICTED


@pytest.mark.parametrize(
    ("claim", "page"),
    [
        ("The gas stops fits in 70 per cent of them.", "The gas stops fits in seven out of ten."),
        ("Sales fell to £4m.", "Sales, it said, fell to 4 million pounds."),
        ("Twenty-four farms took part.", "We studied two dozen farms."),
        ("It was kept warm for half an hour.", "It was kept warm for 30 minutes."),
        ("Die Stadt hat 1.250 Häuser.", "In der Stadt stehen 1250 Häuser."),
        ("The lake had shrunk by 2009.", "If the lake does not shrink, it stays."),
        ("Lorries could not use the bridge.", "The bridge was closed to lorries."),
    ],
)
def test_the_same_in_other_forms_is_not_contradicted(claim: str, page: str) -> None:
    assert verify_claim(claim, [page]).state is not CONTRADICTED
