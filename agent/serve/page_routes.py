"""The page: ask, watch, library, memory, settings; HTML from Jinja2, nothing from elsewhere."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime
from functools import cache
from importlib import resources
from typing import Annotated, Any, Final
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Query, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from agent.errors import NotFound, UsageError
from agent.export.compare_runs import compare
from agent.export.report_html import report_body
from agent.export.report_view import VERDICT_LABELS, parameter_text
from agent.export.run_record import FinishedRun, to_the_minute
from agent.journal.runs import RunFolder
from agent.serve.forms import RunState
from agent.serve.memory_routes import remembered, row_of
from agent.serve.office import InOffice, Limit, Name, Office
from agent.serve.saved_page import POLICY as SAVED_POLICY
from agent.serve.saved_page import saved_page

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'"
)
"""No script but ours, nothing from elsewhere, in nobody's frame."""
_STATIC: Final = {
    "app.js": ("agent.serve.static", "text/javascript; charset=utf-8"),
    "app.css": ("agent.serve.static", "text/css; charset=utf-8"),
    "report.css": ("agent.export", "text/css; charset=utf-8"),
    "urchin.svg": ("agent.serve.static", "image/svg+xml"),
}
_HTML: Final = "text/html; charset=utf-8"
PAGE_SIZE: Final = 30
page_routes = APIRouter(include_in_schema=False)


@page_routes.get("/")
async def ask(office: InOffice) -> Response:
    """Ask, and see what was asked last."""
    return _shown(office, "ask.html", "ask", runs=await _rows(office, limit=6))


@page_routes.get("/static/{name}")
async def static(name: str) -> Response:
    """Give style, script and sign."""
    if name not in _STATIC:
        raise NotFound("no such file")
    package, kind = _STATIC[name]
    body = resources.files(package).joinpath(name).read_bytes()
    return Response(body, media_type=kind, headers={"cache-control": "no-cache"})


@page_routes.get("/runs/{run}")
async def one(office: InOffice, run: Name) -> Response:
    """Watch a run, or read its report."""
    folder = office.find(run)
    state = office.state(await asyncio.to_thread(office.library.one, folder))
    thread = await _rows(office, session=state.session, limit=30)
    body = await asyncio.to_thread(_body, folder)
    return _shown(office, "run.html", "library", run=state, body=body, thread=thread[::-1])


@page_routes.get("/runs/{run}/parts")
async def parts(office: InOffice, run: Name) -> Response:
    """Give the report alone, for a page that watched the run."""
    body = await asyncio.to_thread(_body, office.find(run))
    return _html(body, POLICY, "DENY")


@page_routes.get("/runs/{run}/saved/{n}")
async def saved(office: InOffice, run: Name, n: int) -> Response:
    """Give a source as it was saved, for a sandboxed frame."""
    record = await asyncio.to_thread(FinishedRun.read, office.find(run).path)
    source = next((s for s in record.report.sources if s.n == n), None)
    if source is None:
        raise NotFound(f"{run} has no source {n}")
    body = await asyncio.to_thread(saved_page, record, source)
    return _html(body, SAVED_POLICY, "SAMEORIGIN")


@page_routes.get("/library")
async def library(
    office: InOffice,
    q: Annotated[str, Query(max_length=400)] = "",
    tag: Annotated[str, Query(max_length=40)] = "",
    skip: Annotated[int, Query(ge=0, le=10**6)] = 0,
) -> Response:
    """Find runs by words and tags."""
    found = await _rows(office, query=q, tag=tag, limit=PAGE_SIZE + 1, skip=skip)
    tags = await asyncio.to_thread(office.library.tags)
    more = skip + PAGE_SIZE if len(found) > PAGE_SIZE else None
    told = {"q": q, "tag": tag, "tags": tags, "more": more}
    return _shown(office, "library.html", "library", runs=found[:PAGE_SIZE], **told)


@page_routes.get("/diff/{run}/{other}")
async def diff(office: InOffice, run: Name, other: Name) -> Response:
    """Show two runs side by side."""
    told = await asyncio.to_thread(compare, office.find(run), office.find(other))
    return _shown(office, "diff.html", "library", diff=told)


@page_routes.get("/memory")
async def memory(
    office: InOffice,
    q: Annotated[str, Query(max_length=400)] = "",
    kind: Annotated[str, Query(max_length=40)] = "",
    limit: Limit = PAGE_SIZE,
) -> Response:
    """Show what is remembered."""
    found = []
    if office.options.memory:
        found = await remembered(await office.memory(), q, kind, limit + 1)
    more = limit * 4 if len(found) > limit else None
    told = {"q": q, "kind": kind, "memories": map(row_of, found[:limit]), "more": more}
    return _shown(office, "memory.html", "memory", on=office.options.memory, **told)


@page_routes.get("/jobs")
async def jobs(office: InOffice) -> Response:
    """Show the queue, what comes back, and what is watched."""
    try:
        found = await office.jobs(lambda b: (b.queue(), b.scheduled(), b.watched()))
        named = zip(("queue", "schedules", "monitors"), found, strict=True)
        told: Any = {"jobs": dict(named), "missing": ""}
    except UsageError as error:
        told = {"jobs": None, "missing": f"{error}. {error.hint}"}
    return _shown(office, "jobs.html", "jobs", **told)


@page_routes.get("/settings")
async def settings(office: InOffice) -> Response:
    """Show what the server was started with."""
    options = office.options.model_dump(mode="json", exclude_defaults=True)
    told = {name: json.dumps(value, ensure_ascii=False) for name, value in options.items()}
    return _shown(office, "settings.html", "settings", settings=told)


@page_routes.get("/settings/doctor")
async def doctor(office: InOffice) -> list[dict[str, Any]]:
    """Look what is there and what can be reached."""
    return await office.checkup()


@page_routes.get("/style")
async def style(office: InOffice) -> Response:
    """Show type, space and colour."""
    return _shown(office, "style.html", "style", verdicts=[str(v) for v in VERDICT_LABELS.values()])


def _shown(office: Office, name: str, here: str, **more: Any) -> Response:
    """Give a page made of a template; `here` is its place in the navigation."""
    told = {"here": here, "folders": list(office.folders), "tab": office.tab, **more}
    return _html(_templates().get_template(name).render(told), POLICY, "DENY")


def _html(body: str | bytes, policy: str, frames: str) -> Response:
    """Give HTML under a policy, which `frames` may show; it is kept nowhere."""
    headers = {"content-security-policy": policy, "x-frame-options": frames}
    whole = body if isinstance(body, bytes) else body.encode("utf-8", "replace")
    return Response(whole, media_type=_HTML, headers={**headers, "cache-control": "no-store"})


async def _rows(office: Office, **asked: Any) -> list[RunState]:
    found = await asyncio.to_thread(lambda: office.library.search(**asked))
    return [office.state(row) for row in found]


@cache
def _templates() -> Environment:
    made = Environment(
        loader=PackageLoader("agent.serve"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["minute"] = lambda at: to_the_minute(at) if at else ""
    made.filters["local"] = _local
    made.filters["step"] = _step
    made.filters["kind"] = lambda status: str(status).replace(" ", "_")
    return made


def _step(step: str) -> str:
    """Write a tool call of a comparison as people read it."""
    name, _, param = step.partition(" ")
    return f"{name} {parameter_text(param, ' · ')}"


def _local(at: str, zone: str) -> str:
    """Write an ISO time as people of a time zone read it: `Mon 2026-11-23 08:00`."""
    return f"{datetime.fromisoformat(at).astimezone(ZoneInfo(zone)):%a %Y-%m-%d %H:%M}"


def _body(folder: RunFolder) -> Markup:
    """Write the report of a run; empty where it has none yet. Its parts are escaped as made."""
    if not folder.report.is_file():
        return Markup("")
    return Markup(report_body(FinishedRun.read(folder.path)))  # noqa: S704 - as above
