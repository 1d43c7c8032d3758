"""Claims that read out a row of a table: carried under the columns they name, or not at all."""

from __future__ import annotations

import pytest

from agent.evidence import split_passages, verify_claim

FLEET = """# Ferries

| Ship | Route | Built | Length, m | Passengers | Cars | Captain |
| MV Osprey | Sund – Hafn | 2014 | 62 | 310 | 52 | Ada Holm |
| MV Heron | Hafn – Vik | 1998 | 46 | 180 | 24 | Bo Lind |"""


def verdict(claim: str) -> str:
    return verify_claim(claim, split_passages(FLEET, 1)).state.value


@pytest.mark.parametrize(
    "claim",
    [
        "MV Heron was built in 1998 and carries 180 passengers.",
        "In 1998, MV Heron was constructed.",
        "MV Heron has a length of 46 m.",
        "MV Heron can take 180 passengers and 24 cars.",
        "The captain of MV Heron is Bo Lind.",
        "MV Heron (1998) carries 180 passengers.",
    ],
)
def test_values_under_the_columns_that_a_claim_names_are_carried(claim: str) -> None:
    found = verify_claim(claim, split_passages(FLEET, 1))
    assert (found.state.value, found.quote[:10]) == ("supported", "| MV Heron")


@pytest.mark.parametrize(
    "claim",
    [
        "MV Osprey, built in 2014, carries 310 passengers; MV Heron of 1998 carries 180.",
        "MV Osprey carries 310 passengers, whereas MV Heron takes 180.",
    ],
)
def test_two_rows_are_told_in_one_sentence(claim: str) -> None:
    assert verdict(claim) == "supported"


@pytest.mark.parametrize(
    "claim",
    [
        "MV Osprey carries 180 passengers and MV Heron 310.",
        "MV Osprey was built in 2014 for 310 passengers, and MV Heron in 180 for 1998.",
        "MV Osprey, built in 2014, is the bigger one with 310; MV Heron of 1998 carries 180.",
    ],
)
def test_what_two_rows_do_not_plainly_say_is_left_open(claim: str) -> None:
    assert verdict(claim) == "undecided"


@pytest.mark.parametrize(
    "claim",
    [
        "MV Heron carries 24 passengers.",
        "MV Heron carries 180 cars and 24 passengers.",
        "MV Heron was built in 2014.",
        "The captain of MV Heron is Ada Holm.",
    ],
)
def test_values_of_another_row_or_column_are_contradicted(claim: str) -> None:
    assert verdict(claim) == "contradicted"


@pytest.mark.parametrize(
    "claim",
    [
        "MV Heron carries 180.",
        "MV Heron was built before 1998.",
        "MV Heron carries only 180 passengers.",
        "MV Heron carries more than 180 passengers.",
        "MV Heron does not carry 180 passengers.",
        "MV Heron was built in 46.",
        "MV Heron was built in 1998 by Ada Holm's yard.",
    ],
)
def test_what_says_more_than_the_row_is_not_carried_by_it(claim: str) -> None:
    assert verdict(claim) != "supported"


@pytest.mark.parametrize(
    "claim",
    [
        "Osprey has the longer hull, 62 m, 16 m more than MV Heron.",
        "MV Heron carries 130 passengers fewer than MV Osprey.",
        "MV Osprey takes 52 of the fleet's 76 cars.",
    ],
)
def test_what_lies_between_two_rows_is_not_held_against_one(claim: str) -> None:
    assert verdict(claim) != "contradicted"
