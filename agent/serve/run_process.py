"""One run in a process of its own, and what it tells the server over a socket.

Why a process each, and not many runs over one event loop: reading pages is work for a processor
(parsing, ranking), and one long page would hold up every watcher of every other run; a run that is
stopped, crashes or takes a gigabyte ends alone, and gives its memory back. The processes are forked
from one that has imported everything (`forkserver`), so that beginning one costs milliseconds, and
what they share is in memory once. Where there is no fork (Windows) each imports anew.

Lines of JSON, in both directions. To the worker: the job first, then `stop`, `answer`, `hint`,
`look`, `act`; the end of the stream means stop. From it: `run` (its id), `wrote` (the journal
grew), `delta`, `asked`, `answered`, `seen`, `refused` and `over`.
"""

from __future__ import annotations

import asyncio
import base64
import gc
import json
import signal
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy.dialects.sqlite  # noqa: F401

# What a run needs at its beginning, so that it is there when a process is forked.
from agent.errors import ResearchError
from agent.guard.provenance import Provenance
from agent.journal.events import PASSING
from agent.journal.runs import Runs
from agent.run.research import research
from agent.run.resume import resume_run
from agent.serve.desk import LONGEST_LINE
from browser.errors import BrowserError

if TYPE_CHECKING:
    import socket
    from collections.abc import Awaitable

    from agent.journal.events import Event
    from agent.tools.context import ToolContext
    from agent.types import Report
    from browser.page.tab import Tab


def main(line: socket.socket) -> None:
    """Do the one job that comes over the socket."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is for the server
    gc.freeze()  # a collection would copy every page that is shared with the other runs
    Provenance("before anybody waits")  # the stems that each run compares with are made once
    asyncio.run(_serve(line))


async def _serve(line: socket.socket) -> None:
    reader, writer = await asyncio.open_connection(sock=line, limit=LONGEST_LINE)
    job = await reader.readline()
    if job:  # else the server ended before it had any
        with suppress(asyncio.CancelledError):
            await WorkerRun(json.loads(job), writer).to_end(reader)


@dataclass(slots=True)
class WorkerRun:
    """A run, and the person who may be behind the server."""

    job: dict[str, Any]
    writer: asyncio.StreamWriter
    _context: ToolContext | None = None
    _waiting: dict[int, asyncio.Future[Any]] = field(default_factory=dict)
    _asked: int = 0
    _seen: set[asyncio.Task[None]] = field(default_factory=set)

    async def to_end(self, reader: asyncio.StreamReader) -> None:
        """Work, and listen; the last line says how it ended."""
        run = asyncio.ensure_future(self._run())
        listening = asyncio.create_task(self._listen(reader, run))
        try:
            await run
            if self._context is not None and self._context.hints:
                self._tell(unread=self._context.hints)
            self._tell(over=True)
        except ResearchError as error:
            told = {"type": type(error).__name__, "message": str(error), "hint": error.hint}
            self._tell(refused=told)
        except asyncio.CancelledError:
            self._tell(over=True)
        finally:
            listening.cancel()
            with suppress(ConnectionError):  # a server that was killed hears nothing any more
                await self.writer.drain()

    def _run(self) -> Awaitable[Report]:
        job = self.job
        attended = {"approve": self._approve, "ask": self._ask} if job["attended"] else {}
        how: dict[str, Any] = {"on_event": self._note, "opened": self._opened, **attended}
        if job["resume"]:
            folder = Runs(Path(job["flags"]["data_dir"])).find(job["resume"])
            return resume_run(folder, **how, **job["flags"])
        return research(job["question"], config=True, **how, **job["flags"])

    def _tell(self, **line: Any) -> None:
        if not self.writer.is_closing():
            self.writer.write(json.dumps(line, default=str).encode() + b"\n")

    def _note(self, event: Event) -> None:
        """Take an event of the journal; what is not kept goes to the server itself."""
        if event.type in PASSING:
            self._tell(delta={"type": event.type, "place": event.place, "data": event.data})
            return
        if event.type in ("run.started", "run.resumed") or event.seq == 0:
            self._tell(run=event.data.get("run", ""))
        self._tell(wrote=event.seq)

    def _opened(self, context: ToolContext) -> None:
        """Take the means of the run: a person who sees its page in the view can act there."""
        self._context = context
        if self.job["attended"] and context.web is not None:
            context.web.in_sight = True

    async def _approve(self, what: str) -> bool | str:
        said = await self._question("approve", what)
        return "site" if said == "site" else said is True or said == "yes"

    async def _ask(self, question: str) -> str:
        return str(await self._question("ask", question))

    async def _question(self, kind: str, what: str) -> Any:
        self._asked += 1
        number = self._asked
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._tell(asked={"n": number, "kind": kind, "what": what})
        try:
            return await answer
        finally:
            del self._waiting[number]
            self._tell(answered=number)

    async def _listen(self, reader: asyncio.StreamReader, run: asyncio.Future[Report]) -> None:
        while line := await reader.readline():
            said = json.loads(line)
            if "stop" in said:
                break
            if "answer" in said:
                waiting = self._waiting.get(said["n"])
                if waiting is not None and not waiting.done():
                    waiting.set_result(said["answer"])
            elif "hint" in said and self._context is not None:
                self._context.hints.append(str(said["hint"]))
            elif "look" in said or "act" in said:
                task = asyncio.create_task(self._look_or_act(said))
                self._seen.add(task)
                task.add_done_callback(self._seen.discard)
        run.cancel()

    async def _look_or_act(self, said: dict[str, Any]) -> None:
        tab: Tab | None = self._context.web.tab if self._context and self._context.web else None
        try:
            if tab is None:
                raise BrowserError("no page is open")
            if "act" in said:
                await by_hand(tab, said["act"])
            seen = await look(tab, refs=bool(said.get("refs")))
        except BrowserError as error:
            seen = {"error": str(error)}
        self._tell(seen={"n": said["n"], **seen})


async def look(tab: Tab, *, refs: bool) -> dict[str, Any]:
    """Take a picture of what is in view, with the refs drawn on it where that is asked for."""
    if refs:
        picture = (await tab.marked_pictures())[0]
    else:
        tab.check_alive()
        picture = await tab.screenshot()
    size = tab.page.viewport_size or {"width": 0, "height": 0}
    kind = "image/png" if picture.startswith(b"\x89PNG") else "image/jpeg"
    body = base64.b64encode(picture).decode()
    return {"url": tab.url, "kind": kind, "picture": body, **size}


async def by_hand(tab: Tab, act: dict[str, Any]) -> None:
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
