"""The process of one run: `research` or `resume_run`, its events and questions sent to the server.

Why a process each, and not many runs over one event loop: reading pages is work for a processor
(parsing, ranking), and one long page would hold up every watcher of every other run; a run that is
stopped, crashes or takes a gigabyte ends alone, and gives its memory back. The processes are forked
from one that has imported everything (`forkserver`), so that beginning one costs milliseconds, and
what they share is in memory once. Where there is no fork (Windows) each imports anew.
"""

from __future__ import annotations

import asyncio
import base64
import gc
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

# What a run needs at its beginning, so that it is there when a process is forked.
import sqlalchemy.dialects.sqlite  # noqa: F401

from agent.errors import ResearchError
from agent.guard.provenance import Provenance
from agent.journal.events import TRANSIENT
from agent.journal.runs import Runs
from agent.run.research import research
from agent.run.resume import resume_run
from agent.serve.worker_connection import WorkerConnection
from browser.errors import BrowserError

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator, Coroutine

    from agent.journal.events import Event
    from agent.tools.context import ToolContext
    from agent.types import Report
    from browser.page.tab import Tab


def main(line: socket.socket) -> None:
    """Do the one job that comes over the socket."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is for the server
    gc.freeze()  # a collection would copy every page that is shared with the other runs
    Provenance("before anybody waits")  # the stems that each run compares with are made once
    asyncio.run(_work(line))


async def _work(line: socket.socket) -> None:
    connection = await WorkerConnection.open(line)
    messages = connection.messages()
    job = await anext(messages, None)
    if job is not None:  # else the server ended before it had any
        with suppress(asyncio.CancelledError):
            await RunWorker(job, connection).run(messages)


class RunWorker:
    """A run, and its connection to the server, behind which a person may be."""

    def __init__(self, job: dict[str, Any], connection: WorkerConnection) -> None:
        self._job = job
        self._connection = connection
        self._context: ToolContext | None = None
        self._looks: set[asyncio.Task[None]] = set()  # held, or they would be collected

    async def run(self, messages: AsyncIterator[dict[str, Any]]) -> None:
        """Research to the end while `messages` are handled; one may stop it."""
        run = asyncio.ensure_future(self._research())
        handling = asyncio.create_task(self._handle(messages, run))
        try:
            await run
            if self._context is not None and self._context.hints:
                self._connection.send(unread=self._context.hints)
        except ResearchError as error:
            refused = {"type": type(error).__name__, "message": str(error), "hint": error.hint}
            self._connection.send(refused=refused)
        finally:
            handling.cancel()
            with suppress(ConnectionError):  # a server that was killed hears nothing any more
                await self._connection.drain()

    def _research(self) -> Coroutine[Any, Any, Report]:
        job, flags = self._job, self._job["flags"]
        hooks: dict[str, Any] = {"on_event": self._on_event, "opened": self._on_open}
        if job["attended"]:
            hooks |= {"approve": self._approve, "ask": self._ask}
        if job["resume"]:
            folder = Runs(Path(flags["data_dir"])).find(job["resume"])
            return resume_run(folder, **hooks, **flags)
        return research(job["question"], config=True, **hooks, **flags)

    def _on_event(self, event: Event) -> None:
        """Send an event that the journal does not keep; the others the server reads there."""
        if event.type in TRANSIENT:
            delta = {"type": event.type, "place": event.place, "data": event.data}
            self._connection.send(delta=delta)
            return
        if event.type in ("run.started", "run.resumed") or event.seq == 0:
            self._connection.send(run=event.data.get("run", ""))
        self._connection.send(wrote=event.seq)

    def _on_open(self, context: ToolContext) -> None:
        """Keep the tools' context; a person who sees the page in the view can act there."""
        self._context = context
        if self._job["attended"] and context.web is not None:
            context.web.is_visible = True

    async def _approve(self, effect: str) -> bool | str:
        answer = await self._connection.request(question={"kind": "approve", "what": effect})
        return "site" if answer == "site" else answer is True or answer == "yes"

    async def _ask(self, question: str) -> str:
        answer = await self._connection.request(question={"kind": "ask", "what": question})
        return str(answer)

    async def _handle(
        self, messages: AsyncIterator[dict[str, Any]], run: asyncio.Future[Report]
    ) -> None:
        async for message in messages:
            if "stop" in message:
                break
            if "hint" in message and self._context is not None:
                self._context.hints.append(str(message["hint"]))
            elif "look" in message:
                looking = asyncio.create_task(self._look(message["n"], **message["look"]))
                self._looks.add(looking)
                looking.add_done_callback(self._looks.discard)
        run.cancel()

    async def _look(self, number: int, *, refs: bool, act: dict[str, Any] | None) -> None:
        """Reply with a picture of the open page; with `act`, after a person's act there."""
        tab: Tab | None = self._context.web.tab if self._context and self._context.web else None
        try:
            if tab is None:
                raise BrowserError("no page is open")
            if act is not None:
                await act_by_hand(tab, act)
            reply = await picture_of(tab, refs=refs)
        except BrowserError as error:
            reply = {"error": str(error)}
        self._connection.send(n=number, reply=reply)


async def picture_of(tab: Tab, *, refs: bool) -> dict[str, Any]:
    """A screenshot of what is in view as JSON, with `refs` drawn on it."""
    if refs:
        picture = (await tab.marked_pictures())[0]
    else:
        tab.check_alive()
        picture = await tab.screenshot()
    size = tab.page.viewport_size or {"width": 0, "height": 0}
    kind = "image/png" if picture.startswith(b"\x89PNG") else "image/jpeg"
    body = base64.b64encode(picture).decode()
    return {"url": tab.url, "kind": kind, "picture": body, **size}


async def act_by_hand(tab: Tab, act: dict[str, Any]) -> None:
    """Do in the page what a person did in its picture: `click`, `text`, `keys` or `scroll`.

    It goes past the agent: a person logs in or takes a captcha down, and no model sees what.
    """
    kind = act["kind"]
    if kind == "click":
        await tab.page.mouse.click(act["x"], act["y"])
    elif kind == "text":
        await tab.page.keyboard.insert_text(act["text"])
    elif kind == "keys":
        await tab.press(act["text"])
    else:
        await tab.page.mouse.wheel(0, act["y"])
    await tab.settle()
