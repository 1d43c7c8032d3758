"""The REST API for runs: ask, watch, stop, resume, read, export and compare.

Routes that read from disk are not `async`, so that FastAPI calls them in a thread.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from agent.errors import NotFound, ResearchError, UsageError
from agent.export import FORMATS, writer
from agent.export.compare_runs import compare
from agent.export.finished_run import is_in_progress, report_of
from agent.notify.notice import Attachment
from agent.serve.run_manager import ActiveRun
from agent.serve.schemas import (
    ActForm,
    AnswerForm,
    AskForm,
    Done,
    Hex,
    HintForm,
    ResumeForm,
    RunStarted,
    RunState,
    TagsForm,
    Uploaded,
)
from agent.serve.server_state import ActiveDep, FolderDep, Limit, RunName, StateDep

Responses = dict[int | str, dict[str, Any]]
_JSON_RESPONSE: Responses = {200: {"content": {"application/json": {}}}}
_REPORT_RESPONSES: Responses = _JSON_RESPONSE | {202: {"description": "The run is in progress."}}
_EVENT_RESPONSES: Responses = {
    200: {"content": {"text/event-stream": {}}},
    204: {"description": "The run has ended, and all events were sent."},
}
_IMAGE_RESPONSE: Responses = {200: {"content": {"image/png": {}, "image/jpeg": {}}}}
_FILE_RESPONSE: Responses = {200: {"content": {"*/*": {}}}}
run_routes = APIRouter(prefix="/api", tags=["runs"])


@run_routes.post("/runs", status_code=201)
async def ask(state: StateDep, form: AskForm, response: Response) -> RunStarted:
    """Start a run. It continues even if nobody is watching."""
    return _run_started_response(await state.ask(form), response)


@run_routes.post("/files", status_code=201)
async def upload(
    state: StateDep,
    request: Request,
    name: Annotated[str, Query(min_length=1, max_length=300)],
) -> Uploaded:
    """Upload a file as the request body, for questions about it (`files`)."""
    body = await request.body()
    return await asyncio.to_thread(state.upload, name, body)


@run_routes.get("/runs")
def runs(
    state: StateDep,
    q: Annotated[str, Query(max_length=400)] = "",
    tag: Annotated[str, Query(max_length=40)] = "",
    session: Annotated[str, Query(max_length=200)] = "",
    limit: Limit = 50,
    skip: Annotated[int, Query(ge=0, le=10**6)] = 0,
) -> list[RunState]:
    """List runs, newest first; `q` searches questions, answers and sources."""
    return [*map(state.current, state.library.search(q, tag, session, limit=limit, skip=skip))]


@run_routes.get("/runs/{run}/report", response_class=Response, responses=_REPORT_RESPONSES)
def report(folder: FolderDep) -> Response:
    """Return the report exactly as `research show --json` prints it; 202 during the run."""
    if is_in_progress(folder):
        return JSONResponse({"run": folder.id, "status": "running"}, 202)
    return Response(f"{report_of(folder).to_json()}\n", media_type="application/json")


@run_routes.get("/runs/{run}/events", response_class=Response, responses=_EVENT_RESPONSES)
async def events(
    state: StateDep,
    folder: FolderDep,
    after: Annotated[int, Query(ge=-1, le=2**62)] = -1,
    last_event_id: Annotated[str | None, Header(max_length=20)] = None,
) -> Response:
    """Stream a run's events as they are written: numbered lines of the journal.

    A client that specifies its last event (`Last-Event-ID`, or `after`) receives all later ones.
    Events without a number are transient: pieces of a reply (`model.delta`), questions (`asked`,
    `answered`) and hints that arrived too late (`hint.unread`). The last event is `end`.
    """
    if last_event_id is not None and last_event_id.isdecimal() and last_event_id.isascii():
        after = int(last_event_id)
    stream = state.manager.event_stream(folder)
    if not stream.may_have_events_after(after):
        return Response(status_code=204)  # tells an EventSource not to reconnect
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(stream.sse(after), media_type="text/event-stream", headers=headers)


@run_routes.post("/runs/{run}/stop")
async def stop(active: ActiveDep) -> Done:
    """Stop a run; it answers from the pages read so far, and can be resumed."""
    await active.stop()
    return Done()


@run_routes.post("/runs/{run}/resume", status_code=201)
async def resume(
    state: StateDep, folder: FolderDep, form: ResumeForm, response: Response
) -> RunStarted:
    """Resume a run that was stopped, was interrupted or reached a limit."""
    return _run_started_response(
        await state.manager.resume(folder, form.settings(), attended=form.attended), response
    )


@run_routes.post("/runs/{run}/again", status_code=201)
async def again(
    state: StateDep,
    folder: FolderDep,
    response: Response,
    section: Annotated[str, Query(max_length=400)] = "",
) -> RunStarted:
    """Ask the same question again in a new run; `diff` then shows what changed.

    With `section`, the heading of a section of its report, only that section is researched again.
    """
    if section:
        return _run_started_response(
            await state.manager.research_section(folder, section), response
        )
    return _run_started_response(await state.ask_again(folder), response)


@run_routes.post("/runs/{run}/hint")
async def hint(active: ActiveDep, form: HintForm) -> Done:
    """Send a hint to the model of a running run."""
    active.hint(form.hint)
    return Done()


@run_routes.post("/runs/{run}/answer")
async def answer(run: RunName, active: ActiveDep, form: AnswerForm) -> Done:
    """Answer a question that a run asked."""
    if form.n not in active.questions:
        raise NotFound(f"{run} is no longer asking this question")
    active.answer(form.n, reply=form.answer)
    return Done()


@run_routes.get("/runs/{run}/look")
async def look(active: ActiveDep, refs: bool = False) -> dict[str, Any]:  # noqa: FBT001, FBT002 - a query
    """Take a screenshot of a run's open page, with refs marked on it if requested."""
    return await active.screenshot(refs=refs)


@run_routes.post("/runs/{run}/act")
async def act(active: ActiveDep, form: ActForm) -> dict[str, Any]:
    """Act manually on a run's open page; return a screenshot afterwards."""
    return await active.screenshot(act=form.model_dump())


@run_routes.get("/runs/{run}/pictures/{digest}", response_class=Response, responses=_IMAGE_RESPONSE)
def picture(state: StateDep, run: RunName, digest: Hex) -> Response:
    """Return an image that a run recorded."""
    try:
        body = state.find(run).blob(digest)
    except ResearchError as error:
        raise NotFound(str(error)) from error
    # Saved pages are stored next to images, and must not be served as pages of this site.
    if not body.startswith((b"\x89PNG", b"\xff\xd8\xff")):
        raise NotFound("that is not an image")
    kind = "image/png" if body.startswith(b"\x89PNG") else "image/jpeg"
    return Response(body, media_type=kind, headers={"cache-control": "private, max-age=86400"})


@run_routes.get("/runs/{run}/export", response_class=Response, responses=_FILE_RESPONSE)
def export(
    folder: FolderDep,
    form: Annotated[
        str, Query(max_length=30, description=f"The format: {', '.join(FORMATS)}.")
    ] = ".md",
) -> Response:
    """Export a run as a file."""
    if form not in FORMATS:
        raise UsageError(
            f"{form!r} is not a known export format", hint=f"Available: {' '.join(FORMATS)}."
        )
    name = f"{folder.id}{form}"
    file = Attachment.from_bytes(name, writer(Path(name))(folder.path))
    headers = {"content-disposition": f'attachment; filename="{file.name}"'}
    return Response(file.body, media_type=file.media_type, headers=headers)


@run_routes.get("/runs/{run}/diff/{other}")
def diff(state: StateDep, run: RunName, other: RunName) -> dict[str, Any]:
    """Compare two runs: answers, sources, steps."""
    return asdict(compare(state.find(run), state.find(other)))


@run_routes.put("/runs/{run}/tags")
def tag(state: StateDep, folder: FolderDep, form: TagsForm) -> TagsForm:
    """Replace the tags of a run."""
    return TagsForm(tags=list(state.library.tag(folder, form.tags)))


@run_routes.delete("/runs/{run}")
async def remove(state: StateDep, folder: FolderDep) -> Done:
    """Permanently delete a run and all its pages."""
    if active := state.manager.active.get(folder.id):
        if not folder.report.is_file():
            raise UsageError(f"{folder.id} is running", hint="Stop it first.")
        await active.stop()  # this also stops its post-run tasks
    await asyncio.to_thread(state.manager.runs.remove, folder)
    return Done()


@run_routes.get("/runs/{run}")
def one(state: StateDep, folder: FolderDep) -> RunState:
    """Return the state of a run."""
    return state.current(state.library.one(folder))


def _run_started_response(run: ActiveRun, response: Response) -> RunStarted:
    response.headers["location"] = f"/api/runs/{run.id}"
    return RunStarted(run=run.id, events=f"/api/runs/{run.id}/events")
