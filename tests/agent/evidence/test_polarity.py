"""A claim that affirms what the page denies, in the words that neither says outright."""

from __future__ import annotations

import pytest

from agent.evidence import split_passages, verify_claim
from agent.types import VerdictState

REST = """The bay faces west. Rain falls mostly at night. A railway came through in 1881.
Local bakers sell rye bread. Two hills shelter the village. Its mayor is Ellen Marsh."""


def check(page: str, claim: str) -> VerdictState:
    return verify_claim(claim, split_passages(f"# Hallow pier\n\n{page} {REST}", 1)).state


@pytest.mark.parametrize(
    ("page", "claim"),
    [
        ("Drones are not permitted on the jetty.", "Drones may be flown from the jetty."),
        ("A permit is not required for angling.", "Angling requires a permit."),
        ("Nobody was hurt in the collapse.", "Two anglers were hurt in the collapse."),
        ("She married Tom Reed; they had no children.", "She had three children with Tom Reed."),
        ("The upper deck is impassable in winter.", "The upper deck is passable in winter."),
        ("The deposit is non-refundable.", "The deposit can be refunded."),
        ("Version 4 dropped support for paper maps.", "Version 4 supports paper maps."),
        ("Gulls are heavier than terns.", "Terns are heavier than gulls."),
        ("The coral is not considered rare.", "The coral is rare."),
        ("The council voted against the new kiosk.", "The council supported the new kiosk."),
        ("The theatre holds 31,204 books.", "The theatre has 13,204 books."),
    ],
)
def test_the_contrary_of_the_page_is_contradicted(page: str, claim: str) -> None:
    assert check(page, claim) is VerdictState.CONTRADICTED


@pytest.mark.parametrize(
    ("page", "claim"),
    [
        ("Gulls are heavier than terns.", "Terns are lighter than gulls."),
        ("Young fish were more affected than adults.", "Adults were less affected than the young."),
        ("Version 4 removed support for maps.", "Maps are no longer supported since version 4."),
        ("Tickets for the gala are sold out.", "There are no tickets left for the gala."),
        ("He declined a knighthood in 1999.", "He turned down a knighthood."),
        ("The fire destroyed the kiosk but spared the deck.", "The fire did not harm the deck."),
        ("The lower car park is free.", "It costs nothing to use the lower car park."),
        ("The debt is cancelled on death.", "The debt ends on death."),
        ("You need not book a tour.", "A tour can be had without booking."),
        ("Under-fives are not admitted to the deck.", "Children under five are kept out of it."),
        ("Anglers using nets are not admitted.", "Anglers using nets stay outside."),
        ("Sugar is excluded from the pact.", "The pact leaves out sugar."),
        ("Females are the larger sex.", "Females grow larger than males."),
    ],
)
def test_the_same_by_another_denial_is_not_contradicted(page: str, claim: str) -> None:
    assert check(page, claim) is not VerdictState.CONTRADICTED


@pytest.mark.parametrize(
    ("page", "claim"),
    [
        ("No boat may lie at the berths for over an hour.",
         "A boat may not lie at the berths for over an hour."),
        ("The lamps are put out at eleven, except during Lantern Week.",
         "The lamps are not put out during Lantern Week."),
        ("Entry costs six crowns and is free on Thursdays.", "Entry is not free on Mondays."),
        ("The counter is open from nine to one and from two to five.",
         "The counter is closed between one and two."),
        ("No boat may lie here. A fishing boat is charged 35 crowns a year.",
         "A fishing boat pays 35 crowns a year."),
        ("No boat may lie at the berths for longer than ten minutes.",
         "Boats may lie at the berths for at most ten minutes."),
        ("No boat may lie at the ferry berths for long. Angling boats pay 35 crowns.",
         "An angling boat pays 35 crowns."),
        ("Two boats a day go to Sunnock. From December to February no boat goes on Wednesdays.",
         "In March two boats a day go to Sunnock."),
        ("Reed may be cut from 12 November to 15 March.",
         "Reed cutting is forbidden from 16 March to 11 November."),
        ("The bank serves Georgia and Florida.", "The bank does not serve Texas."),
        ("The bank sits in Florida.", "The bank sits in Florida rather than in Texas."),
    ],
)  # fmt: skip
def test_what_is_denied_in_another_respect_is_not_contradicted(page: str, claim: str) -> None:
    assert check(page, claim) is not VerdictState.CONTRADICTED
