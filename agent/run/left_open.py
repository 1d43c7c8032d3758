"""The browser of a run as each step leaves it, so that a resumed run can take it up.

The record names the addresses of open pages. Cookies and local storage are secrets: they lie in a
file of their own beside the record, for its owner alone, which no export or archive takes along and
which is deleted when the run comes to its end.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, Final

from browser.errors import BrowserError

if TYPE_CHECKING:
    from pathlib import Path

    from agent.journal import Event, RunFolder
    from agent.tools import Web
    from agent.tools.context import Record
    from browser.page.storage import Stored

PAGE_OPEN: Final = "page.open"
"""The event that names the page which a call left open."""


def left_open(events: list[Event]) -> dict[str, str]:
    """Tell from a record which page each loop had open at last."""
    opened = (event for event in events if event.type == PAGE_OPEN)
    return {event.place.partition("/")[0]: str(event.data["url"]) for event in opened}


class LeftOpen:
    """Keeps what each step of a run leaves open.

    `start` is the state that the browser began with, as `--storage-state` names it.
    """

    def __init__(self, folder: RunFolder, record: Record, start: Path | None = None) -> None:
        self._folder = folder
        self._record = record
        self._start = start
        self._origins: dict[str, list[dict[str, str]]] | None = None
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
            await asyncio.to_thread(self._write, stored)

    def _write(self, stored: Stored) -> None:
        if self._origins is None:
            self._origins = _origins_in(self._start)
        if stored.origin:
            items = [{"name": name, "value": value} for name, value in stored.items]
            self._origins[stored.origin] = items
        origins = [{"origin": o, "localStorage": items} for o, items in self._origins.items()]
        text = json.dumps({"cookies": stored.cookies, "origins": origins})
        if text != self._kept:
            self._folder.write_browser_state(text)
            self._kept = text


def _origins_in(path: Path | None) -> dict[str, list[dict[str, str]]]:
    """Read the local storage that the browser was started with; Playwright has read it before."""
    if path is None or not path.is_file():
        return {}
    state: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return {row["origin"]: row["localStorage"] for row in state.get("origins", [])}
