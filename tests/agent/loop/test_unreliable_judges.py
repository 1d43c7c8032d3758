"""No judge can make a wrong sentence *supported*, and none is needed for an irrelevant answer.

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
from agent.run.outcome import ReportBuilder, exit_code
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
    """A judge with a line for each claim, by its text, that says the question is answered."""

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


def read_page(
    evidence: Evidence, url: str, title: str, text: str, published: str | None = None
) -> None:
    document = Document(url=url, title=title, text=text, published=published)
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
@pytest.mark.sample(35)
async def test_no_judge_makes_planted_error_supported(evidence, kind, planted):
    judge = await reviewed(evidence, JudgeModel(JUDGES[kind]), planted.sentence)
    [sentence] = check_answer(planted.sentence, evidence, judge).sentences
    assert sentence.verdict is not VerdictState.SUPPORTED


@pytest.mark.parametrize(("sentence", "words"), RIGHT, ids=lambda text: text[:30])
async def test_careful_judge_makes_correct_sentence_supported(evidence, sentence, words):
    judge = await reviewed(evidence, JudgeModel(JUDGES["careful"]), sentence)
    checked = check_answer(sentence, evidence, judge)
    assert checked.sentences[0].verdict is VerdictState.SUPPORTED
    quotes = " ".join(quote for source in checked.sources for quote in source.quotes)
    first = " ".join(words.split('"')[1].split())
    assert first.lower() in quotes.lower()


async def test_value_missing_in_source_stays_visible_despite_unquoted_verdict(evidence):
    answer = "The cable car has been running since 14 June 1926. [S1¶1]"
    judge = await reviewed(evidence, JudgeModel(JUDGES["rubber stamp"]), answer)
    [sentence] = check_answer(answer, evidence, judge).sentences
    assert sentence.missing == ["14 June 1926"]
    assert sentence.reason.startswith("“14 June 1926” does not appear in [1]; the judge called it")


async def test_judge_agreeing_with_code_changes_no_reason(evidence):
    answer = "The Skarvsund Cable Car was opened on 14 June 1972. [S1¶1]"
    silent = await reviewed(evidence, JudgeModel(JUDGES["silent"]), answer)
    agrees = await reviewed(evidence, JudgeModel(lambda _claim: "contradicted"), answer)
    [[alone], [agreed]] = (check_answer(answer, evidence, j).sentences for j in (silent, agrees))
    assert alone.verdict is VerdictState.CONTRADICTED
    assert agreed.reason == alone.reason


async def test_quotation_without_the_figure_does_not_support_claim(evidence):
    answer = "The cable car has been running since 14 June 1926. [S1¶1]"
    model = JudgeModel(lambda _claim: 'supported "The Skarvsund Cable Car was opened"')
    [sentence] = check_answer(answer, evidence, await reviewed(evidence, model, answer)).sentences
    assert sentence.verdict is VerdictState.UNDECIDED
    assert "does not follow from “The Skarvsund Cable Car was opened”" in sentence.reason


@pytest.mark.parametrize("state", ["supported", "contradicted"])
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("It is known what caused the fire of 2004. [S1¶4]", "Each of its two cabins carries 38"),
        ("Passengers ride up to the Storfjell plateau. [S1¶2]", "closed for repairs from 1987"),
        ("The Orchid House grows 22 plants. [S2¶3]", "Heating is by wood chips since 2011."),
    ],
)
async def test_unrelated_quotation_decides_nothing(evidence, answer, words, state):
    model = JudgeModel(lambda _claim: f'{state} "{words}"')
    [sentence] = check_answer(answer, evidence, await reviewed(evidence, model, answer)).sentences
    assert sentence.verdict is VerdictState.UNDECIDED
    assert (
        f"called it {state}, but quoted “{words}”, which is not about the claim" in sentence.reason
    )


async def test_quotation_in_another_language_supports_claim(evidence):
    answer = "Die Ursache des Brandes wurde nie geklärt. [S1¶4]"
    model = JudgeModel(lambda _claim: 'supported "the cause was never established"')
    [sentence] = check_answer(answer, evidence, await reviewed(evidence, model, answer)).sentences
    assert sentence.verdict is VerdictState.SUPPORTED


@pytest.mark.parametrize("said", ["", "supported", 'supported "closed for repairs from 1987"'])
async def test_judge_without_decisive_quotation_is_asked_once_more(evidence, said):
    words = iter((said, 'supported "in six minutes"'))
    model = JudgeModel(lambda _claim: next(words))
    answer = "The ride up lasts six minutes. [S1¶2]"
    [sentence] = check_answer(answer, evidence, await reviewed(evidence, model, answer)).sentences
    assert sentence.verdict is VerdictState.SUPPORTED
    first, second = model.asked
    assert "Claim 1: The ride up lasts six minutes." in first
    assert "words of the passages that decide them: 1." in second


async def test_quotation_of_another_table_row_does_not_support_claim(evidence):
    answer = "The Palm House dates from 1907. [S2¶1] [S2¶2]"
    model = JudgeModel(lambda _claim: 'supported "| Palm House | 1881 |"')
    [sentence] = check_answer(answer, evidence, await reviewed(evidence, model, answer)).sentences
    assert sentence.verdict is VerdictState.UNDECIDED
    assert "1907" in sentence.missing


async def test_page_title_counts_as_page_text(evidence):
    answer = "It is a lift for passengers at Skarvsund. [S1¶2]"
    model = JudgeModel(lambda _claim: 'supported "Skarvsund Cable Car"')
    [sentence] = check_answer(answer, evidence, await reviewed(evidence, model, answer)).sentences
    assert sentence.verdict is VerdictState.SUPPORTED


async def test_claim_citing_only_search_result_is_not_judged(evidence):
    model = JudgeModel(JUDGES["rubber stamp"])
    answer = "Adults have to pay for the garden. [S501]"
    [sentence] = check_answer(answer, evidence, await reviewed(evidence, model, answer)).sentences
    assert not any("Claim 1" in asked for asked in model.asked)
    assert sentence.verdict is VerdictState.UNDECIDED
    assert "its only source is a search result" in sentence.reason


@pytest.fixture
def two_pages() -> Evidence:
    read = Evidence("When was the Nord lock built?")
    new = "The Nord lock has been open to boats since 1874, when it was finished."
    old = "As far as I know the Nord lock was built in 1847. It leaks."
    read_page(read, "https://new.test/", "Nord lock", new, published="2020-06-06")
    read_page(read, "https://old.test/", "Canal forum", old, published="2011-01-01")
    return read


NORD_LOCK = "The Nord lock has been open to boats since 1874. [S1¶1]"


@pytest.mark.parametrize(
    ("answer", "passage"),
    [(NORD_LOCK, "S2¶1"), ("The Nord lock dates from 1874. [S1¶1]", "S2¶7")],  # ids may be mistaken
)
async def test_differently_worded_disagreement_is_a_dispute(two_pages, answer, passage):
    words = answer.partition(" [")[0]
    last = f'disputed "{words}" {passage} "built in 1847"\nanswer: fully'
    model = JudgeModel(lambda _claim: 'supported "The Nord lock has been open"', last)
    judge = await reviewed(two_pages, model, answer)
    assert "S2¶1 (Canal forum) As far as I know" in model.asked[0]
    report = ReportBuilder(two_pages.question, two_pages).finished_report(LoopResult(answer), judge)
    [conflict] = report.conflicts
    assert (conflict.text, conflict.quote, conflict.newer) == (words, "built in 1847", [1])
    assert report.standing == "disputed"
    assert exit_code(report, require_verified=True) == 4


@pytest.mark.parametrize(
    "line",
    [
        'disputed "it was built in 1874" S2¶1 "built in 1847"',
        'disputed "The Nord lock has been open" S2¶1 "it was built in 1748"',
        'disputed "The Nord lock has been open" S1¶1 "open to boats"',
        "disputed",
    ],
)
async def test_dispute_must_quote_answer_and_passage(two_pages, line):
    judge = await reviewed(two_pages, JudgeModel(lambda _claim: "", line), NORD_LOCK)
    assert judge.disputes == []


async def test_agreeing_page_is_not_offered_for_dispute(two_pages):
    same = "Since 1874 the Nord lock has been open to boats."
    read_page(two_pages, "https://same.test/", "Locks", same)
    model = JudgeModel(lambda _claim: "")
    await reviewed(two_pages, model, NORD_LOCK)
    assert "Canal forum" in model.asked[0]
    assert same not in model.asked[0]


@pytest.mark.parametrize("last", ["answer: no", "answer: in part", ""])
@pytest.mark.parametrize(("question", "page", "answer"), IRRELEVANT, ids=lambda text: text[:30])
@pytest.mark.sample(20)
async def test_irrelevant_answer_is_judged_although_it_is_in_source(question, page, answer, last):
    evidence = Evidence(question)
    read_page(evidence, "https://page.test/", "A page", page)
    model = JudgeModel(JUDGES["silent"], last)
    judge = await reviewed(evidence, model, f"{answer} [S1]")
    [asked] = model.asked
    assert question in asked
    assert answer in asked
    report = ReportBuilder(question, evidence).finished_report(LoopResult(f"{answer} [S1]"), judge)
    assert report.confidence_parts.answers == (last.removeprefix("answer: ") or None)
    assert report.confidence is None or report.confidence <= 0.5
    assert exit_code(report, require_verified=True) == 4
