"""Runs a channel against a loopback service, with a folder of files as its web."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn

from agent.channels.channel_runner import run_channels
from agent.channels.dialogue import Dialogue
from agent.errors import UsageError
from agent.options import Options

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

PUMP = "# The pump\n\nIda Holm repaired the pump of Skarholm on 3 May 2024. It was built in 1911.\n"
MILL = "# The mill\n\nThe mill of Brack burned down in 1873. Jon Aas rebuilt the mill in 1880.\n"


async def eventually(true: Callable[[], Any], *shown: object) -> Any:
    """Wait for another task; no time is asserted, only that the waiting ends."""
    try:
        async with asyncio.timeout(120):
            while not (found := true()):  # noqa: ASYNC110 - several tasks, of services too
                await asyncio.sleep(0.01)
    except TimeoutError as error:
        raise AssertionError(f"it did not come: {shown}") from error
    return found


@asynccontextmanager
async def served(app: Any) -> AsyncIterator[str]:
    """Serve an ASGI application on loopback, in this loop."""
    config = uvicorn.Config(app, port=0, log_config=None, lifespan="off", ws="websockets-sansio")
    server = uvicorn.Server(config)
    serving = asyncio.ensure_future(server._serve())
    await eventually(lambda: server.started)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = server.force_exit = True
        await serving


class TruncatedResponse:
    """An answer that is cut off: the client cannot know what was done."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-length", b"99"), (b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})


class ChannelHarness:
    """A running channel: what it reported to its operator, and how to stop and start it."""

    def __init__(self, data: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.said: list[str] = []
        self._data, self._corpus, self._monkeypatch = data, corpus, monkeypatch

    @asynccontextmanager
    async def running(
        self, kind: str, environ: dict[str, str], **settings: Any
    ) -> AsyncIterator[ChannelHarness]:
        run = {"corpus": str(self._corpus), "model": "extractive", **settings.pop("run", {})}
        row = {"kind": kind, "run": run, **settings}
        self.options = Options(data_dir=self._data, channels={kind: row})
        for name, value in environ.items():
            self._monkeypatch.setenv(name, value)
        task = asyncio.ensure_future(
            run_channels([kind], lambda: self.options, Dialogue, self.said.append)
        )
        try:
            yield self
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError, UsageError):
                await task


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ChannelHarness:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "pump.md").write_text(PUMP)
    (corpus / "mill.md").write_text(MILL)
    monkeypatch.setenv("RESEARCH_CONFIG", str(tmp_path / "config.toml"))
    return ChannelHarness(tmp_path / "data", corpus, monkeypatch)
