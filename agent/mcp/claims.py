"""Checks claims against pages or given text; the verdicts include the decisive words."""

from __future__ import annotations

import os
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Final

from agent.evidence.verify import Judge, verify_claim
from agent.loop.judge import ClaimJudge
from agent.mcp.results import ToolFailure, text_result
from agent.protocol.replies import inert
from agent.run.draft import read_draft
from agent.run.models import resolve_model
from agent.run.settings import make_budget
from agent.types import Passage, VerdictState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mcp.server.mcpserver import Context
    from mcp.types import CallToolResult

    from agent.mcp.tool_session import ToolSession

MAX_PASSAGES: Final = 12
"""Maximum number of passages on a page to check a claim against, most similar first; a claim needs
one or two.
"""


def check_addresses(session: ToolSession, draft: Path) -> None:
    """Raise `ToolFailure` if a URL cited by a draft contains private words."""
    for url in {reference.url for reference in read_draft(draft).references} - {""}:
        if reason := session.context.outgoing.refusal_of_address(url):
            raise ToolFailure(f"{url} was not requested: {reason}", "Leave it out.")


async def verify_claims(
    session: ToolSession,
    ctx: Context[Any, Any],
    claims: Sequence[str],
    urls: Sequence[str],
    texts: Sequence[str],
) -> CallToolResult:
    """Read the pages and judge each claim; the result also lists pages that could not be read."""
    unread = []
    for url in urls:
        try:
            await session.call(ctx, "READ", url=url)
        except ToolFailure as failure:
            unread.append({"url": url, "error": inert(failure.message)})
    evidence = session.context.evidence
    sources = [source for source in map(evidence.by_url, urls) if source is not None]
    if not sources and not texts:
        reasons = "; ".join(f"{row['url']}: {row['error']}" for row in unread)
        raise ToolFailure("nothing to check the claims against", reasons or "Give urls or texts.")
    passages_by_claim: dict[str, list[Passage | str]] = {}
    for claim in claims:
        near = (evidence.search(claim, MAX_PASSAGES, source.n) for source in sources)
        passages_by_claim[claim] = [*(passage for found in near for passage in found), *texts]
    judgement = await _judge_open_claims(session, passages_by_claim)
    rows = []
    for claim, passages in passages_by_claim.items():
        verdict = verify_claim(claim, passages, judgement)
        passage = evidence.passage(verdict.passage or "")
        source = evidence.source(passage.source) if passage else None
        rows.append(
            {
                "claim": claim,
                "verdict": verdict.state.value,
                "decided_by": verdict.decided_by,
                "words": inert(verdict.quote),
                "reason": inert(verdict.reason),
                "url": source.url if source else None,
            }
        )
    lines = [f"{r['verdict']}: {r['claim']}\n  {r['words'] or r['reason']}" for r in rows]
    lines += [f"not read: {row['url']}: {row['error']}" for row in unread]
    return text_result(lines, verdicts=rows, not_read=unread)


async def _judge_open_claims(
    session: ToolSession, passages_by_claim: Mapping[str, Sequence[Passage | str]]
) -> Judge | None:
    """Ask the server's judge or model about undecided claims; None if there is neither."""
    left = {
        claim: [passage for passage in found if isinstance(passage, Passage)]
        for claim, found in passages_by_claim.items()
        if verify_claim(claim, found).state is VerdictState.UNDECIDED
    }
    left = {claim: passages for claim, passages in left.items() if passages}
    if not left:
        return None
    context, options = session.context, session.options
    model = resolve_model(options, None, os.environ)
    async with AsyncExitStack() as stack:
        judging = await model.open_judge(stack) or await model.open(stack, lambda _: None)
        budget = make_budget(options, os.environ)
        judge = ClaimJudge(context.evidence, budget, context.record, judging)
        await judge.decide(left, "verify")
        return judge
