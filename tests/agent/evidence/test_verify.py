from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.evidence import split_passages, verify_claim, verify_claim_async
from agent.types import Passage, Verdict, VerdictState

FIRST = """Grey Holm light was designed by Ada Renwick and first lit on 4 May 1811.
The tower is 31 metres high and cost £12,400. It was never painted.
Some 8.2 million lamps were sold under its name."""
SECOND = """In 1902 the keeper, Tom Sayle, was replaced by Marta Quill, who stayed for forty-one
years. The harbour board bought the dwelling from the Quill family in 1950.
The lens, which weighs 3 tonnes, may be moved to the museum, but no decision has been taken."""
THIRD = """The council rejected a plan to add a café in 2015. Visitors are not allowed on the
gallery. Two thirds of the cost was met by donations."""
PAGE = "\n\n".join((FIRST, SECOND, THIRD))

SUPPORTED, CONTRADICTED, UNDECIDED = (
    VerdictState.SUPPORTED,
    VerdictState.CONTRADICTED,
    VerdictState.UNDECIDED,
)


def check(claim: str) -> Verdict:
    return verify_claim(claim, split_passages(PAGE, 1))


@pytest.mark.parametrize(
    "claim",
    [
        "The tower is 31 metres high and cost £12,400.",
        "the tower is 31\u00a0metres high and cost £12\u00a0400",
        "“The tower is 31 metres high and cost £12400”",
        "The lens, which weighs 3 tonnes, may be moved to the museum",
        "Marta Quill, who stayed for 41 years",
        "Grey Holm light was designed … first lit on 4 May 1811.",
        "In 1902 the keeper, Tom Sayle, […] stayed for forty-one years.",
        "It was never painted. Some 8.2 million lamps were sold under its name.",
        "Who designed Grey Holm light: Ada Renwick",
        "How high is the tower? 31 metres",
        "When was Grey Holm light first lit: 4 May 1811",
        "The harbour board bought a dwelling from the Quill family in 1950.",
    ],
)
def test_what_the_page_says_in_its_own_words_is_supported(claim: str) -> None:
    verdict = check(claim)
    assert verdict.state is SUPPORTED, verdict
    assert verdict.quote in PAGE
    assert verdict.decided_by == "code"


@pytest.mark.parametrize(
    "claim",
    [
        "The tower of Grey Holm is 34 metres high.",
        "Building the tower cost £14,200.",
        "The light was lit for the first time on 4 May 1818.",
        "The light was first lit on 9 May 1811.",
        "Grey Holm light was designed by Per Lindahl.",
        "Grey Holm light was designed by Marta Quill and first lit on 4 May 1811.",
        "The tower was painted.",
        "Visitors are allowed on the gallery.",
        "The council approved a plan to add a café in 2015.",
        "The tower is not 31 metres high and cost £12,400.",
        "More than 9 million lamps were sold under its name.",
        "Who designed Grey Holm light: Tom Sayle",
        "How high is the tower: 1902",
        "In 1902 Marta Quill was replaced by Tom Sayle.",
    ],
)
def test_what_the_page_says_otherwise_is_contradicted(claim: str) -> None:
    verdict = check(claim)
    assert verdict.state is CONTRADICTED, verdict
    assert verdict.quote
    assert verdict.quote in PAGE
    assert verdict.reason


@pytest.mark.parametrize(
    "claim",
    [
        "The lens will be moved to the museum.",
        "Nobody has ever given the tower a coat of paint.",
        "Roughly eight million lamps bore the light's name.",
        "Donors paid for most of it.",
        "Sayle's successor kept the light until 1943.",
        "The café was turned down because of its cost.",
        "Whales are mammals.",
        "",
    ],
)
def test_what_code_cannot_tell_stays_undecided(claim: str) -> None:
    assert check(claim).state is UNDECIDED


def test_a_clause_is_not_quoted_out_of_a_denial() -> None:
    page = "Nobody believes that the tower leans. If the lamp fails, a bell is rung."
    assert verify_claim("The tower leans.", [page]).state is not SUPPORTED
    assert verify_claim("The lamp fails.", [page]).state is not SUPPORTED


def test_an_ellipsis_may_not_hide_a_negation() -> None:
    page = "The council did not approve the plan for the new road."
    verdict = verify_claim("The council did … approve the plan for the new road.", [page])
    assert verdict.state is CONTRADICTED


def test_an_undecided_verdict_says_what_is_not_carried() -> None:
    assert "may" in check("The lens will be moved to the museum.").reason


def test_units_and_rounding_that_says_so_are_no_contradiction() -> None:
    page = ["The island lies 17 miles off the coast. It has 487 houses."]
    assert verify_claim("It is about 27 km from the coast.", page).state is UNDECIDED
    assert verify_claim("There are nearly 500 houses.", page).state is UNDECIDED
    assert verify_claim("The island lies 19 miles off the coast.", page).state is CONTRADICTED


def test_counting_on_from_a_year_is_no_contradiction() -> None:
    page = ["The club went bankrupt in 2008. It was bought by its fans a year later."]
    assert verify_claim("Fans bought the club in 2009.", page).state is UNDECIDED


def test_the_verdict_names_the_passage_that_carries_the_claim() -> None:
    verdict = check("Visitors are not allowed on the gallery.")
    assert verdict.passage == "S1¶3"
    assert verdict.quote == "Visitors are not allowed on the\ngallery."


def test_the_judge_decides_only_what_code_left_undecided() -> None:
    asked: list[str] = []

    def judge(claim: str, passages: list[Passage]) -> Verdict:
        asked.append(claim)
        return Verdict(SUPPORTED, "It was never painted.", "the judge says so", "judge")

    passages = split_passages(PAGE, 1)
    contradicted = verify_claim("The tower was painted.", passages, judge)
    decided = verify_claim("Nobody has ever given the tower a coat of paint.", passages, judge)
    assert contradicted.state is CONTRADICTED
    assert (decided.state, decided.decided_by) == (SUPPORTED, "judge")
    assert asked == ["Nobody has ever given the tower a coat of paint."]


def test_a_judge_that_quotes_what_is_not_there_loses_its_quote() -> None:
    def judge(claim: str, passages: list[Passage]) -> Verdict:
        return Verdict(SUPPORTED, "words that stand nowhere", "", "judge")

    verdict = verify_claim("Donors paid for most of it.", split_passages(PAGE, 1), judge)
    assert verdict.quote == ""


async def test_a_judge_may_be_awaited() -> None:
    async def judge(claim: str, passages: list[Passage]) -> Verdict:
        return Verdict(CONTRADICTED, "", "no", "judge")

    passages = split_passages(PAGE, 1)
    verdict = await verify_claim_async("Donors paid for most of it.", passages, judge)
    assert verdict.state is CONTRADICTED


@given(st.text(max_size=200), st.lists(st.text(max_size=300), max_size=4))
def test_any_claim_against_any_text_gets_a_verdict_with_a_literal_quote(
    claim: str, texts: list[str]
) -> None:
    verdict = verify_claim(claim, texts)
    assert not verdict.quote or any(verdict.quote in text for text in texts)


@given(st.sampled_from([s.text for s in split_passages(PAGE, 1)]))
def test_a_passage_supports_itself(text: str) -> None:
    assert check(text).state is SUPPORTED
