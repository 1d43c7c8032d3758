"""What the ways into a server share: its runs, memory and jobs, and what may be asked of them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

from fastapi import Depends, Query, Request
from fastapi import Path as InPath

from agent.config import private_folder
from agent.errors import NotFound, UsageError
from agent.journal.runs import RunFolder
from agent.run.settings import open_memory
from agent.serve.desk import Desk
from agent.serve.forms import RunState
from agent.serve.library import Library, began_with

if TYPE_CHECKING:
    from agent.config import Options
    from agent.journal.events import Event
    from agent.memory.memory_api import Memory
    from agent.serve.desk import LiveRun
    from agent.serve.forms import AskForm
    from agent.serve.job_book import JobBook

T = TypeVar("T")
Told = Callable[["Event"], list[str]]
"""What an event says to a person who watches, a line each."""
Findings = Callable[[], Awaitable[list[dict[str, Any]]]]
"""What `research doctor` finds: name, well, seen, mend."""
Name = Annotated[str, InPath(pattern=r"^[\w-]{1,80}$", description="A run's id, or `last`.")]
Limit = Annotated[int, Query(ge=1, le=500)]
_AGAIN: Final = (
    "depth report site since lang budget timeout max_steps max_sources schema corpus".split()
)  # fmt: skip


class Office:
    """What the ways in share: the desk, the library, the memory, and the server's own settings.

    `folders` are those that a question may be asked of, by name. `told` puts an event into words
    for who waits, `checkup` is what `research doctor` finds, `opened` opens the jobs.
    """

    def __init__(
        self,
        options: Options,
        flags: dict[str, Any],
        *,
        at_once: int,
        told: Told,
        checkup: Findings,
        opened: Callable[[], JobBook],
    ) -> None:
        self.options = options
        self.told, self.checkup = told, checkup
        self._open_jobs = opened
        self._book: JobBook | None = None
        data = private_folder(options.data)
        named = [Path(p) for p in flags.get("folder", ())]
        named += [options.corpus] if options.corpus else []
        self.folders = {path.resolve().name: str(path.resolve()) for path in named}
        self.tab = bool(options.attach or options.cdp)
        own = {k: v for k, v in flags.items() if k not in ("folder", "attach", "cdp", "corpus")}
        self.desk = Desk(data, own, at_once)
        self.library = Library(self.desk.runs, data)
        self._memory: Memory | None = None
        self._opening = asyncio.Lock()

    async def memory(self) -> Memory:
        """Open the memory once; raises `UsageError` where the server goes without."""
        if not self.options.memory:
            raise UsageError("memory is off in this server", hint="Leave --no-memory away.")
        async with self._opening:
            if self._memory is None:
                self._memory = await asyncio.to_thread(open_memory, self.options, os.environ)
            return self._memory

    async def jobs(self, work: Callable[[JobBook], T]) -> T:
        """Do something with the jobs, in a thread; opened when first wanted: their engine is large.

        Raises `UsageError` where it is not installed.
        """
        async with self._opening:
            if self._book is None:
                self._book = await asyncio.to_thread(self._open_jobs)
        return await asyncio.to_thread(work, self._book)

    async def close(self) -> None:
        """Stop what is at work, and let the memory go."""
        await self.desk.close()
        if self._memory is not None:
            self._memory.close()

    def find(self, name: str) -> RunFolder:
        """Find a run by its whole id, or `last`; raises `NotFound`."""
        path = self.desk.runs.root / name
        if (path / "journal.jsonl").is_file():
            return RunFolder(path)
        if name == "last":
            return self.desk.runs.find(name)
        raise NotFound(f"no run {name}", hint="`/api/runs` lists them.")

    def at_work(self, name: str) -> LiveRun:
        """Find a run that is at work here; raises `NotFound`."""
        live = self.desk.live.get(self.find(name).id)
        if live is None:
            raise NotFound(
                f"{name} is not at work here", hint="It ended, or another process runs it."
            )
        return live

    def source_flags(self, source: str) -> dict[str, Any]:
        """Give the flags of a source that is offered; raises `UsageError` for any other."""
        if source == "web":
            return {}
        if source == "tab" and self.tab:
            attach: dict[str, Any] = {"attach": self.options.attach, "cdp": self.options.cdp}
            return {name: value for name, value in attach.items() if value}
        if source in self.folders:
            return {"corpus": self.folders[source], "search": ["corpus"]}
        offered = ["web", *(["tab"] if self.tab else []), *self.folders]
        raise UsageError(
            f"this server offers no source {source[:80]!r}",
            hint=f"There are: {', '.join(offered)}.",
        )

    async def ask(self, form: AskForm) -> LiveRun:
        """Begin the run of a form."""
        named = form.model_dump(by_alias=True, exclude_none=True)
        for own in ("question", "source", "continues", "attended"):
            named.pop(own, None)
        named |= self.source_flags(form.source)
        if form.continues:
            named["continue_run"] = self.find(form.continues).id
        return await self.desk.ask(form.question, named, attended=form.attended)

    async def again(self, folder: RunFolder, *, attended: bool) -> LiveRun:
        """Ask the question of a run again, as it was asked."""
        began = await asyncio.to_thread(began_with, folder)
        asked = began.get("options") or {}
        flags = {n: asked[n] for n in _AGAIN if asked.get(n) not in (None, [], False)}
        if began.get("schema"):
            flags["schema"] = began["schema"]
        return await self.desk.ask(str(began.get("question", "")), flags, attended=attended)

    def state(self, row: RunState) -> RunState:
        """Say how a run stands now."""
        live = self.desk.live.get(row.run)
        now = {"status": "at work", "asked": list(live.asked.values())} if live else {}
        return row.model_copy(update=now)


async def office_of(request: Request) -> Office:
    """Give the office of the application that a request came to."""
    office: Office = request.app.state.office
    return office


InOffice = Annotated[Office, Depends(office_of)]
