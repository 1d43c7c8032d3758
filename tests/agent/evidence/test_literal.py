"""The first layer: what is literally in the cited text is supported, and only that."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.evidence import split_passages, verify_claim
from agent.types import Verdict, VerdictState

FIRST = """# Grey Holm

Grey Holm light was designed by Ada Renwick and first lit on 4 May 1811.
The tower is 31 metres high and cost £12,400. It was never painted.
Some 8.2 million lamps were sold under its name."""
SECOND = """In 1902 the keeper, Tom Sayle, was replaced by Marta Quill, who stayed for forty-one
years. The harbour board bought the dwelling from the Quill family in 1950.
The lens, which weighs 3 tonnes, may be moved to the museum, but no decision has been taken."""
THIRD = """It was closed to visitors in 2015. Nobody believes that the tower leans. If the lamp
fails, a bell is rung. Growth of the club was −5 % that year."""
TABLE = """| Ship | Route | Built | Passengers |
| --- | --- | --- | --- |
| MV Osprey | Sund – Hafn | 2014 | 310 |
| MV Heron | Hafn – Vik | 1998 | 180 |

| First lit | 1 November 1829 |
| Height | 34 m |"""
PAGE = "\n\n".join((FIRST, SECOND, THIRD, TABLE))
SUPPORTED = VerdictState.SUPPORTED


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
        "First lit: 1 November 1829 (Grey Holm)",
        "MV Heron: Passengers: 180",
        "| MV Heron | 180 |",
    ],
)
def test_literal_claims_are_supported_with_a_quote(claim: str) -> None:
    verdict = check(claim)
    assert verdict.state is SUPPORTED, verdict
    assert verdict.quote in PAGE
    assert verdict.decided_by == "code"


@pytest.mark.parametrize(
    "claim",
    [
        "The tower leans.",
        "A bell is rung.",
        "The lamp fails, a bell is rung",
        "The lens … moved to the museum … no decision",
        "Growth of the club was 5 % that year.",
        "the tower is 31 metres high and cost $12,400",
        "Who designed Grey Holm light: Tom Sayle",
        "How high is the tower: 1902",
        "MV Heron: Passengers: 310",
        "MV Heron, Built: 180",
        "Marta Quill",
        "In 1902 Marta Quill was replaced by Tom Sayle.",
        "Roughly eight million lamps bore the light's name.",
        "",
    ],
)
def test_non_literal_claims_are_not_supported(claim: str) -> None:
    assert check(claim).state is not SUPPORTED


def test_ellipsis_cannot_hide_negation() -> None:
    page = "The council did not approve the plan for the new road."
    verdict = verify_claim("The council did … approve the plan for the new road.", [page])
    assert verdict.state is VerdictState.UNDECIDED
    assert "leaves out “not”" in verdict.reason


def test_verdict_names_supporting_passage() -> None:
    verdict = check("The harbour board bought the dwelling from the Quill family in 1950.")
    assert verdict.passage == "S1¶3"


@given(st.text(max_size=200), st.lists(st.text(max_size=300), max_size=4))
def test_quote_is_always_literal(claim: str, texts: list[str]) -> None:
    verdict = verify_claim(claim, texts)
    assert not verdict.quote or any(verdict.quote in text for text in texts)


@given(st.sampled_from([p for p in split_passages(PAGE, 1) if p.kind == "text"]))
def test_every_passage_supports_itself(passage) -> None:
    assert check(passage.text).state is SUPPORTED


@pytest.mark.parametrize(
    "sentence",
    [
        "この塔は1998年に完成した。",
        "该桥全长840米。",
        "ประภาคารสูง 32 เมตร",
        "पुल की लंबाई ८४० मीटर है।",
    ],
)
def test_sentence_in_any_script_is_supported_word_for_word(sentence: str) -> None:
    assert verify_claim(sentence, [f"{sentence} {sentence}"]).state is SUPPORTED


@pytest.mark.parametrize(
    ("claim", "page"),
    [
        ("この塔は完成した。", "この塔は完成したことがない。"),  # was never completed
        ("この塔は1999年に完成した。", "この塔は1998年に完成したのではない。"),
        ("यह उसका बेटा है।", "यह उसकी बेटी है।"),  # the vowel signs differ: son, daughter
        ("これは青いかきである。", "これは青いがきである。"),
        ("Это был мой дом.", "Это был мои дом."),
    ],
)
def test_words_that_differ_in_a_mark_or_an_ending_are_undecided(claim: str, page: str) -> None:
    assert verify_claim(claim, [page]).state is VerdictState.UNDECIDED


def test_differing_figure_in_script_without_spaces_is_contradicted() -> None:
    verdict = verify_claim("该桥全长850米。", ["该桥全长840米。"])
    assert verdict.state is VerdictState.CONTRADICTED
