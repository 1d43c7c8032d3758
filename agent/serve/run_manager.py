"""Starts, watches, controls and stops the server's runs, which share a separate thread.

All runs share one event loop, and thus one browser process. The server uses a different loop:
reading pages is CPU-intensive (parsing, ranking) and would delay everyone who watches a run.
"""

from __future__ import annotations

import asyncio
import base64
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import count
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

from agent.errors import ResearchError, UsageError
from agent.journal.events import TRANSIENT_EVENTS, utc_now
from agent.journal.runs import RunFolder, Runs, new_id
from agent.serve.event_stream import EventStream
from browser.errors import BrowserError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping
    from pathlib import Path

    from agent.journal.events import Event
    from agent.tools.context import ToolContext
    from agent.types import Report
    from browser.page.tab import Tab

    StartRun = Callable[..., Coroutine[Any, Any, Report]]
    """Starts a run, like `research` and `resume_run`."""

STOP_SECONDS: Final = 8.0
"""Seconds to wait for a stopping run to close its browser and write its last event."""
PAGE_RESPONSE_SECONDS: Final = 30.0
"""Seconds to wait for a page: a loading page responds when it is done, a hanging page never does.
"""


class Busy(ResearchError):
    """Raised if `at_once` runs are already active."""

    hint = "Wait until a run ends, or stop one. `research serve --at-once N` allows more runs."


MAX_BLOCKING_CALLS: Final = 32
"""Number of threads for blocking work outside the event loop: parsing, files, databases."""


class RunThread:
    """The thread and event loop that all runs share; started with the first run."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = asyncio.Event()
        self._closed: Future[None] = Future()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The event loop of the runs."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._loop.set_default_executor(ThreadPoolExecutor(MAX_BLOCKING_CALLS))
            # A daemon thread, so that a hanging run does not keep the server from exiting.
            Thread(target=self._work, args=(self._loop,), name="runs", daemon=True).start()
        return self._loop

    async def close(self) -> None:
        """Stop the browsers and the event loop; the runs must have ended."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._loop = None
            with suppress(TimeoutError):
                async with asyncio.timeout(STOP_SECONDS):
                    await asyncio.wrap_future(self._closed)

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(self._keep_browsers())
        self._closed.set_result(None)

    async def _keep_browsers(self) -> None:
        from browser.session.launch import keep_browsers  # noqa: PLC0415 - large, needed only by runs

        async with keep_browsers():
            await self._stopping.wait()


class ActiveRun:
    """A run in the run thread, with its open `questions` to the user by number.

    Its public methods are called from the server's event loop. `attended` means that a user is
    watching the run, answers its questions and sees its page. `stream` contains its events,
    including transient ones that are not in its journal.
    """

    def __init__(
        self, folder: RunFolder, loop: asyncio.AbstractEventLoop, *, attended: bool
    ) -> None:
        self.id = folder.id
        self.questions: dict[int, dict[str, Any]] = {}
        self.started, self.ended = asyncio.Event(), asyncio.Event()
        earlier = folder.journal.stat().st_size if folder.journal.exists() else 0
        self.stream = EventStream(
            folder.journal, lambda: not self.ended.is_set(), earlier_bytes=earlier
        )
        self._attended = attended
        self._replies: dict[int, asyncio.Future[bool | str]] = {}
        self._numbers = count(1)
        self._server = asyncio.get_running_loop()
        self._loop = loop  # the run thread's loop
        self._task: asyncio.Task[None] | None = None
        self._context: ToolContext | None = None

    def cancel(self) -> None:
        """Tell the run to write its last event and stop; it can be resumed."""
        if self._task is not None:
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._task.cancel)

    async def stop(self) -> None:
        """Stop the run and wait for it to end; its answer is based on the pages read so far."""
        self.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await self.ended.wait()

    def hint(self, hint: str) -> None:
        """Send a hint to the model, which receives it with the next tool result."""
        if self._context is not None:
            self._context.hints.append(hint)

    def answer(self, n: int, *, reply: bool | str) -> None:
        """Answer an open question."""
        if not self._replies[n].done():
            self._replies[n].set_result(reply)

    async def screenshot(
        self, *, refs: bool = False, act: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Take a screenshot of the open page; with `act`, first perform the user's action on it."""
        if self.ended.is_set():
            return {"error": "the run has ended"}
        looking = asyncio.run_coroutine_threadsafe(self._look(refs=refs, act=act), self._loop)
        try:
            async with asyncio.timeout(PAGE_RESPONSE_SECONDS):
                return await asyncio.wrap_future(looking)
        except TimeoutError:
            return {"error": "the page does not respond"}

    def _handle(self, event: Event) -> None:
        if event.type in TRANSIENT_EVENTS:
            self.stream.add_transient(type=event.type, place=event.place, data=event.data)
        else:
            self.started.set()
            self.stream.read()

    async def _reply(self, kind: str, what: str) -> bool | str:
        """Wait until a question is answered, or is withdrawn by the run."""
        n = next(self._numbers)
        self._replies[n] = self._server.create_future()
        self.questions[n] = {"n": n, "kind": kind, "what": what}
        self.stream.add_transient(type="asked", data=self.questions[n])
        try:
            return await self._replies[n]
        finally:
            del self._replies[n], self.questions[n]
            self.stream.add_transient(type="answered", data={"n": n})

    # The methods below run in the run thread.

    async def run_to_end(self, start: StartRun) -> None:
        """Run to the end, or until stopped; raises the error if `start` fails."""
        hooks: dict[str, Any] = {"on_event": self._forward_event, "opened": self._keep_context}
        if self._attended:
            hooks |= {
                "approve": self._approve,
                "ask": partial(self._ask_user, "ask"),
                "edit_plan": self._edit_plan,
            }
        self._task = asyncio.current_task()
        with suppress(asyncio.CancelledError):
            await start(**hooks)
        if self._context is not None and self._context.hints:
            late = {"type": "hint.unread", "data": {"hints": self._context.hints}}
            self._server.call_soon_threadsafe(lambda: self.stream.add_transient(**late))

    def _forward_event(self, event: Event) -> None:
        with suppress(RuntimeError):  # the server has stopped, but the journal is complete
            self._server.call_soon_threadsafe(self._handle, event)

    def _keep_context(self, context: ToolContext) -> None:
        """Store the tool context, so that a user watching the page can act on it."""
        self._context = context
        if self._attended and context.web is not None:
            context.web.is_visible = True

    async def _approve(self, effect: str) -> bool | str:
        reply = await self._ask_user("approve", effect)
        return "site" if reply == "site" else reply is True or reply == "yes"

    async def _edit_plan(self, text: str) -> str | None:
        reply = await self._ask_user("plan", text)
        return reply if isinstance(reply, str) else None

    async def _ask_user(self, kind: str, what: str) -> bool | str:
        asking = asyncio.run_coroutine_threadsafe(self._reply(kind, what), self._server)
        return await asyncio.wrap_future(asking)

    async def _look(self, *, refs: bool, act: Mapping[str, Any] | None) -> dict[str, Any]:
        tab: Tab | None = self._context.web.tab if self._context and self._context.web else None
        try:
            if tab is None:
                raise BrowserError("no page is open")
            if act is not None:
                await _apply_user_action(tab, act)
            if refs:
                picture = (await tab.marked_pictures())[0]
            else:
                tab.driver.check_alive()
                picture = await tab.screenshot()
        except BrowserError as error:
            return {"error": str(error)}
        except asyncio.CancelledError:
            return {"error": "the run has ended"}
        size = tab.page.viewport_size or {"width": 0, "height": 0}
        kind = "image/png" if picture.startswith(b"\x89PNG") else "image/jpeg"
        body = base64.b64encode(picture).decode()
        return {"url": tab.url, "kind": kind, "picture": body, **size}


async def _apply_user_action(tab: Tab, act: Mapping[str, Any]) -> None:
    """Apply the user's action on a screenshot to the page: `click`, `text`, `keys` or `scroll`.

    This bypasses the agent, so the user can log in or solve a captcha without any model seeing it.
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
    await tab.driver.settle()


class RunManager:
    """All runs in a data folder, of which at most `at_once` are `active` in this process.

    `flags` apply to each run unless overridden by its question. `research` starts a run, and
    `resume_run` resumes one or researches a section of its report again.
    """

    def __init__(
        self,
        data: Path,
        flags: Mapping[str, Any],
        at_once: int,
        research: StartRun,
        resume_run: StartRun,
    ) -> None:
        self.runs = Runs(data)
        self.active: dict[str, ActiveRun] = {}
        self._thread = RunThread()
        self._flags = {**flags, "data_dir": data}
        self._at_once = at_once
        self._research, self._resume_run = research, resume_run
        # Streams of runs that are not active here, but may be written by another process.
        self._streams: dict[str, EventStream] = {}

    async def close(self) -> None:
        """Stop all active runs; each has a complete record and can be resumed."""
        running = list(self.active.values())
        # Do this first, so that a stopping server does not wait for its watchers.
        for stream in (*self._streams.values(), *(run.stream for run in running)):
            stream.close()
        await asyncio.gather(*(run.stop() for run in running))
        await self._thread.close()

    async def start(
        self, question: str, flags: Mapping[str, Any], *, attended: bool = False
    ) -> ActiveRun:
        """Start a run; returns once it has an id. Raises any error that `research` raises.

        `attended` means that a user is watching the run, answers its questions and sees its page.
        Raises `Busy`.
        """
        if not question.strip():
            raise UsageError("the question is empty")
        folder = RunFolder(self.runs.root / new_id(utc_now()))
        settings = {**self._flags, **flags, "run": folder.id, "config": True}
        return await self._launch(
            folder, partial(self._research, question, **settings), attended=attended
        )

    async def resume(
        self, folder: RunFolder, flags: Mapping[str, Any], *, attended: bool = False
    ) -> ActiveRun:
        """Resume an interrupted run; raises `UsageError` if it has ended."""
        if folder.id in self.active:
            raise UsageError(f"{folder.id} is running")
        # All other flags are taken from the run's record.
        resuming = partial(self._resume_run, folder, data_dir=self._flags["data_dir"], **flags)
        return await self._launch(folder, resuming, attended=attended)

    async def research_section(self, folder: RunFolder, heading: str) -> ActiveRun:
        """Research one section of a finished report again, in a new run that a user watches."""
        new = RunFolder(self.runs.root / new_id(utc_now()))
        data = self._flags["data_dir"]
        start = partial(self._resume_run, folder, section=heading, data_dir=data, run=new.id)
        return await self._launch(new, start, attended=True)

    async def _launch(self, folder: RunFolder, start: StartRun, *, attended: bool) -> ActiveRun:
        """Start a run; returns once it has written its first event."""
        if len(self.active) >= self._at_once:
            raise Busy(f"{self._at_once} runs are already active, which is the maximum")
        run = self.active[folder.id] = ActiveRun(folder, self._thread.loop, attended=attended)
        working = asyncio.create_task(self._work(run, start))
        starting = asyncio.create_task(run.started.wait())
        await asyncio.wait({working, starting}, return_when=asyncio.FIRST_COMPLETED)
        if not run.started.is_set():
            starting.cancel()
            await working
        return run

    async def _work(self, run: ActiveRun, start: StartRun) -> None:
        try:
            working = asyncio.run_coroutine_threadsafe(run.run_to_end(start), self._thread.loop)
            await asyncio.wrap_future(working)
        finally:
            del self.active[run.id]
            run.ended.set()
            run.stream.finish()

    def event_stream(self, folder: RunFolder) -> EventStream:
        """Return a run's event stream; the stream is discarded once it has no watchers."""
        if active := self.active.get(folder.id):
            return active.stream
        self._streams = {name: one for name, one in self._streams.items() if one.watchers}
        return self._streams.setdefault(folder.id, EventStream(folder.journal, lambda: False))
