"""A search of a run: once as asked, and once more in the model's words where that found little."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from agent.tools.context import PLACE
from browser.search.asking import ask, joined
from browser.search.languages import question_language

if TYPE_CHECKING:
    from agent.tools.context import ToolContext, Web
    from browser.search.chain import ChainResult
    from browser.types import SearchQuery

FEWEST_RESULTS = 3
"""With fewer a search found little: two pages seldom bear each other out."""

_FOLDER = "corpus"
"""What the trail calls the person's own folder."""


async def found(context: ToolContext, web: Web, query: SearchQuery) -> ChainResult:
    """Search; where that finds little, ask the model for other words, and merge what they find."""
    engines = context.limits.engines
    first = await ask(web.chain, query, engines=engines, fresh=web.fresh)
    if not _is_too_little(context, query, first):
        return first
    forms = await _other_forms(context, query)
    others = (ask(web.chain, form, engines=engines, fresh=web.fresh) for form in forms)
    return joined([first, *await asyncio.gather(*others)], query.limit) if forms else first


def _is_too_little(context: ToolContext, query: SearchQuery, first: ChainResult) -> bool:
    """Whether engines answered with too little, or to a question that pages may not speak.

    A folder of a few files holds what it holds: one that was found there is no little.
    """
    if len(first.results) < FEWEST_RESULTS:
        return first.answered and first.provider != _FOLDER
    return context.limits.translates and question_language(query.text) not in {None, "en"}


async def _other_forms(context: ToolContext, query: SearchQuery) -> list[SearchQuery]:
    if context.rephraser is None:
        return []
    other = await context.rephraser.ask(context.question, query.text, PLACE.get())
    return [
        replace(query, text=form.text, lang=form.lang or query.lang)
        for form in other
        if context.secrets.leaks(form.text) is None
    ]
