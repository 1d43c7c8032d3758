"""Searches once for evidence against each central claim in an answer.

The pages found are evidence like any other: a page that contradicts a claim creates a conflict, and
a page that agrees counts as an additional independent source. Each search is recorded as
`challenge`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from agent.errors import ReplayDiverged, ResearchError
from agent.evidence.answer import check_answer
from agent.evidence.facts import extract_facts
from agent.evidence.verify import with_judge
from agent.guard.model_client import ModelClient
from agent.journal.events import CHALLENGE, JUDGE, MAIN
from agent.models.base import Task, takes
from agent.prompts import prompt
from agent.protocol.loose_json import loose_object
from agent.protocol.replies import inert
from agent.tools.rephrasing import MAX_QUERY_CHARS
from agent.tools.web_tools import read, web_search
from agent.types import Message, ToolCall, Verdict, VerdictState
from browser.net.url import normalize
from browser.text.words import content_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.evidence.store import Source
    from agent.loop.judge import ClaimJudge
    from agent.loop.orchestrator import Orchestrator
    from agent.types import Passage, Sentence

PAGES_READ: Final = 2
"""Number of results read per search, kept small to limit the number of extra pages."""
PASSAGES_JUDGED: Final = 3
"""Maximum number of passages per page that the judge sees for a claim."""


async def challenge(work: Orchestrator, judge: ClaimJudge, answer: str, max_claims: int) -> None:
    """Search for evidence against the `max_claims` claims nearest to the question.

    Records the results. A limit or an error ends the search; errors are recorded.
    """
    evidence = judge.evidence
    checked = check_answer(answer, evidence, judge)
    claims = central_claims(checked.sentences, evidence.question, max_claims)
    if not claims or work.budget.steps_left <= 0:
        return
    queries = await _queries(work, [claim.text for claim in claims])
    try:
        for number, (claim, query) in enumerate(zip(claims, queries, strict=True), 1):
            await _challenge(work, judge, claim, query, f"{MAIN}/{CHALLENGE}-{number}")
    except ReplayDiverged:
        raise
    except ResearchError as error:
        work.record("note", CHALLENGE, text=f"no further claims were challenged: {error}")


def central_claims(sentences: Sequence[Sentence], question: str, limit: int) -> list[Sentence]:
    """Return the supported claims that share the most words with the question, in answer order."""
    asked = set(content_words(question))
    claims = [s for s in sentences if s.verdict is VerdictState.SUPPORTED and not s.step]
    unique = list({claim.text: claim for claim in claims}.values())
    near = sorted(unique, key=lambda claim: -len(asked & set(content_words(claim.text))))[:limit]
    return [claim for claim in unique if claim in near]


async def _queries(work: Orchestrator, claims: Sequence[str]) -> list[str]:
    """Ask the model for a query per claim; a missing query becomes the claim without its values."""
    rows: object = []
    if takes(work.model, Task.CHALLENGE):
        listed = "\n".join(f"{n}. {inert(claim)}" for n, claim in enumerate(claims, 1))
        client = ModelClient(work.model, prompt(CHALLENGE), work.budget, work.record)
        seconds = work.budget.seconds_left(reserve=True)
        request = [Message("user", listed)]
        reply = await client.try_ask(CHALLENGE, request, "challenge failed", seconds=seconds)
        rows = loose_object(reply.text).get("queries") if reply else []
    given = [row if isinstance(row, str) else "" for row in rows] if isinstance(rows, list) else []
    given += [""] * (len(claims) - len(given))
    pairs = zip(claims, given, strict=False)
    return [
        " ".join((row or without_values(claim)).split())[:MAX_QUERY_CHARS] for claim, row in pairs
    ]


def without_values(claim: str) -> str:
    """Remove figures and dates from a claim, so that the query can find different values."""
    facts = extract_facts(claim)
    values = [figure.quantity for figure in facts.figures] + [date.text for date in facts.dates]
    for value in sorted(values, key=len, reverse=True):
        claim = claim.replace(value, " ")
    return " ".join(claim.split()).strip(" .")


async def _challenge(
    work: Orchestrator, judge: ClaimJudge, claim: Sentence, query: str, place: str
) -> None:
    """Search, read the first results that are new to the run, and have the judge check them."""
    evidence = judge.evidence
    known = {source.n for source in evidence.sources}
    call = ToolCall(web_search.name, json.dumps({"query": query}, ensure_ascii=False))
    hits = (await work.tools.run(call, f"{place}/0"))().results
    urls = [hit.url for hit in hits if evidence.by_url(normalize(hit.url)) is None]
    for number, url in enumerate(dict.fromkeys(urls[:PAGES_READ]), 1):
        reading = ToolCall(
            read.name, json.dumps({"url": url, "query": claim.text}, ensure_ascii=False)
        )
        (await work.tools.run(reading, f"{place}/{number}"))()
    read_pages = [source for source in evidence.sources if source.n not in known]
    against = await _judge(judge, claim.text, read_pages, place)
    work.record(
        CHALLENGE,
        place,
        text=claim.text,
        query=query,
        read=[source.url for source in read_pages],
        **against,
    )


async def _judge(
    judge: ClaimJudge, claim: str, pages: Sequence[Source], place: str
) -> dict[str, object]:
    """Have the judge compare a claim with the pages; returns the contradiction, or {}."""
    evidence = judge.evidence
    passages: list[Passage] = []
    for page in pages:
        passages += evidence.search(claim, PASSAGES_JUDGED, page.n)
    if not passages:
        return {}
    await judge.decide({claim: passages}, f"{JUDGE}/{place.replace('/', '-')}")
    quotable = [passage for page in pages for passage in page.passages]
    undecided = Verdict(VerdictState.UNDECIDED)
    decided = with_judge(claim, undecided, judge(claim, passages), quotable)
    found = evidence.passage(decided.passage or "")
    if decided.state is not VerdictState.CONTRADICTED or found is None:
        return {}
    return {"passage": found.id, "quote": decided.quote}
