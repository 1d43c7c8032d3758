"""The page: ask, watch, library, memory, settings; HTML from Jinja2, nothing from elsewhere."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import datetime
from importlib import resources
from typing import Annotated, Any, Final
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Query, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from agent.errors import NotFound, UsageError
from agent.export.compare_runs import compare
from agent.export.report_html import report_body
from agent.export.run_record import FinishedRun, to_the_minute
from agent.export.verdicts import VERDICTS
from agent.journal.runs import RunFolder
from agent.serve.api import Name, Office, remembered, row_of
from agent.serve.job_routes import JobsDesk
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
Findings = Callable[[], Awaitable[list[dict[str, Any]]]]
"""What `research doctor` finds: name, well, seen, mend."""
PAGE_SIZE: Final = 30


def page_routes(office: Office, desk: JobsDesk, checkup: Findings) -> APIRouter:  # noqa: C901, PLR0915 - a list of routes
    """Make the routes of what people see."""
    page = APIRouter(include_in_schema=False)
    templates = Environment(
        loader=PackageLoader("agent.serve"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["minute"] = lambda at: to_the_minute(at) if at else ""
    templates.filters["local"] = _local
    templates.filters["kind"] = lambda status: str(status).replace(" ", "_")
    shared = {"folders": list(office.folders), "tab": office.tab}

    def shown(name: str, here: str, **more: Any) -> Response:
        html = templates.get_template(name).render(here=here, **shared, **more)
        headers = {
            "content-security-policy": POLICY,
            "x-frame-options": "DENY",
            "cache-control": "no-store",
        }
        return Response(html.encode("utf-8", "replace"), media_type=_HTML, headers=headers)

    async def rows(**asked: Any) -> list[Any]:
        found = await asyncio.to_thread(lambda: office.library.search(**asked))
        return [office.state(row) for row in found]

    @page.get("/")
    async def ask() -> Response:
        return shown("ask.html", "ask", runs=await rows(limit=6))

    @page.get("/static/{name}")
    async def static(name: str) -> Response:
        if name not in _STATIC:
            raise NotFound("no such file")
        package, kind = _STATIC[name]
        body = resources.files(package).joinpath(name).read_bytes()
        return Response(body, media_type=kind, headers={"cache-control": "no-cache"})

    @page.get("/runs/{run}")
    async def one(run: Name) -> Response:
        folder = office.find(run)
        state = office.state(await asyncio.to_thread(office.library.one, folder))
        thread = await rows(session=state.session, limit=30)
        body = await asyncio.to_thread(_body, folder)
        return shown("run.html", "library", run=state, body=body, thread=thread[::-1])

    @page.get("/runs/{run}/parts")
    async def parts(run: Name) -> Response:
        """Give the report alone, for a page that watched the run."""
        body = await asyncio.to_thread(_body, office.find(run))
        headers = {"content-security-policy": POLICY, "x-frame-options": "DENY"}
        return Response(body.encode("utf-8", "replace"), media_type=_HTML, headers=headers)

    @page.get("/runs/{run}/saved/{n}")
    async def saved(run: Name, n: int) -> Response:
        """Give a source as it was saved, for a sandboxed frame."""
        record = await asyncio.to_thread(FinishedRun.read, office.find(run).path)
        source = next((s for s in record.report.sources if s.n == n), None)
        if source is None:
            raise NotFound(f"{run} has no source {n}")
        body = await asyncio.to_thread(saved_page, record, source)
        headers = {"content-security-policy": SAVED_POLICY, "x-frame-options": "SAMEORIGIN"}
        return Response(body, media_type=_HTML, headers=headers)

    @page.get("/library")
    async def library(
        q: Annotated[str, Query(max_length=400)] = "",
        tag: Annotated[str, Query(max_length=40)] = "",
        skip: Annotated[int, Query(ge=0, le=10**6)] = 0,
    ) -> Response:
        found = await rows(query=q, tag=tag, limit=PAGE_SIZE + 1, skip=skip)
        tags = await asyncio.to_thread(office.library.tags)
        more = skip + PAGE_SIZE if len(found) > PAGE_SIZE else None
        told = {"q": q, "tag": tag, "tags": tags, "more": more}
        return shown("library.html", "library", runs=found[:PAGE_SIZE], **told)

    @page.get("/diff/{run}/{other}")
    async def diff(run: Name, other: Name) -> Response:
        told = await asyncio.to_thread(compare, office.find(run), office.find(other))
        return shown("diff.html", "library", diff=told)

    @page.get("/memory")
    async def memory(
        q: Annotated[str, Query(max_length=400)] = "",
        kind: Annotated[str, Query(max_length=40)] = "",
    ) -> Response:
        found = []
        if office.options.memory:
            memory = await office.memory()
            found = await remembered(memory, q, kind, PAGE_SIZE * 2)
        told = {"q": q, "kind": kind, "memories": [row_of(hit) for hit in found]}
        return shown("memory.html", "memory", on=office.options.memory, **told)

    @page.get("/jobs")
    async def jobs() -> Response:
        try:
            told: Any = {"jobs": await desk.view(), "missing": ""}
        except UsageError as error:
            told = {"jobs": None, "missing": f"{error}. {error.hint}"}
        return shown("jobs.html", "jobs", **told)

    @page.get("/settings")
    async def settings() -> Response:
        options = office.options.model_dump(mode="json", exclude_defaults=True)
        told = {name: json.dumps(value, ensure_ascii=False) for name, value in options.items()}
        return shown("settings.html", "settings", settings=told)

    @page.get("/settings/doctor")
    async def doctor() -> list[dict[str, Any]]:
        """Look what is there and what can be reached."""
        return await checkup()

    @page.get("/style")
    async def style() -> Response:
        return shown("style.html", "style", verdicts=[str(v) for v in VERDICTS.values()])

    return page


_HTML: Final = "text/html; charset=utf-8"


def _local(at: str, zone: str) -> str:
    """Write an ISO time as people of a time zone read it: `Mon 2026-11-23 08:00`."""
    return f"{datetime.fromisoformat(at).astimezone(ZoneInfo(zone)):%a %Y-%m-%d %H:%M}"


def _body(folder: RunFolder) -> Markup:
    """Write the report of a run; empty where it has none yet. Its parts are escaped as made."""
    if not folder.report.is_file():
        return Markup("")
    return Markup(report_body(FinishedRun.read(folder.path)))  # noqa: S704 - as above
