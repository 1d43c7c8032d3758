"""The REST interface: ask, watch, stop, resume, read, and what is remembered."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi import Path as InPath
from fastapi.responses import StreamingResponse

from agent.config import Options, private_folder
from agent.errors import NotFound, ResearchError, UsageError
from agent.export import FORMATS, writer
from agent.export.compare_runs import compare
from agent.export.run_record import report_of
from agent.journal.runs import RunFolder, Runs
from agent.journal.usage import usage as add_up
from agent.memory.kinds import INTERNAL
from agent.memory.memory_api import Memory
from agent.memory.memory_types import Hit
from agent.run.settings import memory_of
from agent.serve.desk import Desk, LiveRun
from agent.serve.forms import (
    ActForm,
    AnswerForm,
    AskForm,
    Begun,
    Done,
    GraphLink,
    Hex,
    HintForm,
    MemoryGraph,
    MemoryRow,
    RememberForm,
    ResumeForm,
    RunState,
    TagsForm,
)
from agent.serve.library import Library, RunRow

Name = Annotated[str, InPath(pattern=r"^[\w-]{1,80}$", description="A run's id, or `last`.")]
Id = Annotated[int, InPath(ge=1, le=2**62)]
Limit = Annotated[int, Query(ge=1, le=500)]
_KINDS = {
    ".md": "text/markdown; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".pdf": "application/pdf",
    ".json": "application/json",
    ".xml": "application/xml",
    ".zip": "application/zip",
}
_AGAIN = (
    "depth report site since lang budget timeout max_steps max_sources schema corpus".split()
)  # fmt: skip


class Office:
    """What the ways in share: the desk, the library, the memory, and the server's own settings.

    `folders` are those that a question may be asked of, by name.
    """

    def __init__(self, options: Options, flags: dict[str, Any], at_once: int) -> None:
        self.options = options
        self.flags = flags
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
                self._memory = await asyncio.to_thread(memory_of, self.options, os.environ)
            return self._memory

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

    def state(self, row: RunRow) -> RunState:
        """Say how a run stands now."""
        live = self.desk.live.get(row.run)
        told = asdict(row) | ({"status": "at work"} if live else {})
        return RunState(**told, asked=list(live.asked.values()) if live else [])


def began_with(folder: RunFolder) -> dict[str, Any]:
    """Read the first event of a run; empty where there is none."""
    with folder.journal.open("rb") as file:
        try:
            first = json.loads(file.readline())
        except ValueError:
            return {}
    data = first.get("data")
    return data if isinstance(data, dict) else {}


def events_response(office: Office, folder: RunFolder, after: int) -> Response:
    """Tell the events of a run behind one; 204, which ends an EventSource, where none will come."""
    tail = office.desk.tail(folder)
    tail.read()
    if tail.over and not any(f.seq is not None and f.seq > after for f in tail.frames):
        return Response(status_code=204)
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(tail.watch(after), media_type="text/event-stream", headers=headers)


def run_routes(office: Office) -> APIRouter:  # noqa: C901, PLR0915 - a list of routes
    """Make the routes of runs."""
    api = APIRouter(prefix="/api", tags=["runs"])

    def begun(live: LiveRun, response: Response) -> Begun:
        at = f"/api/runs/{live.id}"
        response.headers["location"] = at
        return Begun(run=live.id, events=f"{at}/events")

    @api.post("/runs", status_code=201)
    async def ask(form: AskForm, response: Response) -> Begun:
        """Ask a question; the run goes on whoever watches."""
        return begun(await office.ask(form), response)

    @api.get("/runs")
    async def runs(
        q: Annotated[str, Query(max_length=400)] = "",
        tag: Annotated[str, Query(max_length=40)] = "",
        session: Annotated[str, Query(max_length=200)] = "",
        limit: Limit = 50,
        skip: Annotated[int, Query(ge=0, le=10**6)] = 0,
    ) -> list[RunState]:
        """List runs, newest first; `q` searches questions, answers and sources."""
        found = await asyncio.to_thread(
            office.library.search, q, tag, session, limit=limit, skip=skip
        )
        return [office.state(row) for row in found]

    @api.get("/runs/{run}/report", response_class=Response, responses=_JSON)
    async def report(run: Name) -> Response:
        """Give the report as `research show --json` prints it, to the byte."""
        made = await asyncio.to_thread(report_of, office.find(run))
        return Response(f"{made.to_json()}\n", media_type="application/json")

    @api.get("/runs/{run}/events", response_class=Response, responses=_EVENTS)
    async def events(
        run: Name,
        after: Annotated[int, Query(ge=-1, le=2**62)] = -1,
        last_event_id: Annotated[str | None, Header(max_length=20)] = None,
    ) -> Response:
        """Tell the events of a run as they are written: lines of the journal, each with its number.

        A client that names the last one it has (`Last-Event-ID`, or `after`) misses none. What has
        no number passes: pieces of a reply (`model.delta`), questions (`asked`, `answered`), hints
        that came too late (`hint.unread`). Ends with the event `end`.
        """
        if last_event_id is not None and last_event_id.isdecimal() and last_event_id.isascii():
            after = int(last_event_id)
        return events_response(office, office.find(run), after)

    @api.post("/runs/{run}/stop")
    async def stop(run: Name) -> Done:
        """Stop a run: it answers from what is known, and can be resumed."""
        await office.desk.stop(office.at_work(run))
        return Done()

    @api.post("/runs/{run}/resume", status_code=201)
    async def resume(run: Name, form: ResumeForm, response: Response) -> Begun:
        """Go on with a run that was stopped or cut off, or whose limit was reached."""
        limits = form.model_dump(exclude={"attended"}, exclude_none=True)
        live = await office.desk.resume(office.find(run), limits, attended=form.attended)
        return begun(live, response)

    @api.post("/runs/{run}/again", status_code=201)
    async def again(run: Name, response: Response) -> Begun:
        """Ask the same question again, as a run of its own; `diff` then tells what changed."""
        return begun(await office.again(office.find(run), attended=False), response)

    @api.post("/runs/{run}/hint")
    async def hint(run: Name, form: HintForm) -> Done:
        """Say something to the model of a run that is at work."""
        office.at_work(run).tell(hint=form.hint)
        return Done()

    @api.post("/runs/{run}/answer")
    async def answer(run: Name, form: AnswerForm) -> Done:
        """Answer what a run asks."""
        live = office.at_work(run)
        if form.n not in live.asked:
            raise NotFound(f"{run} does not ask that any more")
        live.tell(n=form.n, answer=form.answer)
        return Done()

    @api.get("/runs/{run}/look")
    async def look(run: Name, refs: bool = False) -> dict[str, Any]:  # noqa: FBT001, FBT002 - a query
        """Take a picture of the page that a run has open, with the refs drawn on it if asked."""
        seen: dict[str, Any] = await office.at_work(run).look(refs=refs)
        return seen

    @api.post("/runs/{run}/act")
    async def act(run: Name, form: ActForm) -> dict[str, Any]:
        """Do something by hand in the page that a run has open; gives the picture afterwards."""
        seen: dict[str, Any] = await office.at_work(run).look(act=form.model_dump())
        return seen

    @api.get("/runs/{run}/pictures/{digest}", response_class=Response, responses=_PICTURE)
    async def picture(run: Name, digest: Hex) -> Response:
        """Give a picture that a run recorded."""
        body = _kept(office.find(run), digest)
        if not body.startswith((b"\x89PNG", b"\xff\xd8\xff")):
            raise NotFound("that is no picture")
        kind = "image/png" if body.startswith(b"\x89PNG") else "image/jpeg"
        return Response(body, media_type=kind, headers={"cache-control": "private, max-age=86400"})

    @api.get("/runs/{run}/export", response_class=Response, responses=_FILE)
    async def export(run: Name, form: Annotated[str, Query(max_length=30)] = ".md") -> Response:
        """Write a run as `.md`, `.html`, `.pdf`, `.docx`, `.bib`, `.zip` and more."""
        folder = office.find(run)
        write = writer(Path(f"x{form}")) if form in FORMATS else None
        if write is None:
            raise UsageError(f"{form!r} is no form", hint=f"There are {' '.join(FORMATS)}.")
        body = await asyncio.to_thread(write, folder.path)
        kind = _KINDS.get(form, "application/octet-stream")
        named = f'attachment; filename="{folder.id}{form}"'
        return Response(body, media_type=kind, headers={"content-disposition": named})

    @api.get("/runs/{run}/diff/{other}")
    async def diff(run: Name, other: Name) -> dict[str, Any]:
        """Hold two runs against each other: answers, sources, steps."""
        return asdict(await asyncio.to_thread(compare, office.find(run), office.find(other)))

    @api.put("/runs/{run}/tags")
    async def tag(run: Name, form: TagsForm) -> TagsForm:
        """Give a run these tags in place of those it has."""
        tags = await asyncio.to_thread(office.library.tag, office.find(run), form.tags)
        return TagsForm(tags=list(tags))

    @api.delete("/runs/{run}")
    async def remove(run: Name) -> Done:
        """Delete a run with all its pages, for good."""
        folder = office.find(run)
        if folder.id in office.desk.live:
            raise UsageError(f"{folder.id} is at work", hint="Stop it first.")
        await asyncio.to_thread(Runs.remove, office.desk.runs, folder)
        return Done()

    @api.get("/runs/{run}")
    async def one(run: Name) -> RunState:
        """Say how a run stands."""
        folder = office.find(run)
        found = await asyncio.to_thread(office.library.one, folder)
        return office.state(found)

    @api.get("/usage")
    async def used() -> list[dict[str, Any]]:
        """Add up calls, tokens and dollars by day and model."""
        return [asdict(line) for line in await asyncio.to_thread(add_up, office.desk.runs)]

    return api


def _kept(folder: RunFolder, digest: str) -> bytes:
    try:
        return folder.blob(digest)
    except ResearchError as error:
        raise NotFound(str(error)) from error


_JSON: dict[int | str, dict[str, Any]] = {200: {"content": {"application/json": {}}}}
_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {}}},
    204: {"description": "It is over, and all was told."},
}
_PICTURE: dict[int | str, dict[str, Any]] = {200: {"content": {"image/png": {}, "image/jpeg": {}}}}
_FILE: dict[int | str, dict[str, Any]] = {200: {"content": {"*/*": {}}}}


def memory_routes(office: Office) -> APIRouter:
    """Make the routes of what is remembered."""
    api = APIRouter(prefix="/api/memory", tags=["memory"])

    @api.get("")
    async def listed(
        q: Annotated[str, Query(max_length=400)] = "",
        kind: Annotated[str, Query(max_length=40)] = "",
        limit: Limit = 50,
    ) -> list[MemoryRow]:
        """Search what is remembered; without words the newest."""
        found = await remembered(await office.memory(), q, kind, limit)
        return [row_of(hit) for hit in found]

    @api.get("/graph")
    async def graph() -> MemoryGraph:
        """Give the memories that have the most links, and the links among them."""
        found = await asyncio.to_thread((await office.memory()).graph)
        links = [
            GraphLink(one=k.one, other=k.other, kind=k.kind, strength=k.strength)
            for k in found.links
        ]
        return MemoryGraph(memories=[row_of(hit) for hit in found.memories], links=links)

    @api.post("", status_code=201)
    async def remember(form: RememberForm) -> Done:
        """Keep a value under a key."""
        memory = await office.memory()
        await asyncio.to_thread(memory.remember, form.key, form.value)
        return Done()

    @api.get("/{number}")
    async def one(number: Id) -> MemoryRow:
        """Give one memory whole."""
        return row_of(await _hit(await office.memory(), number))

    @api.delete("/{number}")
    async def forget(number: Id) -> Done:
        """Forget a memory for good."""
        memory = await office.memory()
        hit = await _hit(memory, number, own=True)
        await asyncio.to_thread(memory.delete, [hit.id])
        return Done()

    @api.post("/{number}/trust")
    async def trust(number: Id) -> Done:
        """Take a memory for the person's own word."""
        memory = await office.memory()
        await asyncio.to_thread(memory.trust, (await _hit(memory, number, own=True)).id)
        return Done()

    return api


async def remembered(memory: Memory, query: str, kind: str, limit: int) -> list[Hit]:
    """Search what is remembered; without words the newest first, the engine's counters left out."""
    kinds = [kind] if kind else None
    if query.strip():
        return await asyncio.to_thread(memory.search, query, limit, kinds)
    newest = await asyncio.to_thread(memory.newest, kinds, limit)
    return [hit for hit in newest[::-1] if kind or hit.kind != INTERNAL]


async def _hit(memory: Memory, number: int, *, own: bool = False) -> Hit:
    hit = await asyncio.to_thread(memory.get, number)
    if hit is None:
        raise NotFound(f"no memory has the id {number}")
    if own and hit.shared:
        raise UsageError(f"{number} is shared by all", hint="Change it in the namespace `shared`.")
    return hit


def row_of(hit: Hit) -> MemoryRow:
    """Write a memory as it goes out."""
    return MemoryRow(
        id=hit.id,
        key=hit.key,
        kind=hit.kind,
        text=hit.text,
        at=hit.at.isoformat() if hit.at else None,
        run=hit.origin.run,
        url=hit.origin.url,
        trusted=hit.origin.trusted,
        shared=hit.shared,
        score=round(hit.score, 3),
    )


def wants_page(request: Request) -> bool:
    """Tell a browser that opens a page from a program."""
    return "text/html" in request.headers.get("accept", "")
