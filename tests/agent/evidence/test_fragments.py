"""A name or a date alone is an answer only where the page gives it to the question."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agent.evidence import Evidence, check_answer
from agent.types import Passage, Sentence, Verdict, VerdictState

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = (
    "The ferry to Brack was built by Ada Holm in 1903. She had learned from Tobias Renwick."
    "\n\nHer brother Nils Holm and her sister Karen Holm sailed it. Both came from Skarholm."
)
BUILDER = "Who built the ferry to Brack?"
SAILORS = "Where were Nils Holm and Karen Holm from?"


@pytest.fixture
def checked(make_page) -> Callable[..., Sentence]:
    def check(answer: str, question: str, judge=None) -> Sentence:
        evidence = Evidence(question)
        evidence.add(make_page(PAGE))
        [sentence] = check_answer(answer, evidence, judge).sentences
        return sentence

    return check


def test_a_name_that_answers_the_question_is_supported(checked) -> None:
    assert checked("Ada Holm. [S1¶1]", BUILDER).verdict is VerdictState.SUPPORTED


@pytest.mark.parametrize(
    "answer", ["Tobias Renwick. [S1¶1]", "Nils Holm [S1¶2]", "Skarholm. [S1¶2]"]
)
def test_a_name_that_only_stands_on_the_page_is_not(checked, answer: str) -> None:
    assert checked(answer, BUILDER).verdict is not VerdictState.SUPPORTED


def test_a_sentence_speaks_for_itself_whatever_was_asked(checked) -> None:
    sentence = checked("The ferry to Brack was built by Ada Holm. [S1¶1]", "When did it sink?")
    assert sentence.verdict is VerdictState.SUPPORTED


def test_the_judge_is_told_the_question_where_the_answer_takes_it_up(checked) -> None:
    asked: list[str] = []

    def judge(claim: str, passages: list[Passage]) -> Verdict:
        asked.append(claim)
        return Verdict(VerdictState.SUPPORTED, "Both came from Skarholm.", "", "judge")

    assert checked("They were Skarholmers. [S1¶2]", SAILORS, judge).decided_by == "judge"
    assert asked == [f"{SAILORS} They were Skarholmers."]


def test_a_row_of_a_table_says_whose_its_cells_are(make_page) -> None:
    evidence = Evidence("What is the fee of Brack?")
    evidence.add(make_page("| Island | Fee |\n| --- | --- |\n| Brack | 12 crowns |"))
    [sentence] = check_answer("| Brack | 12 crowns | [S1¶1]", evidence).sentences
    assert sentence.verdict is VerdictState.SUPPORTED
