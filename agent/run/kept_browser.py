"""A browser session kept open between commands by a background process that listens on a socket.

`python -m agent.run.kept_browser FOLDER` reads the run's options as JSON from standard input, and
listens on a socket in FOLDER, which only the user can access. A request is one line of JSON,
`{"tool": …, "arguments": {…}}`, as is its response, `{"text": …, "failed": …}`. The process exits
on request, or after IDLE_MINUTES without a request.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import socket
import subprocess
import sys
import time
from contextlib import AsyncExitStack, chdir, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from agent.config import load_options, private_folder
from agent.errors import ResearchError, UsageError, error_text
from agent.protocol.replies import inert
from browser.errors import BrowserError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.run.tool_calls import ToolCalls
    from agent.types import Observation

SOCKET: Final = "socket"
LOG: Final = "log"
CLOSE: Final = "CLOSE"
"""The request that ends the session."""
PICTURE: Final = "PICTURE"
"""The request for a screenshot, which the command saves."""
IDLE_MINUTES: Final = 30  # after this time without a request, the session ends
START_SECONDS: Final = 30.0  # time for Python and the browser to start
CALL_SECONDS: Final = 120.0
"""Seconds that a command waits for its response; a tool's own limit is shorter."""
_POLL_SECONDS: Final = 0.05  # interval between checks for the socket
MAX_LINE_BYTES: Final = 32_000_000
"""Maximum size of a request or a response in bytes."""


def session_folder(data: Path, name: str) -> Path:
    """Return a session's folder, private to the user; raises `UsageError` for an invalid name."""
    if not name.replace("-", "").replace("_", "").isalnum():
        raise UsageError(f"{name!r} is not a valid name", hint="Use letters, digits, - and _.")
    return private_folder(private_folder(private_folder(data) / "browser") / name)


def ask(folder: Path, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """Send a request to a session and return its response; None if the session is not running."""
    connection = _connected(folder)
    if connection is None:
        return None
    with connection, connection.makefile("rwb") as stream:
        request = {"tool": tool, "arguments": arguments}
        stream.write(json.dumps(request).encode() + b"\n")
        stream.flush()
        try:
            line = stream.readline(MAX_LINE_BYTES)
        except TimeoutError as error:
            why = f"the browser session did not respond within {CALL_SECONDS:g} s"
            raise UsageError(why, hint="`research browser close` ends the session.") from error
    if not line:
        raise UsageError("the browser session ended", hint=f"See its log: {folder / LOG}")
    answer: dict[str, Any] = json.loads(line)
    return answer


def _connected(folder: Path) -> socket.socket | None:
    if not hasattr(socket, "AF_UNIX"):
        raise UsageError("`research browser` needs Unix sockets, which this system lacks")
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(CALL_SECONDS)
    try:
        with chdir(folder):  # systems limit socket paths to about 100 characters
            connection.connect(SOCKET)
    except OSError:  # no socket, or no process is listening on it any more
        connection.close()
        return None
    return connection


def start(folder: Path, options: Mapping[str, Any]) -> None:
    """Start a session's process; raises `UsageError` on failure."""
    (folder / SOCKET).unlink(missing_ok=True)
    command = [sys.executable, "-m", "agent.run.kept_browser", str(folder)]
    with (folder / LOG).open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - this program itself
            command,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,  # it outlives this command and its terminal
        )
    assert process.stdin, "a pipe was requested"
    with process.stdin:
        process.stdin.write(json.dumps(dict(options), default=str).encode())
    until = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < until:
        if connection := _connected(folder):
            connection.close()
            process.returncode = 0  # it keeps running; prevents a warning from Popen
            return
        time.sleep(_POLL_SECONDS)
    process.kill()
    lines = (folder / LOG).read_text("utf-8", "replace").strip().splitlines()
    why = lines[-1] if lines else "no message"
    raise UsageError(
        f"the browser session did not start: {why}", hint=f"See its log: {folder / LOG}"
    )


async def serve(folder: Path, options: Mapping[str, Any]) -> None:
    """Handle requests until one ends the session, or none arrives for IDLE_MINUTES."""
    from agent.run.tool_calls import ToolCalls  # noqa: PLC0415 - the client needs none of it

    if sys.platform == "win32":
        raise UsageError(
            "a browser session needs Unix sockets, which Python does not support on Windows",
            hint="Use `research mcp` instead.",
        )
    # the settings that this session was started with
    settings = load_options(dict(options), config=True)
    used = asyncio.Event()
    ended = asyncio.Event()
    async with AsyncExitStack() as stack:
        calls = ToolCalls(lambda: settings, stack)
        stack.callback(calls.context.close)

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            used.set()
            with suppress(ConnectionError):  # the command was interrupted
                if line := await reader.readline():
                    request = json.loads(line)
                    if request["tool"] == CLOSE:
                        ended.set()
                    reply = await _handle_request(calls, request)
                    writer.write(json.dumps(reply).encode() + b"\n")
                    await writer.drain()
            writer.close()
            used.set()

        at = socket.socket(socket.AF_UNIX)
        mask = os.umask(0o177)  # restrict socket access to the user from the start
        try:
            with chdir(folder):
                at.bind(SOCKET)
        finally:
            os.umask(mask)
        listening = await asyncio.start_unix_server(answer, sock=at, limit=MAX_LINE_BYTES)
        async with listening:
            await _until_idle(used, ended)
    (folder / SOCKET).unlink(missing_ok=True)


async def _until_idle(used: asyncio.Event, ended: asyncio.Event) -> None:
    end = asyncio.ensure_future(ended.wait())
    while not end.done():
        used.clear()
        use = asyncio.ensure_future(used.wait())
        done, _ = await asyncio.wait(
            {use, end}, timeout=IDLE_MINUTES * 60, return_when=asyncio.FIRST_COMPLETED
        )
        use.cancel()
        if not done:
            break
    end.cancel()


async def _handle_request(calls: ToolCalls, request: Mapping[str, Any]) -> dict[str, Any]:
    """Run one request; an error is returned as the response's text."""
    tool, arguments = str(request["tool"]), dict(request["arguments"])
    if tool == CLOSE:
        return {"text": "closed", "failed": False}
    if tool == PICTURE:
        return await _picture(calls)
    try:
        result = await calls.run(None, tool, arguments)
    except ResearchError as error:
        return {"text": "\n".join(filter(None, (str(error), error.hint))), "failed": True}
    except Exception as error:  # noqa: BLE001 - an error in one call must not end the session
        return {"text": error_text(f"{type(error).__name__}: {error}"), "failed": True}
    found = result.data.get("found", True)
    return {"text": result_text(result), "failed": result.failed or not found}


async def _picture(calls: ToolCalls) -> dict[str, Any]:
    """Take a screenshot of the visible page, for the command to save."""
    tab = (await calls.web()).tab
    if tab is None:
        return {"text": "no page is open", "failed": True}
    try:
        async with calls.page_turn:
            picture = await tab.screenshot()
    except BrowserError as error:
        return {"text": str(error), "failed": True}
    return {"text": "", "picture": base64.b64encode(picture).decode(), "failed": False}


def result_text(result: Observation) -> str:
    """Format a result as plain text: the action and its outcome, then the page's text."""
    data = result.data
    if result.failed:
        return "\n".join(
            [
                error_text(str(data["error"])),
                *map(str, data.get("candidates", ())),
                *filter(None, [result.hint]),
            ]
        )
    lines = [str(data["did"])] if "did" in data else []
    if "did" not in data and data.get("url"):
        lines.append(" ".join(str(data[name]) for name in ("url", "title") if data.get(name)))
    lines += [f"{name}: {data[name]}" for name in ("file", "path") if name in data]
    lines += [
        " ".join(filter(None, (tab["id"], "*" if tab["active"] else "", tab["url"], tab["title"])))
        for tab in data.get("tabs", ())
    ]
    lines += [inert(str(event)) for event in data.get("events", ())]
    if result.web:
        lines.append(f"<web>\n{inert(result.web)}\n</web>")
    return "\n".join(lines) or json.dumps(data, ensure_ascii=False)


def main(folder: str) -> None:
    """Run the session of a folder, with options from standard input."""
    options = json.loads(sys.stdin.read() or "{}")
    sys.stdin.close()
    asyncio.run(serve(Path(folder), options))


if __name__ == "__main__":
    main(sys.argv[1])
