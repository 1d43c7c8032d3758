"""The web pages: ask, watch, library, memory, jobs, settings. Nothing is loaded from other hosts.

Routes that read from disk are not `async`, so that FastAPI calls them in a thread.
"""

from __future__ import annotations

import json
import os
from datetime import datetime
from functools import cache
from importlib import resources
from pathlib import PurePath
from typing import Annotated, Any, Final
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Query, Response
from jinja2 import Environment
from markupsafe import Markup

from agent.config import dump_options
from agent.errors import NotFound, UsageError
from agent.export import FORMATS, Content
from agent.export.compare_runs import compare
from agent.export.finished_run import FinishedRun, report_of, to_the_minute
from agent.export.report_html import page_templates, report_body
from agent.export.report_view import VERDICT_LABELS, parameter_text
from agent.journal.runs import RunFolder
from agent.models.providers import EXTRACTIVE, LOCAL, PROVIDERS, default_model
from agent.serve.job_routes import list_jobs, list_monitors, list_schedules
from agent.serve.memory_routes import search_memory
from agent.serve.saved_page import POLICY as SAVED_POLICY
from agent.serve.saved_page import saved_body
from agent.serve.schemas import Done, KeyForm, RunState
from agent.serve.server_state import FolderDep, Limit, RunName, ServerState, StateDep

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'"
)
"""Content security policy: only our own scripts, nothing from other hosts, no framing by other
pages.
"""
_STATIC_FILES: Final = {
    "app.js": ("agent.serve.static", "text/javascript; charset=utf-8"),
    "app.css": ("agent.serve.static", "text/css; charset=utf-8"),
    "report.css": ("agent.export", "text/css; charset=utf-8"),
    "urchin.svg": ("agent.serve.static", "image/svg+xml"),
}
PAGE_SIZE: Final = 30  # runs per page of the library
_PAGES_WITH_QUESTION_FORM: Final = frozenset({"ask", "library"})
"""Navigation entries whose pages may contain the question form."""
page_routes = APIRouter(include_in_schema=False)


@page_routes.get("/")
def ask(state: StateDep) -> Response:
    """Ask a question, and see recent ones."""
    return _page(state, "ask.html", "ask", runs=_search(state, limit=6))


@page_routes.get("/static/{name}")
def static(name: str) -> Response:
    """Serve the style sheet, script and icon."""
    # Only listed names, never paths, so that no other files in the package can be requested.
    if name not in _STATIC_FILES:
        raise NotFound("no such file")
    package, media_type = _STATIC_FILES[name]
    body = resources.files(package).joinpath(name).read_bytes()
    return Response(body, media_type=media_type, headers={"cache-control": "no-cache"})


@page_routes.get("/runs/{run}")
def one(state: StateDep, folder: FolderDep) -> Response:
    """Watch a run, or read its report."""
    run = state.current(state.library.one(folder))
    thread = _search(state, session=run.session, limit=30)[::-1]
    source = state.source_of(folder)
    return _page(
        state,
        "run.html",
        "library",
        run=run,
        body=_report(folder),
        formats=_formats(folder),
        thread=thread,
        source=source,
    )


@page_routes.get("/runs/{run}/parts")
def parts(state: StateDep, folder: FolderDep) -> Response:
    """Return only the report, for a page that shows the run; empty until there is an answer."""
    active = state.manager.active.get(folder.id)
    has_answer = active is None or active.stream.has_answer
    return _html(_report(folder) if has_answer else "")


@page_routes.get("/runs/{run}/saved/{n}")
def saved(run: RunName, folder: FolderDep, n: int) -> Response:
    """Return a source as it was saved, for display in a sandboxed frame."""
    record = FinishedRun.read(folder.path)
    source = next((s for s in record.report.sources if s.n == n), None)
    if source is None:
        raise NotFound(f"{run} has no source {n}")
    values = {"title": source.title or source.url, "body": saved_body(record, source)}
    page = _templates().get_template("saved.html").render(values)
    return _html(page, SAVED_POLICY, "SAMEORIGIN")


@page_routes.get("/library")
def library(
    state: StateDep,
    q: Annotated[str, Query(max_length=400)] = "",
    tag: Annotated[str, Query(max_length=40)] = "",
    skip: Annotated[int, Query(ge=0, le=10**6)] = 0,
) -> Response:
    """Find runs by words and tags."""
    found = _search(state, query=q, tag=tag, limit=PAGE_SIZE + 1, skip=skip)
    more = skip + PAGE_SIZE if len(found) > PAGE_SIZE else None
    asked = {"q": q, "tag": tag, "tags": state.library.tags(), "more": more}
    return _page(state, "library.html", "library", runs=found[:PAGE_SIZE], **asked)


@page_routes.get("/diff/{run}/{other}")
def diff(state: StateDep, folder: FolderDep, other: RunName) -> Response:
    """Show two runs side by side."""
    return _page(state, "diff.html", "library", diff=compare(folder, state.find(other)))


@page_routes.get("/memory")
def memory(
    state: StateDep,
    q: Annotated[str, Query(max_length=400)] = "",
    kind: Annotated[str, Query(max_length=40)] = "",
    limit: Limit = PAGE_SIZE,
) -> Response:
    """Show the memories."""
    on = state.options.memory
    found = search_memory(state.memory(), q, kind, limit + 1) if on else []
    more = limit * 4 if len(found) > limit else None
    asked = {"q": q, "kind": kind, "more": more}
    return _page(state, "memory.html", "memory", on=on, memories=found[:limit], **asked)


@page_routes.get("/jobs")
def jobs(state: StateDep) -> Response:
    """Show the queue, schedules and monitors."""
    try:
        stores = state.jobs()
    except UsageError as error:  # the page explains what to install
        return _page(state, "jobs.html", "jobs", jobs=None, missing=f"{error}. {error.hint}")
    rows = {
        "queue": list_jobs(stores),
        "schedules": list_schedules(stores),
        "monitors": list_monitors(stores),
    }
    return _page(state, "jobs.html", "jobs", jobs=rows, missing="")


@page_routes.get("/settings")
def settings(state: StateDep) -> Response:
    """Show the settings of the server."""
    options = dump_options(state.options, changed_only=True)
    shown = {name: json.dumps(value, ensure_ascii=False) for name, value in options.items()}
    keys = [(one.prefix, bool(os.environ.get(one.key))) for one in PROVIDERS if one.key]
    return _page(state, "settings.html", "settings", settings=shown, keys=keys)


@page_routes.post("/settings/keys", status_code=201)
def add_key(state: StateDep, form: KeyForm) -> Done:
    """Store an API key, as `research keys set` does."""
    state.add_key(form.provider, form.key)
    return Done()


@page_routes.get("/settings/doctor")
async def doctor(state: StateDep) -> list[dict[str, Any]]:
    """Check the installation and the network."""
    return await state.doctor()


@page_routes.get("/style")
def style(state: StateDep) -> Response:
    """Show typography, spacing and colours."""
    return _page(state, "style.html", "style", verdicts=VERDICT_LABELS)


def error_page(status: int, message: str, hint: str) -> Response:
    """Return an error as a page, for a browser that opened an address."""
    page = _templates().get_template("error.html").render(here="", message=message, hint=hint)
    return _html(page, status=status)


def _page(state: ServerState, template: str, here: str, **values: Any) -> Response:
    """Render a page; `here` is its entry in the navigation."""
    sources: dict[str, Any] = {"offered": state.sources, "default_source": state.default_source}
    if here in _PAGES_WITH_QUESTION_FORM:
        own = state.options.model or ("" if state.options.base_url else default_model(os.environ))
        sources |= {"models": state.models(), "own_model": own or EXTRACTIVE}
    values |= {"here": here, **sources}
    return _html(_templates().get_template(template).render(values))


def _html(html: str, policy: str = POLICY, frames: str = "DENY", *, status: int = 200) -> Response:
    """Send uncached HTML with a content security policy; `frames` determines who may embed it."""
    headers = {
        "content-security-policy": policy,
        "x-frame-options": frames,
        "cache-control": "no-store",
    }
    body = html.encode("utf-8", "replace")  # lone surrogates cannot be encoded
    return Response(body, status, headers, "text/html; charset=utf-8")


def _search(state: ServerState, **asked: Any) -> list[RunState]:
    return [*map(state.current, state.library.search(**asked))]


def _report(folder: RunFolder) -> Markup:
    """Return a run's report, or an empty string. Its parts are already escaped."""
    if not folder.report.is_file():
        return Markup("")
    return Markup(report_body(FinishedRun.read(folder.path), "page"))  # noqa: S704 - as above


def _formats(folder: RunFolder) -> list[str]:
    """Return the extensions of all export formats; the formats for data only if the run has any."""
    has_data = folder.report.is_file() and report_of(folder).data is not None
    return [end for end, row in FORMATS.items() if has_data or row.content is not Content.DATA]


@cache
def _templates() -> Environment:
    templates = page_templates("agent.serve")
    templates.filters.update(
        minute=_time,
        local=_local_time,
        model=_model_name,
        step=_step_text,
        kind=lambda status: str(status).replace(" ", "_"),
    )
    return templates


def _step_text(step: str) -> str:
    """Format a tool call in a comparison."""
    name, _, param = step.partition(" ")
    return f"{name} {parameter_text(param, ' · ')}"


def _time(at: str | None) -> Markup:
    """Format a time in UTC; the page's script converts it to the user's time zone."""
    return (
        Markup('<time datetime="{}">{}</time>').format(at, to_the_minute(at)) if at else Markup("")
    )


def _model_name(name: str) -> str:
    """Return a model's display name: for `local:/path/FILE.gguf`, the file name."""
    if name == EXTRACTIVE:
        return "none: quote passages"
    return PurePath(name).name if name.startswith(LOCAL) else name


def _local_time(at: str, zone: str) -> str:
    """Format an ISO time in a time zone: `Mon 2026-11-23 08:00`."""
    return f"{datetime.fromisoformat(at).astimezone(ZoneInfo(zone)):%a %Y-%m-%d %H:%M}"
