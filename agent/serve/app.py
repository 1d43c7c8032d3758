"""The FastAPI application (routes, error responses, security headers) and its server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Container
from contextlib import asynccontextmanager
from typing import Any, Final

import uvicorn
from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException

from agent import __version__
from agent.errors import NotFound, ResearchError, UsageError
from agent.http_server import (
    HOST,
    App,
    Receive,
    Scope,
    Send,
    TokenAuth,
    listening_socket,
    local_hosts,
)
from agent.jobs.job import NoSuchJob
from agent.options import Surface, hint_for
from agent.serve.chat_completions import chat_routes
from agent.serve.job_routes import monitor_routes, queue_routes, schedule_routes
from agent.serve.memory_routes import memory_routes
from agent.serve.page_routes import error_page, page_routes
from agent.serve.run_manager import Busy
from agent.serve.run_routes import run_routes
from agent.serve.schemas import AskForm, Failed
from agent.serve.server_state import ServerState

HEALTH: Final = "/healthz"
_STATUS_BY_EXIT_CODE: Final = {2: 422, 3: 404, 5: 429, 6: 503, 7: 502, 8: 409}
"""HTTP status for each command-line exit code."""
_NO_OBJECT: Final = ("missing", "model_attributes_type")
"""Types of pydantic errors for a body that is missing or is not a JSON object."""
_JSON_HINT: Final = "Send a JSON object, with the header content-type: application/json."
_SECURITY_HEADERS: Final = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
"""Headers that stop browsers from guessing content types, leaking URLs and sharing data with other
sites.
"""
_NON_PAGE_HEADERS: Final = {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "x-frame-options": "DENY",
}
"""Headers for responses other than pages, in case a browser shows them; pages have their own
policy.
"""
PAGE_HEADER: Final = "x-urchin-page"
"""A header sent by the pages' script: hints for pages mention controls, hints for other clients
mention fields.
"""
CLOSE_SECONDS: Final = 10
"""Seconds that open requests have to finish when the server is stopping."""
_ROUTES: Final = (
    run_routes,
    memory_routes,
    queue_routes,
    schedule_routes,
    monitor_routes,
    chat_routes,
    page_routes,
)


def make_app(state: ServerState) -> FastAPI:
    """Create the application. Every error response has the `Failed` schema."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await state.close()

    # Documents the responses in OpenAPI; the handlers below produce them.
    failures: dict[int | str, dict[str, Any]] = {
        code: {"model": Failed} for code in (401, 403, 404, 409, 422, 429)
    }
    app = FastAPI(
        title="Urchin",
        version=__version__,
        description="Research with evidence: every sentence links to the passage that supports it.",
        docs_url=None,  # that page loads scripts from other hosts
        redoc_url=None,
        lifespan=lifespan,
        responses=failures,
        dependencies=[Depends(_refuse_unknown_parameters)],
    )

    @app.exception_handler(ResearchError)
    async def research_error(request: Request, error: ResearchError) -> Response:
        if isinstance(error, NoSuchJob):
            return _failure(request, 404, NotFound.__name__, str(error), error.hint)
        status = 429 if isinstance(error, Busy) else _STATUS_BY_EXIT_CODE.get(error.exit_code, 500)
        return _failure(request, status, type(error).__name__, str(error), error.hint)

    @app.exception_handler(RequestValidationError)
    async def invalid_request(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        if first["type"] == "json_invalid" or (
            first["loc"] == ("body",) and first["type"] in _NO_OBJECT
        ):
            message = "the request's body is missing or is not a JSON object"
            return _failure(request, 422, UsageError.__name__, message, _JSON_HINT)
        place = ".".join(str(part) for part in first["loc"][1:]) or "body"
        return _failure(request, 422, UsageError.__name__, f"{place}: {first['msg']}")

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: HTTPException) -> Response:
        kind = NotFound.__name__ if error.status_code == 404 else UsageError.__name__
        detail = str(error.detail)
        return _failure(request, error.status_code, kind, detail, headers=error.headers)

    @app.get(HEALTH, include_in_schema=False)
    async def healthy() -> dict[str, str]:
        return {"status": "ok"}

    app.state.server = state
    for routes in _ROUTES:
        app.include_router(routes)
    return app


async def _refuse_unknown_parameters(request: Request) -> None:
    """Raise `UsageError` for an unknown query parameter of the REST API.

    Pages ignore them, since other sites may add parameters to links.
    """
    route = request.scope.get("route")
    if not request.url.path.startswith("/api/") or not isinstance(route, APIRoute):
        return
    known = [field.alias for field in route.dependant.query_params]
    for name in request.query_params:
        if name not in known:
            hint = f"Available: {', '.join(known)}." if known else "This route has no parameters."
            raise UsageError(f"unknown query parameter {name[:100]!r}", hint=hint)


def _failure(
    request: Request, status: int, kind: str, message: str, hint: str = "", headers: Any = None
) -> Response:
    """Return an error: as a page for a browser that opened a URL, as JSON for programs."""
    path = request.url.path
    is_api = path.startswith(("/api/", "/v1/"))
    if not is_api and "text/html" in request.headers.get("accept", ""):
        return error_page(status, message, hint_for("page", hint))
    surface: Surface = "page" if PAGE_HEADER in request.headers else "api"
    fields: Container[str] = AskForm.model_fields if path.startswith("/api/") else ()
    body = {"error": {"type": kind, "message": message, "hint": hint_for(surface, hint, fields)}}
    return JSONResponse(body, status_code=status, headers=headers)


def with_security_headers(app: App) -> App:
    """Add the security headers to every response, including internal errors."""

    async def adding(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_SECURITY_HEADERS)
                if "content-security-policy" not in headers:
                    headers.update(_NON_PAGE_HEADERS)
            await send(message)

        await app(scope, receive, send_with_headers)

    return adding


class _Server(uvicorn.Server):
    """Closes event streams first; otherwise, it would wait for these open requests forever."""

    def __init__(self, config: uvicorn.Config, closing: Callable[[], Awaitable[None]]) -> None:
        super().__init__(config)
        self._closing = closing

    async def shutdown(self, sockets: list[Any] | None = None) -> None:
        await self._closing()  # also called when the application ends, which is harmless
        await super().shutdown(sockets)
        self._captured_signals.clear()  # uvicorn would raise them again, and exit with an error


async def serve_app(
    state: ServerState,
    *,
    port: int,
    host: str,
    names: tuple[str, ...],
    token: str,
    ticket: str,
    ready: Callable[[str], None],
) -> None:
    """Serve until SIGTERM or Ctrl-C; `ready` receives the address once connections are accepted.

    `ticket` lets one browser log in once, through a URL (`/?ticket=…`). `names` are the server's
    host names besides loopback (`research.example.org`, with a port if there is one). Active runs
    are stopped at the end and can be resumed.
    """
    with listening_socket(port, host) as listening:
        bound_port = listening.getsockname()[1]
        # This is the outermost layer, so it rejects requests before any other, with its own
        # headers.
        app = TokenAuth(
            with_security_headers(make_app(state)),
            token,
            [*local_hosts(bound_port), *(name.lower() for name in names)],
            cookie=f"urchin-{bound_port}",  # browsers share cookies between the ports of a host
            ticket=ticket,
            open_paths=frozenset({HEALTH}),
        )
        config = uvicorn.Config(
            app,
            ws="none",  # answer upgrade requests like any other request
            log_level="error",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=CLOSE_SECONDS,
        )
        listening.listen()
        address = HOST if host == "0.0.0.0" else host  # noqa: S104 - only compared
        ready(f"http://{address}:{bound_port}")
        await _Server(config, state.manager.close).serve(sockets=[listening])
