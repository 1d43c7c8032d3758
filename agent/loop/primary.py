"""Follows the citations of secondary sources: pages that cite another source for a claim.

A claim is secondary if each page that supports it links to another site in the same sentence. The
first address linked there is read; if that page supports the claim, it is the primary source.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from agent.errors import ReplayDiverged, ResearchError
from agent.evidence.answer import check_answer
from agent.evidence.literal import find_words
from agent.evidence.origins import site_name
from agent.evidence.verify import is_literal, verify_claim, with_judge
from agent.journal.events import JUDGE, MAIN, PRIMARY
from agent.loop.challenge import central_claims
from agent.tools.web_tools import read
from agent.types import ToolCall, VerdictState
from browser.net.url import is_web_url
from browser.text.sentences import sentences

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agent.evidence.store import Source
    from agent.loop.judge import ClaimJudge
    from agent.loop.orchestrator import Orchestrator
    from browser.types import Page

    ReadPage = Callable[[str], Awaitable[Page]]

PASSAGES_JUDGED: Final = 6
"""Maximum number of passages from the cited page that are compared with the claim."""
_LINK_RE = re.compile(
    r"(?<!!)\[([^\[\]]*)\]\(<?(https?://[^\s()<>]*(?:\([^\s()]*\)[^\s()]*)*)>?[^)]*\)"
)
_LINK_NUMBER_RE = re.compile("\ue000(\\d+)\ue001")
"""The number of a link, placed between private-use characters after the link's text."""


async def follow_citations(
    work: Orchestrator, judge: ClaimJudge, read_page: ReadPage, answer: str, max_claims: int
) -> None:
    """Follow the citation of each of up to `max_claims` central claims; records the results.

    `read_page` rereads a page from the cache, because its saved text does not contain the links.
    """
    checked = check_answer(answer, judge.evidence, judge)
    pages: dict[str, Page] = {}
    claims = central_claims(checked.sentences, judge.evidence.question, max_claims)
    for number, claim in enumerate(claims, 1):
        cited = [source for source in checked.sources if source.n in claim.citations]
        read = [source for source in cited if source.via in ("http", "browser") and source.quotes]
        for source in read:
            if source.url not in pages:
                pages[source.url] = await read_page(source.url)
        links = [_links_near_quotes(source.quotes, pages[source.url]) for source in read]
        if work.budget.steps_left <= 0 or not links or not all(links):
            continue
        try:
            await _follow(work, judge, claim.text, links[0][0], f"{MAIN}/{PRIMARY}-{number}")
        except ReplayDiverged:
            raise
        except ResearchError as error:
            work.record("note", PRIMARY, text=f"no further citations were followed: {error}")
            return


def _links_near_quotes(quotes: list[str], page: Page) -> list[str]:
    """Return the links to other sites in the sentences of a page that contain a quote."""
    if page.document is None:
        return []
    found: dict[str, None] = {}
    for paragraph in page.document.markdown.split("\n\n"):
        if "](" in paragraph:
            found |= dict.fromkeys(links_in_sentences(paragraph, quotes))
    own = site_name(page.url)
    return [url for url in found if is_web_url(url) and site_name(url) != own]


def links_in_sentences(markdown: str, quotes: list[str]) -> list[str]:
    """Return the link targets in the sentences of a paragraph that contain a quote."""
    urls: list[str] = []

    def number(match: re.Match[str]) -> str:
        urls.append(match[2])
        return f"{match[1]}\ue000{len(urls) - 1}\ue001"

    text = _LINK_RE.sub(number, markdown)
    found: list[str] = []
    for start, end in sentences(text):
        plain = _LINK_NUMBER_RE.sub("", text[start:end])
        if any(find_words(plain, quote) or find_words(quote, plain) for quote in quotes):
            found += [urls[int(mark)] for mark in _LINK_NUMBER_RE.findall(text[start:end])]
    return found


async def _follow(work: Orchestrator, judge: ClaimJudge, claim: str, url: str, place: str) -> None:
    """Read the cited page, and check whether it supports the claim."""
    evidence = judge.evidence
    source = evidence.by_url(url)
    if source is None:
        call = ToolCall(read.name, json.dumps({"url": url, "query": claim}, ensure_ascii=False))
        (await work.tools.run(call, f"{place}/0"))()
        source = evidence.by_url(url)
    found = await _supporting_words(judge, claim, source, place) if source else {}
    work.record(PRIMARY, place, text=claim, url=url, read=source is not None, **found)


async def _supporting_words(
    judge: ClaimJudge, claim: str, source: Source, place: str
) -> dict[str, Any]:
    """Return a page's words that support a claim; {} if neither rules nor the judge find any."""
    passages = judge.evidence.search(claim, PASSAGES_JUDGED, source.n)
    if not passages:
        return {}
    verdict = verify_claim(claim, passages)
    if not is_literal(verdict):
        await judge.decide({claim: passages}, f"{JUDGE}/{place.replace('/', '-')}")
        verdict = with_judge(claim, verdict, judge(claim, passages), source.passages)
    if verdict.state is not VerdictState.SUPPORTED:
        return {}
    return {"source": source.n, "quote": verdict.quote}
