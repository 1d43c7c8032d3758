"""What a question asks for is recognised from its words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.keyless.question import AnswerKind, analyse, keywords, split_urls


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Who lit the lamp?", AnswerKind.PERSON),
        ("By whom was the lamp lit?", AnswerKind.PERSON),
        ("When was the pier built?", AnswerKind.DATE),
        ("In what year was the pier built?", AnswerKind.DATE),
        ("The pier was built in which month?", AnswerKind.DATE),
        ("How many seals live there?", AnswerKind.NUMBER),
        ("What is the population of the isles?", AnswerKind.NUMBER),
        ("Where do terns nest?", AnswerKind.PLACE),
        ("The keeper who lit it was born in what village?", AnswerKind.PLACE),
        ("Why did the lamp fail?", AnswerKind.REASON),
        ("What is hesk pudding made of?", AnswerKind.THING),
        ("height of the water in the church", AnswerKind.NUMBER),
        ("Warum ist das Meer salzig?", AnswerKind.THING),
    ],
)
def test_question_kind_is_classified(text: str, kind: AnswerKind) -> None:
    assert analyse(text).kind is kind


def test_names_and_quotations_are_extracted_without_question_words() -> None:
    question = analyse('Who sang "Salt and Tar" with St. Orme at Hesk Light\'s tower?')
    assert {"Salt and Tar", "Hesk Light"} <= set(question.names)
    assert "Who" not in question.names
    plain = analyse("I'm lost, and don't know: where is Hesk Light?")
    assert plain.names == ("Hesk Light",)
    assert not {"im", "dont"} & set(plain.terms)


def test_keywords_resemble_a_typed_query() -> None:
    assert keywords("When was Hesk Light first lit?") == "Hesk Light first lit"
    assert keywords("I'm new: what's Hesk Light?") == "new Hesk Light"
    assert keywords("What do puffins eat in winter?") == "puffins eat winter"


def test_urls_are_split_from_surrounding_words() -> None:
    text, urls = split_urls("Who wrote (https://x.example/a?b=1), and www.y.example?")
    assert urls == ("https://x.example/a?b=1", "https://www.y.example")
    assert text == "Who wrote and"


@given(st.text(max_size=120))
def test_any_text_can_be_analysed(text: str) -> None:
    question = analyse(text)
    assert len(set(question.terms)) == len(question.terms)
