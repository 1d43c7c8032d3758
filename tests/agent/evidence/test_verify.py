"""The second and third layers: missing values are named, a judge decides the rest."""

from __future__ import annotations

import pytest

from agent.evidence import split_passages, verify_claim
from agent.evidence.passages import nearest_quote
from agent.evidence.verify import verdict_counts
from agent.types import Passage, Verdict, VerdictState

PAGE = """# Grey Holm

Grey Holm light was designed by Ada Renwick and first lit on 4 May 1811.
The tower is 31 metres high and cost £12,400. It was never painted.

The council rejected a plan to add a café in 2015. Visitors are not allowed on the
gallery. The inquiry of 1907 cost £900, that of 1911 cost about £1,400. The lord of Vik, Lord Byrne,
opened the road."""
SUPPORTED, CONTRADICTED, UNDECIDED = (
    VerdictState.SUPPORTED,
    VerdictState.CONTRADICTED,
    VerdictState.UNDECIDED,
)


def check(claim: str, judge=None) -> Verdict:
    return verify_claim(claim, split_passages(PAGE, 1), judge)


@pytest.mark.parametrize(
    ("claim", "there"),
    [
        ("The tower is 34 metres high and cost £12,400.", "31"),
        ("The tower is 31 metres high and cost £14,200.", "12,400"),
        ("Grey Holm light was designed by Ada Renwick and first lit on 9 May 1811.", "4 May 1811"),
        ("Grey Holm light was designed by Ada Renwick and first lit on 3 June 1818.", "4 May 1811"),
        ("Grey Holm light was designed by Per Lindahl.", "Ada Renwick"),
        ("Grey Holm light was designed by Marta Quill and first lit on 4 May 1811.", "Ada Renwick"),
        ("Visitors are allowed on the gallery.", "not"),
        ("The tower is not 31 metres high and cost £12,400.", "not"),
        ("The council did not reject a plan to add a café in 2015.", "not"),
    ],
)
def test_sentence_differing_in_one_value_or_negation_is_contradicted(
    claim: str, there: str
) -> None:
    verdict = check(claim)
    assert verdict.state is CONTRADICTED, verdict
    assert verdict.quote
    assert verdict.quote in PAGE
    assert f"“{there}”" in verdict.reason


@pytest.mark.parametrize(
    "claim",
    [
        "The council approved a plan to add a café in 2015.",
        "Ada Renwick drew up the light that was lit in May 1818.",
        "The tower was painted.",
        "Of inquiries, that of 1911 cost about £1,300.",
        "The lord of Vik, Baron Byrne, opened the road.",
        "The inquiry of 1907 cost £900, that of 1911 cost about £1,000.",
        "Whales are mammals.",
    ],
)
def test_claims_that_need_understanding_are_undecided(claim: str) -> None:
    assert check(claim).state is UNDECIDED


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (
            "Some 8 million lamps were sold in a year.",
            "Some 8.2 million lamps were sold in a year.",
        ),
        ("Die Stadt hat 1.250 Häuser am See.", "Die Stadt hat 1250 Häuser am See."),
        ("He won the prize in 1910.", "He won the prize in 1909 and in 1910."),
        ("It took more than 40 days to build.", "It took more than 45 days to build."),
        ("He scored 30 in the cup.", "He scored 12 in the cup. In the cup he scored 30 later."),
        ("The plan was not only rejected by the council.", "The plan was rejected by the council."),
    ],
)
def test_compatible_values_do_not_contradict(claim: str, said: str) -> None:
    assert verify_claim(claim, [said]).state is not CONTRADICTED


def test_missing_values_are_named() -> None:
    verdict = check("Ada Renwick and Ann Vale built it in 1846 with 31 men.")
    assert verdict.missing == ("1846", "Ann Vale")
    assert verdict.reason == "“1846”, “Ann Vale” do not appear in the cited text"


@pytest.mark.parametrize(
    "claim",
    [
        "It was lit in May 1811 for the first time.",
        "The two inquiries cost £2,300.",
        "In 2015 the café was turned down.",
    ],
)
def test_values_match_by_sum_and_by_parts(claim: str) -> None:
    assert check(claim).missing == ()


def test_judge_decides_non_literal_claims() -> None:
    asked: list[str] = []

    def judge(claim: str, passages: list[Passage]) -> Verdict:
        asked.append(claim)
        words = "31 metres high" if "34" in claim else "It was never painted."
        return Verdict(SUPPORTED, words, "the judge says so", "judge")

    literal = check("It was never painted.", judge)
    against_its_words = check("The tower is 34 metres high and cost £12,400.", judge)
    decided = check("Nobody has ever given the tower a coat of paint.", judge)
    assert literal.decided_by == "code"
    assert (decided.state, decided.decided_by) == (SUPPORTED, "judge")
    assert against_its_words.state is UNDECIDED
    assert len(asked) == 2


def test_number_is_not_supported_by_quote_with_different_count() -> None:
    page = (
        "The college has five departments of study. Its rector is the third woman in office. "
        "Of the 12 halls on the campus, 4 are listed."
    )

    def stamp(claim: str, passages: list[Passage]) -> Verdict:
        return Verdict(SUPPORTED, nearest_quote(claim, passages), "", "judge")

    def state(claim: str) -> VerdictState:
        return verify_claim(claim, split_passages(page, 1), stamp).state

    wrong = verify_claim("The college runs six departments.", split_passages(page, 1), stamp)
    assert wrong.state is UNDECIDED
    assert wrong.reason.startswith(
        "“six”: the quoted words have a different number: “The college has"
    )
    assert state("The rector is the second woman to hold office there.") is UNDECIDED
    assert state("There are 5 departments at the college.") is SUPPORTED
    tenth = verify_claim("Some 10% was insured.", ["Barely a tenth of it was insured."], stamp)
    assert tenth.state is SUPPORTED
    assert state("Of the campus's halls, the other eight halls are not listed.") is SUPPORTED


def test_invented_judge_quote_is_dropped() -> None:
    def judge(claim: str, passages: list[Passage]) -> Verdict:
        return Verdict(SUPPORTED, "words that stand nowhere", "", "judge")

    assert check("Donors paid for most of it.", judge).quote == ""


def test_judge_quote_must_share_more_than_page_title_with_claim() -> None:
    page = (
        "The Parker Charter School is a school in Devens. It was established in 1995. "
        "Its pupils come from forty towns. A bus from the station takes ten minutes."
    )
    claim, titles = "Parker Charter School, year founded: 1995", ["Parker Charter School"]
    passages = split_passages(page, 1)

    def bears(quote: str, claim: str = claim, times: int = 1) -> bool:
        return verdict_counts(claim, Verdict(SUPPORTED, quote), passages * times, titles)

    assert bears("It was established in 1995.")
    assert not bears("Its pupils come from forty towns.")
    bus = "The bus from the station to the school in Devens runs every ten minutes."
    weak = "Its pupils come from forty towns."
    assert bears(weak, bus) == bears(weak, bus, times=2)  # a passage that is listed twice


def test_quote_with_converted_unit_counts() -> None:
    page = (
        "The dough looks like wet cement and takes water.\n\n400 ml, warm to the touch\n\n12 g salt"
    )
    for quote, expected in (("400 ml, warm to the touch", True), ("12 g salt", False)):
        judged = Verdict(VerdictState.SUPPORTED, quote, quotes=(quote,))
        claim = "The dough takes 0.4 litres of water."
        assert verdict_counts(claim, judged, split_passages(page, 1)) is expected
    salt = Verdict(VerdictState.SUPPORTED, "12 g salt", quotes=("12 g salt",))
    assert not verdict_counts("The dough rests for six minutes.", salt, split_passages(page, 1))


def judged_supported(quote: str):
    return lambda *_: Verdict(SUPPORTED, quote, quotes=(quote,))


@pytest.mark.parametrize(
    ("claim", "page", "quote", "state"),
    [
        (
            "The reservoir holds 1,234.5 million cubic metres.",
            "Der Stausee fasst 1.234,5 Millionen Kubikmeter Wasser.",
            "fasst 1.234,5 Millionen Kubikmeter",
            SUPPORTED,
        ),
        (
            "The wall is 61.9 m high.",
            "Die Mauer ist 61,8 m hoch.",
            "Die Mauer ist 61,8 m hoch",
            UNDECIDED,
        ),
        (
            "It cost 12,500 euros.",
            "Es kostete 12.500 Euro.",
            "Es kostete 12.500 Euro",
            SUPPORTED,
        ),
        (
            "It has 234,567 inhabitants.",
            "Miasto ma 234 567 mieszkańców.",
            "234 567 mieszkańców",
            SUPPORTED,
        ),
        (
            "The bridge opened on 15 August 1956.",
            "该桥于1956年8月15日通车，全长840米。",
            "该桥于1956年8月15日",
            SUPPORTED,
        ),
        (
            "The king opened the dam on 12 April 1931.",
            "The dam was opened by the king on 12.03.1931, with pomp.",
            "The dam was opened by the king on 12.03.1931",
            UNDECIDED,
        ),
        (
            "The king opened the dam on 3 May 1911.",
            "The king opened dams from 3 to 5 May 1911.",
            "The king opened dams from 3 to 5 May 1911",
            SUPPORTED,
        ),
    ],
)
def test_judge_may_quote_figures_in_another_notation(
    claim: str, page: str, quote: str, state: VerdictState
) -> None:
    assert verify_claim(claim, [page], judged_supported(quote)).state is state


def test_quote_in_script_without_spaces_may_end_within_a_sentence() -> None:
    page, quote = "灯台の高さは32メートルで、光達距離は18海里である。", "灯台の高さは32メートル"
    verdict = verify_claim("灯台は32メートルの高さだ。", [page], judged_supported(quote))
    assert (verdict.state, verdict.quote) == (SUPPORTED, quote)
