"""What a question asks for is told from its words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.keyless.asking import Kind
from agent.keyless.comparison import sides
from agent.keyless.evidence import Evidence
from agent.keyless.question import analyse, keywords, variants
from agent.keyless.spelling import one_slip, respelt


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Who lit the lamp?", Kind.PERSON),
        ("By whom was the lamp lit?", Kind.PERSON),
        ("When was the pier built?", Kind.DATE),
        ("In what year was the pier built?", Kind.DATE),
        ("The pier was built in which month?", Kind.DATE),
        ("How many seals live there?", Kind.NUMBER),
        ("What is the population of the isles?", Kind.NUMBER),
        ("What is Hesk's population?", Kind.NUMBER),
        ("Where do terns nest?", Kind.PLACE),
        ("The keeper who lit it was born in what village?", Kind.PLACE),
        ("What is hesk pudding made of?", Kind.THING),
        ("Warum ist das Meer salzig?", Kind.THING),
    ],
)
def test_the_kind_of_answer(text: str, kind: Kind) -> None:
    assert analyse(text).kind is kind


def test_names_and_quotations_are_found_and_question_words_are_none() -> None:
    question = analyse('Who sang "Salt and Tar" with St. Orme at Hesk Light\'s tower?')
    assert {"Salt and Tar", "St. Orme", "Hesk Light"} <= set(question.names)
    assert "Who" not in question.names


def test_keywords_are_the_names_or_else_the_telling_words() -> None:
    assert keywords(analyse("When was Hesk Light first lit?")) == "Hesk Light"
    assert keywords(analyse("What do puffins eat in winter?")) == "puffins eat winter"


def test_variants_offer_other_endings() -> None:
    assert {"nest", "nests", "nesting"} <= set(variants(analyse("where nesting?")).split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Which is older, Hesk Light or Marrow Light?", ("Hesk Light", "Marrow Light")),
        ("Is the Kittiwake or the Torrand faster?", ("Kittiwake", "Torrand")),
        ("Is Hesk wet or dry?", None),
        ("Who lit Hesk Light?", None),
    ],
)
def test_the_two_sides_of_a_choice(text: str, expected: tuple[str, str] | None) -> None:
    assert sides(analyse(text)) == expected


@pytest.mark.parametrize(
    ("a", "b", "near"),
    [
        ("thorsby", "thosrby", True),
        ("thorsby", "thorsbby", True),
        ("thorsby", "thorby", True),
        ("thorsby", "thorsbi", True),
        ("thorsby", "thorsby", False),
        ("thorsby", "torsbi", False),
    ],
)
def test_one_slip_makes_one_word_of_another(a: str, b: str, *, near: bool) -> None:
    assert one_slip(a, b) is near


def test_nothing_is_respelt_where_nothing_was_read() -> None:
    question = analyse("Who was Gideon Thosrby?")
    assert respelt(question, Evidence([])) is question


@given(st.text(max_size=120))
def test_any_text_can_be_analysed(text: str) -> None:
    question = analyse(text)
    assert len(set(question.terms)) == len(question.terms)
    assert question.bigrams <= {(a, b) for a in question.terms for b in question.terms}
