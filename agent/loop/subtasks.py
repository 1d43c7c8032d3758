"""Tool calls in parallel loops. Each loop has its own page, which is saved for resuming."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from agent.journal.events import MAIN
from agent.loop.plan import MAX_CONCURRENT
from agent.tools.context import InterruptedPage
from agent.tools.policy import Policy
from browser.errors import BrowserError
from browser.net.url import origin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from agent.guard.saved_logins import LoginsInUse
    from agent.journal.events import Event
    from agent.journal.runs import RunFolder
    from agent.tools.context import Record, ToolContext, Web
    from agent.tools.registry import Registry
    from agent.types import Observation, ToolCall
    from browser.page.content import BrowserStorage


TABS_KEY: Final = "urchinTabs"
"""A field added to Playwright's storage state: the session storage of each loop's tab."""
PAGE_OPEN: Final = "page.open"
"""The event that records the page that a call left open."""
MIN_SOURCES: Final = 3
"""Minimum number of pages that a loop may read: with fewer, it cannot compare sources."""


class SubtaskCalls:
    """Makes each call in the context of its loop, and saves the page that the call leaves open.

    `interrupted_pages` maps each loop of a killed run, by place, to the page that it had open.
    """

    def __init__(
        self,
        tools: Registry,
        context: ToolContext,
        saved: SavedPages,
        interrupted_pages: Mapping[str, InterruptedPage],
    ) -> None:
        self._tools = tools
        self._context = context
        self._saved = saved
        self._interrupted_pages = interrupted_pages
        self._loops: dict[str, tuple[ToolContext, Policy]] = {}

    async def run(self, call: ToolCall, place: str) -> Callable[[], Observation]:
        """Make a call; the first part of its place identifies the loop."""
        loop = place.partition("/")[0]
        if loop not in self._loops:
            context = self._context_of(loop)
            self._loops[loop] = context, Policy(self._tools, context)
        context, policy = self._loops[loop]
        finish = await policy.run(call, place)
        await self._saved.save(context.web, place)
        return finish

    def _context_of(self, loop: str) -> ToolContext:
        """Return the run's context for the main loop, or a copy without an open page for a subtask.

        Each subtask numbers its sources separately and has its own share of `max_sources`, so that
        the results do not depend on which loop is faster.
        """
        context, interrupted = self._context, self._interrupted_pages.get(loop)
        if loop == MAIN:
            if context.web is not None:
                context.web.interrupted_page = interrupted
            return context
        most = max(MIN_SOURCES, context.max_sources // MAX_CONCURRENT)
        web = context.web
        if web is not None:  # its own tab and lock, so that loops do not block each other
            web = replace(web, tab=None, interrupted_page=interrupted, lock=asyncio.Lock())
        evidence = context.evidence.for_loop(int(loop))
        return replace(context, max_sources=most, evidence=evidence, web=web)


class SavedPages:
    """Saves each loop's open page, and the browser's storage state.

    `start` is the `--storage-state` file with which the browser was started. Data of sites with
    saved `logins` is encrypted and stored with these logins rather than in the folder.
    """

    def __init__(
        self,
        folder: RunFolder,
        record: Record,
        start: Path | None = None,
        logins: LoginsInUse | None = None,
    ) -> None:
        self._folder = folder
        self._record = record
        self._start = start
        self._logins = logins
        self._origins: dict[str, dict[str, Any]] | None = None
        self._tabs: dict[str, dict[str, Any]] = {}
        self._urls: dict[str, str] = {}
        self._written = ""
        self._lock = asyncio.Lock()

    async def save(self, web: Web | None, place: str) -> None:
        """Save the state after a call, unless the page does not respond."""
        if web is None or web.tab is None:
            return
        loop, url = place.partition("/")[0], web.tab.url
        if self._urls.get(loop) != url:
            self._urls[loop] = url
            self._record(PAGE_OPEN, place, url=url)
        if web.attached:
            return  # do not save the storage of the user's own browser
        try:
            stored = await web.tab.storage()
        except BrowserError:
            return
        async with self._lock:  # several loops may finish a call at the same time
            await asyncio.to_thread(self._write, stored, loop)

    def _write(self, stored: BrowserStorage, loop: str) -> None:
        if self._origins is None:
            before = _read_state(self._start)
            rows = [*(self._logins.state()["origins"] if self._logins else ())]
            self._origins = {row["origin"]: row for row in (*before.get("origins", []), *rows)}
            self._tabs = dict(before.get(TABS_KEY, {}))
        if stored.site:
            site = stored.site["origin"]
            self._origins[site] = stored.site
            if not (self._logins and self._logins.covers(site)):
                self._tabs[loop] = {"origin": site, "sessionStorage": stored.session}
        state = {"cookies": stored.cookies, "origins": list(self._origins.values())}
        text = json.dumps({**state, TABS_KEY: self._tabs})
        if text == self._written:  # most calls change neither cookies nor storage
            return
        self._written = text
        if self._logins:
            self._logins.renew(state)
            text = json.dumps({**self._logins.state_without(state), TABS_KEY: self._tabs})
        self._folder.write(self._folder.browser_state, text.encode())


def read_interrupted_pages(events: Iterable[Event], state: Path) -> dict[str, InterruptedPage]:
    """Read from the record and the browser's state which page each loop last had open."""
    urls = {e.place.partition("/")[0]: str(e.data["url"]) for e in events if e.type == PAGE_OPEN}
    tabs = _read_state(state).get(TABS_KEY, {})
    pages = {}
    for loop, url in urls.items():
        tab = tabs.get(loop)
        same_origin = tab is not None and tab["origin"] == origin(url)
        pages[loop] = InterruptedPage(url, tab["sessionStorage"] if same_origin else ())
    return pages


def _read_state(path: Path | None) -> dict[str, Any]:
    """Read a storage state that Playwright has validated; empty if there is no file."""
    if path is None or not path.is_file():
        return {}
    state: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return state
