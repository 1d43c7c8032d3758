"""What code leaves open is judged only from claim and passages, in one call."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agent.evidence import Evidence, check_answer
from agent.guard.budget import Budget
from agent.loop.judge import (
    ClaimJudge,
    find_undecided_claims,
    judge_request,
)
from agent.models.base import ModelReply
from agent.tools.context import no_record
from agent.types import VerdictState
from browser.types import Document, Outcome, Page

TEXT = "The pier was begun in 1890.\n\nIt carried its first trains after four years of work."
ANSWER = "The pier took until 1894 to open to trains. [S1] The pier was begun in 1890. [S1]"


class FixedReplyModel:
    """A model that gives one reply and records what it was asked."""

    name = "says"

    def __init__(self, text):
        self.text = text
        self.asked = []

    async def reply(self, system, messages):
        self.asked.append((system, [message.content for message in messages]))
        return ModelReply(self.text)

    async def aclose(self):
        """Nothing to close."""


@pytest.fixture
def evidence():
    document = Document(url="https://pier.test/", title="Pier", text=TEXT)
    page = Page(
        "https://pier.test/", "https://pier.test/", "http", Outcome.OK,
        datetime(2026, 1, 1, tzinfo=UTC), document=document,
    )  # fmt: skip
    read = Evidence()
    read.add(page)
    return read


async def judged(reply, claims, evidence, answer=""):
    """A judge that was asked about claims and gave this reply."""
    judge = ClaimJudge(evidence, Budget(), no_record, FixedReplyModel(reply))
    assert await judge.decide(claims, "judge", answer)
    return judge


async def verdicts(evidence, reply):
    judge = await judged(reply, find_undecided_claims(ANSWER, evidence), evidence)
    return check_answer(ANSWER, evidence, judge).sentences, judge.model.asked


async def test_second_hop_claim_is_judged_with_cited_passages_of_other_sentences(evidence):
    town = Document(url="https://t.test/", title="Town", text="Its mayor lives on the pier.")
    at = datetime(2026, 1, 1, tzinfo=UTC)
    evidence.add(Page(town.url, town.url, "http", Outcome.OK, at, document=town))
    answer = "The pier was begun in 1890. [S1¶1] Whoever leads the town has a home there. [S2¶1]"
    claims = find_undecided_claims(answer, evidence)
    assert list(claims) == ["Whoever leads the town has a home there."]
    request = judge_request(claims, evidence, answer)
    own, _, others = request.partition("Cited by the answer's other sentences:")
    assert "Its mayor lives" in own
    assert "was begun in 1890" in others


async def test_claims_sharing_passages_show_them_once(evidence):
    claims = dict.fromkeys(("It took four years.", "It was slow."), evidence.source(1).passages)
    request = judge_request(claims, evidence)
    assert request.count("after four years of work") == 1
    assert request.index("Claim 2") < request.index("<web>")


async def test_passage_cited_by_several_claim_groups_is_shown_once(evidence):
    town = Document(url="https://t.test/", title="Town", text="Its mayor lives on the pier.")
    at = datetime(2026, 1, 1, tzinfo=UTC)
    evidence.add(Page(town.url, town.url, "http", Outcome.OK, at, document=town))
    pier, town = evidence.source(1).passages, evidence.source(2).passages
    claims = {"It took four years.": pier, "The mayor lives on a slow work.": [*pier, *town]}
    request = judge_request(claims, evidence)
    assert request.count("after four years of work") == 1
    second = request.partition("Claim 2")[2]
    assert "Its mayor lives" in second
    assert pier[-1].id in second.splitlines()[1]


async def test_reply_is_matched_by_claim_number(evidence):
    passages = evidence.source(1).passages
    decided = await judged(
        "2: contradicted", {"It was slow.": passages, "It failed.": passages}, evidence
    )
    assert decided("It failed.", passages).state is VerdictState.CONTRADICTED
    assert decided("It was slow.", passages) is None


async def test_judge_is_asked_only_about_open_claims(evidence):
    _, asked = await verdicts(evidence, "")
    (system, [request]), (_, [_, _, again]) = asked
    assert "took until 1894" in request
    assert "Claim 2" not in request
    assert "passages" in system
    assert "decide them: 1." in again


@pytest.mark.parametrize(
    ("reply", "state"),
    [
        ('1: supported "begun in 1890" and "after four years of work"', "supported"),
        ('1: supported "begun in 1890 … Its first trains  after four years of work"', "supported"),
        ('1: supported "after four years of work"', "undecided"),
        ("**1**: contradicted — “its first trains after four years”", "contradicted"),
        ("1. Undecided", "undecided"),
        ("1: supported “begun in  1890” — with “FOUR years of work” it is so.", "supported"),
        ("Claim 1: Contradicted, it took longer", "undecided"),
        ("1: supported", "undecided"),
        ('1: supported "of"', "undecided"),
        ("1: in part “begun in 1890” the end is not given", "undecided"),
        ("1: not stated", "undecided"),
        ("I think it is fine.", "undecided"),
        ("7: supported", "undecided"),
    ],
)
async def test_verdict_is_parsed_and_missing_verdict_stays_undecided(evidence, reply, state):
    [first, second], _ = await verdicts(evidence, reply)
    assert first.verdict == VerdictState(state)
    assert second.verdict is VerdictState.SUPPORTED
    assert second.decided_by == "code"


async def test_judge_quotation_becomes_source_quote(evidence):
    reply = '1: supported "begun in 1890" and "after four years of work"'
    decided = await judged(reply, find_undecided_claims(ANSWER, evidence), evidence)
    [source] = check_answer(ANSWER, evidence, decided).sources
    assert "after four years of work" in source.quotes


async def test_quotation_from_uncited_page_does_not_support_claim(evidence):
    town = Document(url="https://t.test/", title="Town", text="Its mayor lives on the pier.")
    at = datetime(2026, 1, 1, tzinfo=UTC)
    evidence.add(Page(town.url, town.url, "http", Outcome.OK, at, document=town))
    answer = "The head of the town has a home on the pier. [S1¶1]"
    claims = find_undecided_claims(answer, evidence)
    elsewhere = await judged('1: supported "mayor lives on the pier"', claims, evidence)
    [said] = check_answer(answer, evidence, elsewhere).sentences
    assert (said.verdict, said.decided_by) == (VerdictState.UNDECIDED, "judge")
    assert "Town" in said.reason
    joined = '1: supported "Its mayor lives" and "on the pier"'
    [said] = check_answer(answer, evidence, await judged(joined, claims, evidence)).sentences
    assert said.verdict is VerdictState.UNDECIDED
    both = '1: supported "mayor lives on the pier" and "begun in 1890"'
    [said] = check_answer(answer, evidence, await judged(both, claims, evidence)).sentences
    assert said.verdict is VerdictState.SUPPORTED


async def test_judge_request_names_page_of_each_passage(evidence):
    _, [(_, [request])] = await verdicts(evidence, '1: in part "begun in 1890"')
    assert "(Pier) It carried its first trains" in request


async def test_claim_with_changed_citation_is_judged_again(evidence):
    open_ones = find_undecided_claims("It took until 1894 to open to trains. [S1¶1]", evidence)
    judge = await judged("1: undecided", open_ones, evidence)
    assert await judge.decide(open_ones, "judge")
    assert len(judge.model.asked) == 1
    mended = find_undecided_claims("It took until 1894 to open to trains. [S1¶2]", evidence)
    assert await judge.decide(mended, "judge")
    assert len(judge.model.asked) == 2


async def test_judge_explanation_appears_in_reason(evidence):
    [first, _], _ = await verdicts(evidence, "1: in part “begun in 1890” the end is not given")
    assert first.reason == (
        "the passages support only part of this: “begun in 1890” (the end is not given)"
    )


async def test_verdict_line_with_several_quotations_is_parsed(evidence):
    line = '1: in part "begun in 1890" and "its first  trains" the passages say it of the trains'
    [first, _], _ = await verdicts(evidence, line)
    assert first.reason == (
        "the passages support only part of this: “begun in 1890” and “its first trains” "
        "(the passages say it of the trains)"
    )


async def test_judge_request_contains_question_answer_and_context(evidence):
    evidence.question = "How long did it take?"
    claims = find_undecided_claims("It was slow work. [S1¶2]", evidence)
    request = judge_request(claims, evidence, ANSWER)
    assert request.startswith(f"Question: How long did it take?\n\n<answer>\n{ANSWER}")
    assert "S1¶1 (Pier) The pier was begun in 1890." in request


@pytest.mark.parametrize(
    ("line", "word"), [("answer: in part", "in part"), ("**Answer:** Fully.", "fully"), ("", None)]
)
async def test_judge_rating_of_answer_is_parsed_and_recorded(evidence, line, word):
    evidence.question = "When did it open?"
    claims, recorded = find_undecided_claims(ANSWER, evidence), []

    def record(kind, _place, **data):
        recorded.extend(data["verdicts"] if kind == "judge" else ())

    said = f'1: supported "begun in 1890" and "four years"\n{line}'
    judge = ClaimJudge(evidence, Budget(), record, FixedReplyModel(said))
    assert await judge.review(ANSWER, "judge")
    again = ClaimJudge(evidence, Budget(), no_record)
    again.load_verdicts(recorded)
    assert judge.addresses_question == again.addresses_question == word
    assert [again(*claim) for claim in claims.items()] == [judge(*c) for c in claims.items()]
