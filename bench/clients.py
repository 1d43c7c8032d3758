"""Tests `research mcp serve` with third-party clients: the TypeScript SDK's, the inspector's.

    python -m bench.clients [FOLDER]

FOLDER stores what is installed from npm. Over standard streams and HTTP it checks list, call,
progress, cancel, error and resource; the answers must equal those of the shell. Exits with 8 if one
differs.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from fixtures.server import serve

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGES = {
    "@modelcontextprotocol/sdk": "",
    "@modelcontextprotocol/inspector": "@0.22.0",  # Node 20: npm picks 0.15, which sends no token
}
COMMAND = str(Path(sys.executable).with_name("research"))
QUESTION = "When was Hesk Light first lit?"
TOKEN = "a-token-of-the-bench"
EXPECTED = {
    "list": ["research", "read", "search", "verify", "audit"],
    "templates": 4,
    "resource": f"# {QUESTION}",
    "error": [True, "since: Input should be a date such as 2025-01-31"],
    "unknown": [True, "Unknown tool: nope"],
    "missing": "MCP error -32602: no run nope. `research runs` lists all runs.",
    "cancel": "MCP error -32001: enough",
    "after": True,
}


def run_json_command(*command: str, folder: Path, **more: str) -> Any:
    """Run a command and return the JSON that it prints, or its error if it prints none."""
    env = {**os.environ, **more}
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env=env, check=False, timeout=300
    )
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {"failed": done.stderr[-300:]}


@contextmanager
def over_http(flags: list[str]) -> Iterator[str]:
    """Serve over HTTP until the block ends; yields the address."""
    command = [COMMAND, "mcp", "serve", "--http", *flags]
    env = {**os.environ, "RESEARCH_MCP_TOKEN": TOKEN}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as server:
        assert server.stdout
        yield server.stdout.readline().strip()
        server.terminate()


def inspect(asked: list[str], folder: Path) -> tuple[Any, Any]:
    """Have the inspector list the tools and call one."""
    listed = run_json_command(*asked, "tools/list", folder=folder)
    call = ["tools/call", "--tool-name", "search", "--tool-arg", "query=Hesk Light"]
    return listed, run_json_command(*asked, *call, folder=folder)


def main(folder: Path) -> int:
    """Install, ask in each way, and report differences."""
    for package, at in PACKAGES.items():
        if not (folder / "node_modules" / package).is_dir() and shutil.which("npm"):
            command = ["npm", "install", "--silent", "--prefix", str(folder), f"{package}{at}"]
            subprocess.run(command, capture_output=True, check=False, timeout=300)
    missing = [name for name in PACKAGES if not (folder / "node_modules" / name).is_dir()]
    if missing:
        print(f"skipped: {', '.join(missing)} not to be had from npm")
        return 0
    script = shutil.copy(Path(__file__).with_name("clients.mjs"), folder / "clients.mjs")
    with serve() as site, TemporaryDirectory() as data:
        web = ["--search", "searxng", "--searxng-url", site.url, "--no-memory", "--data-dir", data]
        shell = run_json_command(COMMAND, QUESTION, *web, "-q", "--json", folder=folder)
        expected = {**EXPECTED, "answer": shell["answer"], "confidence": shell["confidence"]}
        serving = [COMMAND, "mcp", "serve", *web]
        found = {"stdio": run_json_command("node", script, "stdio", *serving, folder=folder)}
        with over_http(web) as address:
            found["http"] = run_json_command("node", script, "http", address, TOKEN, folder=folder)
        inspector = str(folder / "node_modules" / ".bin" / "mcp-inspector")
        # The inspector takes options anywhere as its own, so the flags are passed as variables.
        own = {"RESEARCH_SEARCH": "searxng", "RESEARCH_SEARXNG_URL": site.url}
        env = [part for name, value in own.items() for part in ("-e", f"{name}={value}")]
        asked = [inspector, "--cli", *env, COMMAND, "mcp", "serve", "--method"]
        inspected = {"stdio": inspect(asked, folder)}
        with over_http(web) as address:
            bearer = f"Authorization: Bearer {TOKEN}"
            by = [inspector, "--cli", address, "--transport", "http", "--header"]
            inspected["http"] = inspect([*by, bearer, "--method"], folder)
            refused = run_json_command(
                *by, "Authorization: Bearer no", "--method", "tools/list", folder=folder
            )
    wrong = [
        f"{way}: {name} is {made.get(name, made)!r}, not {value!r}"
        for way, made in found.items()
        for name, value in expected.items()
        if made.get(name) != value
    ]
    wrong += [f"{way}: no progress" for way, made in found.items() if not made.get("steps")]
    for way, (listed, called) in inspected.items():
        wrong += [] if len(listed.get("tools", ())) >= 4 else [f"inspector, {way}: {listed}"]
        wrong += [] if called.get("content") else [f"inspector, {way}: {called}"]
    wrong += [] if "failed" in refused else [f"inspector, http: a wrong token got {refused}"]
    checks = len(found) * (len(expected) + 1) + 2 * len(inspected) + 1
    print(f"{checks - len(wrong)} of {checks} checks hold", *wrong, sep="\n  ")
    return 8 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(main(Path(sys.argv[1]).resolve()))
    with TemporaryDirectory() as made:
        sys.exit(main(Path(made)))
