"""The application: its routes, its headers, and serving it until it is told to stop."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from typing import Any, Final

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from agent import __version__
from agent.errors import NotFound, ResearchError, UsageError
from agent.jobs.job import NoSuchJob
from agent.listening import (
    HOST,
    App,
    Doorkeeper,
    Receive,
    Send,
    cookie_name,
    listening_socket,
    local_names,
)
from agent.serve.chat_completions import chat_routes
from agent.serve.desk import Busy
from agent.serve.forms import Failed
from agent.serve.job_routes import monitor_routes, queue_routes, schedule_routes
from agent.serve.memory_routes import memory_routes
from agent.serve.office import Office
from agent.serve.page_routes import page_routes
from agent.serve.run_routes import run_routes

HEALTH: Final = "/healthz"
_STATUS: Final = {2: 422, 3: 404, 5: 429, 6: 503, 7: 502, 8: 409}
"""Exit codes of the command line as statuses of HTTP."""
_HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)
_STRICT: Final = (
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-frame-options", b"DENY"),
)
CLOSE_SECONDS: Final = 10
"""For requests under way once the server is told to stop."""


_ROUTES: Final = (
    run_routes,
    memory_routes,
    queue_routes,
    schedule_routes,
    monitor_routes,
    chat_routes,
    page_routes,
)


def make_app(office: Office) -> FastAPI:
    """Make the application; every failure has the form of `Failed`."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await office.desk.open()
        yield
        await office.close()

    failures: dict[int | str, dict[str, Any]] = {
        code: {"model": Failed} for code in (401, 403, 404, 409, 422, 429)
    }
    app = FastAPI(
        title="Urchin",
        version=__version__,
        description="Research with evidence: every sentence points at the words that carry it.",
        docs_url=None,  # its page loads scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
        responses=failures,
    )

    @app.exception_handler(ResearchError)
    async def refused(_: Request, error: ResearchError) -> Response:
        if isinstance(error, NoSuchJob):
            return _failed(404, NotFound.__name__, str(error), error.hint)
        code = 429 if isinstance(error, Busy) else _STATUS.get(error.exit_code, 500)
        return _failed(code, type(error).__name__, str(error), error.hint)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][1:]) or "body"
        return _failed(422, UsageError.__name__, f"{place}: {first['msg']}")

    @app.exception_handler(HTTPException)
    async def not_there(_: Request, error: HTTPException) -> Response:
        kind = NotFound.__name__ if error.status_code == 404 else UsageError.__name__
        return _failed(error.status_code, kind, str(error.detail), "", error.headers)

    @app.get(HEALTH, include_in_schema=False)
    async def healthy() -> dict[str, str]:
        return {"status": "ok"}

    app.state.office = office
    for routes in _ROUTES:
        app.include_router(routes)
    return app


def _failed(code: int, kind: str, said: str, hint: str = "", headers: Any = None) -> Response:
    body = {"error": {"type": kind, "message": said, "hint": hint}}
    return JSONResponse(body, status_code=code, headers=headers)


def with_headers(app: App) -> App:
    """Add the headers that keep a browser from guessing, framing and telling."""

    async def adding(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        async def sending(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                there = {name.lower() for name, _ in message["headers"]}
                more = [*_HEADERS, *(() if b"content-security-policy" in there else _STRICT)]
                message["headers"] = [*message["headers"], *more]
            await send(message)

        await app(scope, receive, sending)

    return adding


class _Server(uvicorn.Server):
    """Lets watchers go before it waits for what is under way: they would stay for ever."""

    def __init__(self, config: uvicorn.Config, closing: Callable[[], Awaitable[None]]) -> None:
        super().__init__(config)
        self._closing = closing

    async def shutdown(self, sockets: list[Any] | None = None) -> None:
        await self._closing()
        await super().shutdown(sockets)
        self._captured_signals.clear()  # it would raise them again: told to stop, it ends well


async def serve_office(
    office: Office,
    *,
    port: int,
    host: str,
    names: tuple[str, ...],
    token: str,
    ticket: str,
    ready: Callable[[str], None],
) -> None:
    """Serve whoever shows the token until SIGTERM or Ctrl-C; `ready` is told the address.

    `ticket` lets one browser in, once, by an address (`/?ticket=…`).
    `names` are hosts under which it is called beside those of loopback (`research.example.org`,
    with a port where there is one). Runs under way are stopped then, and can be resumed.
    """
    with listening_socket(port, host) as listening:
        at = listening.getsockname()[1]
        app = Doorkeeper(
            with_headers(make_app(office)),
            token,
            [*local_names(at), *(name.lower() for name in names)],
            cookie=cookie_name(at),
            ticket=ticket,
            open_paths=frozenset({HEALTH}),
        )
        config = uvicorn.Config(
            app,
            log_level="error",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=CLOSE_SECONDS,
        )
        listening.listen()
        ready(f"http://{host if host != '0.0.0.0' else HOST}:{at}")  # noqa: S104 - compared alone
        await _Server(config, office.desk.close).serve(sockets=[listening])
