"""No judge talks a wrong sentence into *supported*, and none is needed for an irrelevant answer.

The judges are careful, a rubber stamp, one that invents quotations, and a silent one.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from agent.evidence import Evidence, check_answer
from agent.guard.budget import Budget
from agent.loop.judge import ClaimJudge
from agent.loop.loop import LoopResult
from agent.models.base import ModelReply
from agent.run.outcome import Ledger, exit_code
from agent.tools.context import no_record
from agent.types import VerdictState
from browser.types import Document, Outcome, Page, SearchResult
from tests.agent.loop.irrelevant_cases import IRRELEVANT
from tests.agent.loop.judge_cases import CABLE_CAR, FAULTS, GLASSHOUSES, RIGHT, SNIPPET

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agent.types import Message

READ_AT = datetime(2026, 3, 1, tzinfo=UTC)
CLAIM = re.compile(r"^Claim (\d+): (.*)$", re.MULTILINE)


class JudgeModel:
    """A judge that says a line of each claim, by its text, and that the question is answered."""

    name = "judge"

    def __init__(self, line: Callable[[str], str], last: str = "answer: fully") -> None:
        self.line, self.last = line, last
        self.asked: list[str] = []

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:
        self.asked.append(f"{system}\n\n{messages[-1].content}")
        claims = CLAIM.findall(messages[0].content)
        lines = [f"{number}: {said}" for number, claim in claims if (said := self.line(claim))]
        return ModelReply("\n".join([*lines, self.last]))

    async def aclose(self) -> None:
        """Nothing to close."""


def without_markers(sentence: str) -> str:
    return re.sub(r"\s*\[[^\]]*\]", "", sentence)


SAID = {
    **{without_markers(planted.sentence): planted.careful for planted in FAULTS},
    **{without_markers(sentence): f"supported {words}" for sentence, words in RIGHT},
}
JUDGES: dict[str, Callable[[str], str]] = {
    "careful": lambda claim: SAID[claim],
    "rubber stamp": lambda _claim: "supported",
    "inventing": lambda claim: f'supported "It is on record that {claim[0].lower()}{claim[1:]}"',
    "quoting the claim": lambda claim: f'supported "{claim}"',
    "silent": lambda _claim: "",
}


def read_page(evidence: Evidence, url: str, title: str, text: str) -> None:
    document = Document(url=url, title=title, text=text)
    evidence.add(Page(url, url, "http", Outcome.OK, READ_AT, document=document))


@pytest.fixture
def evidence() -> Evidence:
    read = Evidence("What is there to see at Skarvsund and Ellermere?")
    read_page(read, "https://cable.test/", "Skarvsund Cable Car", CABLE_CAR)
    read_page(read, "https://garden.test/", "Glasshouses of Ellermere", GLASSHOUSES)
    read.add_snippet(SearchResult("https://gate.test/", "Ellermere Garden", SNIPPET), READ_AT)
    return read


async def reviewed(evidence: Evidence, model: JudgeModel, answer: str) -> ClaimJudge:
    judge = ClaimJudge(evidence, Budget(), no_record, model)
    assert await judge.review(answer, "judge/1")
    return judge


@pytest.mark.parametrize("kind", JUDGES)
@pytest.mark.parametrize("planted", FAULTS, ids=lambda planted: planted.fault)
async def test_no_judge_makes_a_planted_fault_supported(evidence, kind, planted):
    judge = await reviewed(evidence, JudgeModel(JUDGES[kind]), planted.sentence)
    [sentence] = check_answer(planted.sentence, evidence, judge).sentences
    assert sentence.verdict is not VerdictState.SUPPORTED


@pytest.mark.parametrize(("sentence", "words"), RIGHT, ids=lambda text: text[:30])
async def test_a_careful_judge_makes_a_right_sentence_supported(evidence, sentence, words):
    judge = await reviewed(evidence, JudgeModel(JUDGES["careful"]), sentence)
    checked = check_answer(sentence, evidence, judge)
    assert checked.sentences[0].verdict is VerdictState.SUPPORTED
    quotes = " ".join(quote for source in checked.sources for quote in source.quotes)
    first = " ".join(words.split('"')[1].split())
    assert first.lower() in quotes.lower()


async def test_what_code_did_not_find_stays_visible_beside_a_judge_without_words(evidence):
    answer = "The cable car has been running since 14 June 1926. [S1¶1]"
    judge = await reviewed(evidence, JudgeModel(JUDGES["rubber stamp"]), answer)
    [sentence] = check_answer(answer, evidence, judge).sentences
    assert sentence.missing == ["14 June 1926"]
    assert sentence.reason.startswith("“14 June 1926” does not stand in [1]; the judge called it")


async def test_words_that_do_not_hold_the_figure_do_not_support_it(evidence):
    answer = "The cable car has been running since 14 June 1926. [S1¶1]"
    model = JudgeModel(lambda _claim: 'supported "The Skarvsund Cable Car was opened"')
    [sentence] = check_answer(answer, evidence, await reviewed(evidence, model, answer)).sentences
    assert sentence.verdict is VerdictState.UNDECIDED
    assert "does not follow from “The Skarvsund Cable Car was opened”" in sentence.reason


async def test_a_judge_without_words_is_asked_once_more(evidence):
    words = iter(("supported", 'supported "in six minutes"'))
    model = JudgeModel(lambda _claim: next(words))
    answer = "The ride up lasts six minutes. [S1¶2]"
    [sentence] = check_answer(answer, evidence, await reviewed(evidence, model, answer)).sentences
    assert sentence.verdict is VerdictState.SUPPORTED
    first, second = model.asked
    assert "Claim 1: The ride up lasts six minutes." in first
    assert "stand in the lines of these claims: 1." in second


async def test_the_words_of_another_row_do_not_support_a_row(evidence):
    answer = "The Palm House dates from 1907. [S2¶1] [S2¶2]"
    model = JudgeModel(lambda _claim: 'supported "| Palm House | 1881 |"')
    [sentence] = check_answer(answer, evidence, await reviewed(evidence, model, answer)).sentences
    assert sentence.verdict is VerdictState.UNDECIDED
    assert "1907" in sentence.missing


async def test_a_title_counts_as_words_of_the_page(evidence):
    answer = "It is a lift for passengers at Skarvsund. [S1¶2]"
    model = JudgeModel(lambda _claim: 'supported "Skarvsund Cable Car"')
    [sentence] = check_answer(answer, evidence, await reviewed(evidence, model, answer)).sentences
    assert sentence.verdict is VerdictState.SUPPORTED


async def test_a_judge_is_not_asked_about_what_only_a_search_result_says(evidence):
    model = JudgeModel(JUDGES["rubber stamp"])
    answer = "Adults have to pay for the garden. [S501]"
    [sentence] = check_answer(answer, evidence, await reviewed(evidence, model, answer)).sentences
    assert not any("Claim 1" in asked for asked in model.asked)
    assert sentence.verdict is VerdictState.UNDECIDED
    assert "only a search result was seen" in sentence.reason


@pytest.mark.parametrize("last", ["answer: no", "answer: in part", ""])
@pytest.mark.parametrize(("question", "page", "answer"), IRRELEVANT, ids=lambda text: text[:30])
async def test_an_irrelevant_answer_is_asked_about_although_it_stands_there(
    question, page, answer, last
):
    evidence = Evidence(question)
    read_page(evidence, "https://page.test/", "A page", page)
    model = JudgeModel(JUDGES["silent"], last)
    judge = await reviewed(evidence, model, f"{answer} [S1]")
    [asked] = model.asked
    assert question in asked
    assert answer in asked
    report = Ledger(question, evidence).finished_report(LoopResult(f"{answer} [S1]"), judge)
    assert report.confidence_parts.answers == (last.removeprefix("answer: ") or None)
    assert report.confidence is None or report.confidence <= 0.5
    assert exit_code(report, require_verified=True) == 4
