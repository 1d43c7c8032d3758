"""Tool calls of subtasks that run side by side: each has a live page of its own."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from agent.journal.places import MAIN
from agent.planner.plan import SIDE_BY_SIDE
from agent.tools.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agent.protocol.results import CallResult
    from agent.run.left_open import LeftOpen
    from agent.tools.context import LeftPage, ToolContext
    from agent.tools.registry import Registry
    from agent.types import ToolCall


FEWEST_SOURCES = 3
"""A loop that may read fewer pages cannot compare any."""


class Branches:
    """Makes each call in the context of the loop that asks for it, and keeps what it leaves open.

    `before` are the pages that the loops of a run that was cut off had open, by their places.
    """

    def __init__(
        self, tools: Registry, context: ToolContext, left: LeftOpen, before: Mapping[str, LeftPage]
    ) -> None:
        self._tools = tools
        self._left = left
        self._before = before
        self._context = context
        self._contexts: dict[str, ToolContext] = {}
        self._policies: dict[str, Policy] = {}

    async def run(self, call: ToolCall, place: str) -> Callable[[], CallResult]:
        """Make a call; the first part of its place names the loop."""
        loop = place.partition("/")[0]
        if loop not in self._policies:
            self._contexts[loop] = self._branch(loop)
            self._policies[loop] = Policy(self._tools, self._contexts[loop])
        finish = await self._policies[loop].run(call, place)
        await self._left.keep(self._contexts[loop].web, place)
        return finish

    def _branch(self, loop: str) -> ToolContext:
        """The same means and memory; beside the main loop with no page open yet.

        What it reads has numbers of its own, and it may read its share of the sources, so that
        neither depends on which loop is faster.
        """
        context, left = self._context, self._before.get(loop)
        if loop != MAIN:
            most = max(FEWEST_SOURCES, context.limits.max_sources // SIDE_BY_SIDE)
            limits = replace(context.limits, max_sources=most)
            context = replace(context, limits=limits, evidence=context.evidence.part(int(loop)))
        if context.web is None:
            return context
        if loop == MAIN:
            context.web.left_open = left
            return context
        web = replace(context.web, tab=None, left_open=left, lock=asyncio.Lock())
        return replace(context, web=web)
