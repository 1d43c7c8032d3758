"""Tests third-party MCP servers: each is reached, listed and called; one is killed in a call.

    python -m bench.others [FOLDER]

FOLDER stores what is installed from npm and PyPI (a temporary folder by default). What cannot be
installed is named and skipped. Exits with 8 if an installed server does not work.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agent.errors import ResearchError
from agent.evidence.store import Evidence
from agent.guard.outgoing import Outgoing
from agent.limits import LimitSettings
from agent.mcp_client.server_settings import NamedServer, ServerSettings
from agent.mcp_client.server_tools import open_servers
from agent.tools.context import ToolContext
from agent.tools.policy import Policy
from agent.tools.registry import Registry
from agent.types import ToolCall
from fixtures.server import serve

NPM = "@modelcontextprotocol/server-"
MODULES = ("everything", "filesystem", "memory")
PACKAGES = {"time": "mcp-server-time", "fetch": "mcp-server-fetch", "sqlite": "mcp-server-sqlite"}
CALLS: dict[str, tuple[str, str]] = {
    "everything": ("get_sum", '{"a": 2, "b": 3}'),
    "everything_sse": ("echo", '{"message": "hello"}'),
    "everything_http": ("echo", '{"message": "hello"}'),
    "filesystem": ("list_directory", '{"path": "FOLDER"}'),
    "memory": ("read_graph", ""),
    "time": ("get_current_time", '{"timezone": "Europe/Oslo"}'),
    "fetch": ("fetch", '{"url": "PAGE"}'),
    "sqlite": ("list_tables", ""),
}
PORTS = {"everything_sse": 8971, "everything_http": 8972}


def installed(folder: Path) -> dict[str, dict[str, Any]]:
    """Install what is available; returns how each server is started."""
    rows: dict[str, dict[str, Any]] = {}
    for name in MODULES:
        script = folder / "node_modules" / f"{NPM}{name}" / "dist" / "index.js"
        if not script.is_file() and shutil.which("npm"):
            _quiet("npm", "install", "--silent", "--prefix", str(folder), f"{NPM}{name}")
        if script.is_file():
            own = [str(folder)] if name == "filesystem" else []
            rows[name] = {"command": "node", "args": [str(script), *own]}
    for name, package in PACKAGES.items():
        program = folder / f"venv-{name}" / "bin" / package
        if not program.is_file():
            _quiet(sys.executable, "-m", "venv", str(program.parents[1]))
            older = ["mcp<2"] if name == "sqlite" else []  # it fails with the current SDK
            _quiet(str(program.with_name("pip")), "install", "-q", package, *older)
        if program.is_file():
            own = {
                "sqlite": ["--db-path", str(folder / "x.db")],
                "fetch": ["--allow-private-ips", "--ignore-robots-txt"],
            }.get(name, [])
            rows[name] = {"command": str(program), "args": own}
    return {name: {**row, "alwaysAllow": ["*"]} for name, row in rows.items()}


def _quiet(*command: str) -> None:
    subprocess.run(command, capture_output=True, check=False, timeout=300)


async def called(rows: dict[str, dict[str, Any]], folder: Path, page: str) -> dict[str, str]:
    """Call a tool on each server; returns the results by server. `page` is one to fetch."""
    context = ToolContext("q", Evidence(), LimitSettings(), lambda *_, **__: None, str, Outgoing())
    servers = [
        NamedServer(name, name, ServerSettings.model_validate(row), folder)
        for name, row in rows.items()
    ]
    told = {}
    async with open_servers(servers, folder / "data") as found:
        policy = Policy(Registry(found.tools), context)
        for name in rows:
            tool, param = CALLS[name]
            param = param.replace("FOLDER", str(folder)).replace("PAGE", page)
            finish = await policy.run(ToolCall(f"mcp__{name}__{tool}", param), f"main/{name}")
            result = finish()
            told[name] = str(result.data.get("error") or f"ok: {result.web[:60]!r}")
        count = len(found.tools)
        print(
            f"{count} tools of {len(rows)} servers; {found.diagnostics or 'none failed to start'}"
        )
        if "everything" in rows:
            told["killed in a call"] = await _killed(policy)
    return told


async def _killed(policy: Policy) -> str:
    long = ToolCall("mcp__everything__trigger_long_running_operation", '{"duration": 60}')
    calling = asyncio.create_task(policy.run(long, "main/kill"))
    await asyncio.sleep(1)
    for pid in await asyncio.to_thread(_started, "server-everything/dist/index.js"):
        os.kill(pid, signal.SIGKILL)
    lost = (await calling)().data["error"]
    again = await policy.run(ToolCall("mcp__everything__echo", '{"message": "x"}'), "main/again")
    found = again().data
    return f"ok: {lost}; then {found.get('error', 'it answers again')}"


def _started(script: str) -> list[int]:
    """Find the processes that this one started with a script over standard streams."""
    listed = subprocess.run(
        ["pgrep", "-P", str(os.getpid()), "-f", f"{script}$"],
        capture_output=True,
        text=True,
        check=False,
    )
    return [int(pid) for pid in listed.stdout.split()]


def _served(port: int, command: list[str]) -> subprocess.Popen[bytes]:
    """Start an HTTP server and wait until it listens."""
    env = {**os.environ, "PORT": str(port)}
    process = subprocess.Popen(command, env=env, stderr=-3, stdout=-3)
    for _ in range(100):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            break
        time.sleep(0.2)
    return process


def main(folder: Path) -> int:
    """Install, call, and report the results."""
    rows = installed(folder)
    missing = {*MODULES, *PACKAGES} - rows.keys()
    if missing:
        print(f"skipped, npm or PyPI is not reachable: {', '.join(sorted(missing))}")
    over_http = []
    if "everything" in rows:
        for name, port in PORTS.items():
            kind, path = ("sse", "sse") if name.endswith("sse") else ("streamableHttp", "mcp")
            started = rows["everything"]
            over_http.append(_served(port, [started["command"], *started["args"], kind]))
            rows[name] = {"url": f"http://127.0.0.1:{port}/{path}", "alwaysAllow": ["*"]}
    try:
        with serve() as site:
            told = asyncio.run(called(rows, folder, f"{site.url}/hesk-light"))
    except ResearchError as error:
        told = {"all": str(error)}
    finally:
        for process in over_http:
            process.kill()
    for name, what in told.items():
        print(f"{name:<18} {what}")
    return 0 if all(what.startswith("ok") for what in told.values()) else 8


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(main(Path(sys.argv[1]).resolve()))
    with TemporaryDirectory() as made:
        sys.exit(main(Path(made)))
