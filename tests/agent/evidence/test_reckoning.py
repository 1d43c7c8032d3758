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


def state(claim: str, page: str = PAGE) -> VerdictState:
    return verify_claim(claim, split_passages(page, 1)).state


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
    assert state(claim, page) is not VerdictState.CONTRADICTED


@pytest.mark.parametrize(
    ("page", "claim"),
    [
        ("Some 500,000 people fled by 1700.", "About half a million people fled by 1700."),
        ("The prize is 30,000 euros, of which poets get a third.", "Poets get 10,000 euros of it."),
        ("Some 410 tonnes were made, a quarter of it exported.", "About 100 tonnes were exported."),
        ("The fee is 20 shillings; sons of masters paid half.", "Sons paid a fee of 10 shillings."),
        ("Repairs cost £3.8 million; a fund paid £1.1 million, the town the rest.",
         "Of the cost of repairs the town paid £2.7 million."),
        ("The party fell from 61 seats to 44.", "The party lost 17 seats."),
        ("Of 346 men 118 died; all but nine were killed by gas.", "Gas killed 109 of the 118."),
        ("A 30% pay cut was agreed.", "They gave up almost a third of their pay."),
        ("The range has shrunk by about 45 per cent.", "The range has shrunk by nearly half."),
        ("One adult in 20 is immune.", "A twentieth of all adults are immune."),
        ("A third of the pipes are original.", "One pipe in three is original."),
        ("Discharge fell from 3.1 to 0.4 milligrams.", "Discharge came down to 0.4 mg."),
        ("We made 9,460 visits, up from 7,915.", "More visits were made in 2022/23 than before."),
        ("A leak of memory (#2755) is reduced.", "In Quillpress 5.3 memory leaks less."),
        ("The trial had 148 participants; the evidence is weak.", "CG-77 calls the evidence weak."),
        ("A return costs 14 crowns. Dogs pay one crown.", "With a dog a return is 15 crowns."),
        ("A return costs 14 crowns.", "Four visitors pay 56 crowns for their returns."),
        ("The name had 211 votes against 96.", "The name had 211 of 307 votes."),
        ("Of 1,212 tins 739 were sold.", "Of 1,212 tins 473 were never sold."),
        ("It is the 12th most populous city.", "Eleven cities are more populous."),
        ("In all 620 millimetres of rain fell.", "More than half a metre of rain fell."),
        ("Savers get 280,000 florins.", "For every 100 florins savers get something back."),
    ],
)  # fmt: skip
def test_a_figure_that_the_page_gives_in_another_way_is_not_contradicted(
    page: str, claim: str
) -> None:
    assert state(claim, page) is not VerdictState.CONTRADICTED


@pytest.mark.parametrize(
    ("page", "claim"),
    [
        ("The prize is 30,000 euros, of which poets get a third.", "Poets get 14,000 euros of it."),
        ("The party fell from 61 seats to 44.", "The party lost 27 seats."),
        ("A return costs 14 crowns.", "Four visitors pay 48 crowns for their returns."),
        ("Of 346 men 118 died; all but nine were killed by gas.", "Gas killed 95 of the 118."),
        ("The range has shrunk by about 45 per cent.", "The range has shrunk by nearly 70 %."),
        ("Some 500,000 people fled by 1700.", "About a quarter of a million people fled by 1700."),
    ],
)  # fmt: skip
def test_a_figure_that_comes_to_something_else_is_contradicted(page: str, claim: str) -> None:
    assert state(claim, page) is VerdictState.CONTRADICTED
