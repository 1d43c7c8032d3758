"""Tool calls of subtasks side by side: each has a page of its own, kept for a run that goes on."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from agent.journal.events import MAIN
from agent.loop.plan import SIDE_BY_SIDE
from agent.tools.context import LeftPage
from agent.tools.policy import Policy
from browser.errors import BrowserError
from browser.net.url import origin

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from agent.journal.events import Event
    from agent.journal.runs import RunFolder
    from agent.protocol.results import CallResult
    from agent.tools.context import Record, ToolContext, Web
    from agent.tools.registry import Registry
    from agent.types import ToolCall
    from browser.page.content import Items, Stored


TABS: Final = "urchinTabs"
"""The field of the state that only we write and read."""
PAGE_OPEN: Final = "page.open"
"""The event that names the page which a call left open."""


def left_open(events: list[Event], state: Path) -> dict[str, LeftPage]:
    """Tell from a record and the browser's state which page each loop had open at last."""
    opened = (event for event in events if event.type == PAGE_OPEN)
    urls = {event.place.partition("/")[0]: str(event.data["url"]) for event in opened}
    tabs = _read_state(state).get(TABS, {})
    return {loop: LeftPage(url, _session_of(tabs.get(loop), url)) for loop, url in urls.items()}


def _session_of(tab: dict[str, Any] | None, url: str) -> Items:
    """Give what a loop's tab had stored for the site of the page that it had open."""
    if tab is None or tab["origin"] != origin(url):
        return ()
    return tuple((row["name"], row["value"]) for row in tab["sessionStorage"])


class LeftOpen:
    """Keeps what each step of a run leaves open.

    `start` is the state that the browser began with, as `--storage-state` names it.
    """

    def __init__(self, folder: RunFolder, record: Record, start: Path | None = None) -> None:
        self._folder = folder
        self._record = record
        self._start = start
        self._origins: dict[str, dict[str, Any]] | None = None
        self._tabs: dict[str, dict[str, Any]] = {}
        self._urls: dict[str, str] = {}
        self._kept = ""
        self._lock = asyncio.Lock()

    async def keep(self, web: Web | None, place: str) -> None:
        """Keep what stands after a call; a page that does not answer changes nothing."""
        if web is None or web.tab is None:
            return
        loop, url = place.partition("/")[0], web.tab.url
        if self._urls.get(loop) != url:
            self._urls[loop] = url
            self._record(PAGE_OPEN, place, url=url)
        if web.attached:
            return  # the person's own profile is theirs to keep
        try:
            stored = await web.tab.stored()
        except BrowserError:
            return
        async with self._lock:
            await asyncio.to_thread(self._write, stored, loop)

    def _write(self, stored: Stored, loop: str) -> None:
        if self._origins is None:
            before = _read_state(self._start)
            self._origins = {row["origin"]: row for row in before.get("origins", [])}
            self._tabs = dict(before.get(TABS, {}))
        if stored.origin:
            self._origins[stored.origin] = {
                "origin": stored.origin,
                "localStorage": _rows(stored.items),
                "indexedDB": list(stored.databases),
            }
            session = _rows(stored.session)
            self._tabs[loop] = {"origin": stored.origin, "sessionStorage": session}
        origins = list(self._origins.values())
        state = {"cookies": stored.cookies, "origins": origins, TABS: self._tabs}
        text = json.dumps(state)
        if text != self._kept:
            self._folder.write(self._folder.browser_state, text.encode())
            self._kept = text


def _rows(items: Items) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in items]


def _read_state(path: Path | None) -> dict[str, Any]:
    """Read the state that the browser was started with; Playwright has read it before."""
    if path is None or not path.is_file():
        return {}
    state: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return state


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
            limits = context.limits.model_copy(update={"max_sources": most})
            context = replace(context, limits=limits, evidence=context.evidence.part(int(loop)))
        if context.web is None:
            return context
        if loop == MAIN:
            context.web.left_open = left
            return context
        web = replace(context.web, tab=None, left_open=left, lock=asyncio.Lock())
        return replace(context, web=web)
