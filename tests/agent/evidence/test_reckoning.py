"""Figures and dates that a page does not name but gives: sums, rests, years counted on."""

from __future__ import annotations

import pytest

from agent.evidence import split_passages, verify_claim
from agent.types import VerdictState

PAGE = (
    "The mill cost 740 million kroner, 90 million less than planned. The city paid 60 per cent, "
    "the state 25 per cent and private donors the rest. The old line made 40 bricks a minute, the "
    "new one makes 180. The rate was lowered by 150 basis points to 21.5 per cent. Each kiln has a "
    "three-year warranty, five on the burners.\n\n"
    "Ida Holt founded the mill in 1902 and sold it nine years later. The first strike began on 24 "
    "January 1947; its leader was arrested five months later. To save the roof it was closed from "
    "April to June 1968. Picking starts on 25 September, ten days sooner than usual."
)


def state(claim: str) -> VerdictState:
    return verify_claim(claim, split_passages(PAGE, 1)).state


@pytest.mark.parametrize(
    "claim",
    [
        "The budget of the mill had been 830 million kroner.",
        "Private donors came up with 15 per cent of the cost.",
        "The new line makes more than four times as many bricks a minute.",
        "Before it was lowered, the rate stood at 23 per cent.",
        "The burners are guaranteed for two years longer than the rest of a kiln.",
        "Ida Holt parted with the mill in 1911.",
        "The leader of the strike was arrested in June 1947.",
        "Picking would usually start on 5 October.",
    ],
)
def test_what_follows_by_reckoning_is_not_contradicted(claim: str) -> None:
    assert state(claim) is not VerdictState.CONTRADICTED


@pytest.mark.parametrize(
    "claim",
    [
        "The budget of the mill had been 810 million kroner.",
        "Before it was lowered, the rate stood at 24 per cent.",
        "The city came up with 70 per cent of what the mill cost.",
        "Ida Holt parted with the mill in 1913.",
        "The leader of the strike was arrested in August 1947.",
        "Strikers first walked out on 14 January 1947.",
    ],
)
def test_a_value_that_stands_nowhere_and_follows_from_nothing_is_contradicted(claim: str) -> None:
    assert state(claim) is VerdictState.CONTRADICTED


@pytest.mark.parametrize(
    ("page", "claim"),
    [
        ("He needs an hour and a half.", "It takes him ninety minutes."),
        ("The repairs cost 23 million kronor.", "The 23-million-kronor bill was paid."),
        ("About 6,500 visitors a year come to the mill.", "Several thousand come to the mill."),
        ("They studied six countries.", "Half a dozen countries were studied."),
        ("Growth will be 0.8 per cent, half a point less than thought.", "Growth was to be 1.3 %."),
    ],
)
def test_parts_and_round_numbers_in_words_are_read(page: str, claim: str) -> None:
    found = verify_claim(claim, split_passages(page, 1))
    assert found.state is not VerdictState.CONTRADICTED
