"""The REST interface of runs: ask, watch, stop, resume, read, export and compare."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Response
from fastapi.responses import StreamingResponse

from agent.errors import NotFound, ResearchError, UsageError
from agent.export import FORMATS, writer
from agent.export.compare_runs import compare
from agent.export.run_record import report_of
from agent.journal.runs import RunFolder, Runs
from agent.journal.usage import usage as add_up
from agent.notify.notice import Attachment
from agent.serve.desk import LiveRun
from agent.serve.forms import (
    ActForm,
    AnswerForm,
    AskForm,
    Begun,
    Done,
    Hex,
    HintForm,
    ResumeForm,
    RunState,
    TagsForm,
)
from agent.serve.office import InOffice, Limit, Name

Declared = dict[int | str, dict[str, Any]]
_JSON: Declared = {200: {"content": {"application/json": {}}}}
_EVENTS: Declared = {
    200: {"content": {"text/event-stream": {}}},
    204: {"description": "It is over, and all was told."},
}
_PICTURE: Declared = {200: {"content": {"image/png": {}, "image/jpeg": {}}}}
_FILE: Declared = {200: {"content": {"*/*": {}}}}
run_routes = APIRouter(prefix="/api", tags=["runs"])


@run_routes.post("/runs", status_code=201)
async def ask(office: InOffice, form: AskForm, response: Response) -> Begun:
    """Ask a question; the run goes on whoever watches."""
    return _begun(await office.ask(form), response)


@run_routes.get("/runs")
async def runs(
    office: InOffice,
    q: Annotated[str, Query(max_length=400)] = "",
    tag: Annotated[str, Query(max_length=40)] = "",
    session: Annotated[str, Query(max_length=200)] = "",
    limit: Limit = 50,
    skip: Annotated[int, Query(ge=0, le=10**6)] = 0,
) -> list[RunState]:
    """List runs, newest first; `q` searches questions, answers and sources."""
    found = await asyncio.to_thread(office.library.search, q, tag, session, limit=limit, skip=skip)
    return [office.state(row) for row in found]


@run_routes.get("/runs/{run}/report", response_class=Response, responses=_JSON)
async def report(office: InOffice, run: Name) -> Response:
    """Give the report as `research show --json` prints it, to the byte."""
    made = await asyncio.to_thread(report_of, office.find(run))
    return Response(f"{made.to_json()}\n", media_type="application/json")


@run_routes.get("/runs/{run}/events", response_class=Response, responses=_EVENTS)
async def events(
    office: InOffice,
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
    tail = office.desk.tail(office.find(run))
    tail.read()
    if tail.over and not any(f.seq is not None and f.seq > after for f in tail.frames):
        return Response(status_code=204)  # which ends an EventSource
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(tail.watch(after), media_type="text/event-stream", headers=headers)


@run_routes.post("/runs/{run}/stop")
async def stop(office: InOffice, run: Name) -> Done:
    """Stop a run: it answers from what is known, and can be resumed."""
    await office.desk.stop(office.at_work(run))
    return Done()


@run_routes.post("/runs/{run}/resume", status_code=201)
async def resume(office: InOffice, run: Name, form: ResumeForm, response: Response) -> Begun:
    """Go on with a run that was stopped or cut off, or whose limit was reached."""
    limits = form.model_dump(exclude={"attended"}, exclude_none=True)
    live = await office.desk.resume(office.find(run), limits, attended=form.attended)
    return _begun(live, response)


@run_routes.post("/runs/{run}/again", status_code=201)
async def again(office: InOffice, run: Name, response: Response) -> Begun:
    """Ask the same question again, as a run of its own; `diff` then tells what changed."""
    return _begun(await office.again(office.find(run), attended=False), response)


@run_routes.post("/runs/{run}/hint")
async def hint(office: InOffice, run: Name, form: HintForm) -> Done:
    """Say something to the model of a run that is at work."""
    office.at_work(run).tell(hint=form.hint)
    return Done()


@run_routes.post("/runs/{run}/answer")
async def answer(office: InOffice, run: Name, form: AnswerForm) -> Done:
    """Answer what a run asks."""
    live = office.at_work(run)
    if form.n not in live.asked:
        raise NotFound(f"{run} does not ask that any more")
    live.tell(n=form.n, answer=form.answer)
    return Done()


@run_routes.get("/runs/{run}/look")
async def look(office: InOffice, run: Name, refs: bool = False) -> dict[str, Any]:  # noqa: FBT001, FBT002 - a query
    """Take a picture of the page that a run has open, with the refs drawn on it if asked."""
    seen: dict[str, Any] = await office.at_work(run).look(refs=refs)
    return seen


@run_routes.post("/runs/{run}/act")
async def act(office: InOffice, run: Name, form: ActForm) -> dict[str, Any]:
    """Do something by hand in the page that a run has open; gives the picture afterwards."""
    seen: dict[str, Any] = await office.at_work(run).look(act=form.model_dump())
    return seen


@run_routes.get("/runs/{run}/pictures/{digest}", response_class=Response, responses=_PICTURE)
async def picture(office: InOffice, run: Name, digest: Hex) -> Response:
    """Give a picture that a run recorded."""
    body = _kept(office.find(run), digest)
    if not body.startswith((b"\x89PNG", b"\xff\xd8\xff")):
        raise NotFound("that is no picture")
    kind = "image/png" if body.startswith(b"\x89PNG") else "image/jpeg"
    return Response(body, media_type=kind, headers={"cache-control": "private, max-age=86400"})


@run_routes.get("/runs/{run}/export", response_class=Response, responses=_FILE)
async def export(
    office: InOffice, run: Name, form: Annotated[str, Query(max_length=30)] = ".md"
) -> Response:
    """Write a run as `.md`, `.html`, `.pdf`, `.docx`, `.bib`, `.zip` and more."""
    folder = office.find(run)
    write = writer(Path(f"x{form}")) if form in FORMATS else None
    if write is None:
        raise UsageError(f"{form!r} is no form", hint=f"There are {' '.join(FORMATS)}.")
    body = await asyncio.to_thread(write, folder.path)
    file = Attachment.named(f"{folder.id}{form}", body)
    headers = {"content-disposition": f'attachment; filename="{file.name}"'}
    return Response(body, media_type=file.media_type, headers=headers)


@run_routes.get("/runs/{run}/diff/{other}")
async def diff(office: InOffice, run: Name, other: Name) -> dict[str, Any]:
    """Hold two runs against each other: answers, sources, steps."""
    return asdict(await asyncio.to_thread(compare, office.find(run), office.find(other)))


@run_routes.put("/runs/{run}/tags")
async def tag(office: InOffice, run: Name, form: TagsForm) -> TagsForm:
    """Give a run these tags in place of those it has."""
    tags = await asyncio.to_thread(office.library.tag, office.find(run), form.tags)
    return TagsForm(tags=list(tags))


@run_routes.delete("/runs/{run}")
async def remove(office: InOffice, run: Name) -> Done:
    """Delete a run with all its pages, for good."""
    folder = office.find(run)
    if live := office.desk.live.get(folder.id):
        if not folder.report.is_file():
            raise UsageError(f"{folder.id} is at work", hint="Stop it first.")
        await office.desk.stop(live)  # what it does behind its answer goes with it
    await asyncio.to_thread(Runs.remove, office.desk.runs, folder)
    return Done()


@run_routes.get("/runs/{run}")
async def one(office: InOffice, run: Name) -> RunState:
    """Say how a run stands."""
    folder = office.find(run)
    found = await asyncio.to_thread(office.library.one, folder)
    return office.state(found)


@run_routes.get("/usage")
async def used(office: InOffice) -> list[dict[str, Any]]:
    """Add up calls, tokens and dollars by day and model."""
    return [asdict(line) for line in await asyncio.to_thread(add_up, office.desk.runs)]


def _begun(live: LiveRun, response: Response) -> Begun:
    at = f"/api/runs/{live.id}"
    response.headers["location"] = at
    return Begun(run=live.id, events=f"{at}/events")


def _kept(folder: RunFolder, digest: str) -> bytes:
    try:
        return folder.blob(digest)
    except ResearchError as error:
        raise NotFound(str(error)) from error
