"""Models in GGUF files, served on loopback by llama.cpp during a run (the `local` extra).

The server is a separate process with an OpenAI-compatible API; it exits with the run.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import ModelUnavailable, UsageError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

START_SECONDS = 120.0
"""Seconds allowed for starting, mostly spent reading the weights: two per gigabyte, if cached."""
_READY_PREFIX = "up at "
"""Prefix of the line in which the server prints its address."""


@asynccontextmanager
async def serve_model_file(file: str, context_window: int) -> AsyncIterator[str]:
    """Serve a model file for the duration of the block; yields the API's address.

    Raises `UsageError` if the file or the library is missing, `ModelUnavailable` if the server does
    not start, for example because the file does not contain a model.
    """
    command = await asyncio.to_thread(_command, file, context_window)
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield f"{await _address(process, file)}/v1"
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def _command(file: str, context_window: int) -> list[str]:
    """Return the command that serves a file on a free port; raises `UsageError`."""
    path = Path(file).expanduser()
    if not path.is_file():
        raise UsageError(f"model file not found: {file}", hint="Use the format local:FILE.gguf.")
    if find_spec("xllamacpp") is None:
        raise UsageError(
            "local:… requires a library that is not installed: xllamacpp",
            hint="Install it: pip install 'urchin-research[local]'.",
        )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return [sys.executable, "-m", __name__, str(path), str(port), str(context_window)]


async def _address(process: asyncio.subprocess.Process, file: str) -> str:
    assert process.stdout is not None, "opened as a pipe"
    try:
        async with asyncio.timeout(START_SECONDS):
            async for line in process.stdout:
                if line.decode(errors="replace").startswith(_READY_PREFIX):
                    return line.decode().removeprefix(_READY_PREFIX).strip()
    except TimeoutError:
        raise ModelUnavailable(
            f"{Path(file).name} was not ready after {START_SECONDS:g} s"
        ) from None
    raise ModelUnavailable(
        f"llama.cpp cannot serve {Path(file).name}", hint="Is it a complete model in GGUF format?"
    )


def serve(file: str, port: int, context_window: int) -> None:
    """Serve a model file until stdin is closed; runs in a separate process."""
    import xllamacpp  # noqa: PLC0415 - an extra

    params = xllamacpp.CommonParams()
    params.model.path, params.port, params.hostnames = file, port, ["127.0.0.1"]
    params.n_ctx, params.n_parallel, params.warmup = context_window, 1, False
    # always use the most likely token: a small model should find text, not invent it
    params.sampling.temp = 0.0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = os.cpu_count() or 1
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{_READY_PREFIX}{server.listening_address}\n")
    sys.stdout.flush()
    # The pipe is closed when the parent process ends, even if it is killed.
    sys.stdin.read()


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
