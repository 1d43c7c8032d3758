"""A session of @playwright/mcp, recorded and then replayed with `research mcp serve --browser`.

    python -m tests.bench.dropin DATA [FOLDER]

DATA holds `articles`, saved pages; FOLDER keeps @playwright/mcp (npm; a temporary one without it).
On ten pages a session of thirty calls is recorded: opening, then two acts, by what the page has.
Replayed, each element is found by the role and name that it had, in what was shown, else with
browser_find, which is counted. Printed: calls done, pages alike after each call (address, title,
fields, what is open, text), and tokens: those of a snapshot's file count as read. Ends with 8 where
a page ends up otherwise, or the tokens are more than 15 %.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters

from agent.config import Options
from agent.guard.window import tokens
from agent.mcp.server import make_server
from agent.mcp.tool_session import open_session
from browser.session.chrome import find_chrome
from tests.bench.shelf import pages_of, served

PAGES = 10
CALLS = 30
TARGET = 0.15
PACKAGE = "@playwright/mcp"
STATE = """() => JSON.stringify({
  url: location.pathname + location.search, title: document.title,
  fields: [...document.querySelectorAll('input:not([type=hidden]),textarea,select')]
    .map(f => [f.name || f.id, f.type == 'checkbox' || f.type == 'radio' ? f.checked : f.value]),
  open: [...document.querySelectorAll('details,[aria-expanded]')]
    .map(e => e.open ?? e.getAttribute('aria-expanded')),
  text: document.body.innerText.replace(/\\s+/g, ' ').trim().slice(0, 20000),
})"""
_NODE = re.compile(r'- (\w+) "((?:[^"\\]|\\.){2,60})"[^\n]*?\[ref=(\w+)\]')
_OURS = re.compile(r"\[((?:f\d+)?e\d+)( [^:\]]+)?: ([^\n]*)")
ACTS = ("textbox", "searchbox", "checkbox", "combobox", "button", "link")


@dataclass(frozen=True)
class Call:
    """A call of a session: its element by role and name."""

    tool: str
    arguments: dict[str, Any]
    role: str = ""
    name: str = ""


@dataclass
class Session:
    """What calls came to: the state of the page after each, and tokens."""

    calls: list[Call] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    tokens: int = 0
    failed: list[str] = field(default_factory=list)


class Recorder:
    """Makes calls of @playwright/mcp, and notes them."""

    def __init__(self, client: Client, folder: Path) -> None:
        self._client = client
        self._folder = folder
        self.session = Session()
        self.shown = ""

    async def call(self, call: Call, ref: str = "") -> bool:
        """Make a call; one that fails is no part of the session."""
        given = call.arguments | ({"target": ref} if ref else {})
        made = await self._client.call_tool(call.tool, given)
        said = made.content[0].text
        if made.is_error:
            return False
        files = re.findall(r"\[Snapshot\]\(([^)]+)\)", said)
        read = "".join((self._folder / name).read_text() for name in files)
        self.shown = read or self.shown
        self.session.tokens += tokens(said + read)
        self.session.calls.append(call)
        state = await self._client.call_tool("browser_evaluate", {"function": STATE})
        self.session.states.append(_state(state.content[0].text))
        return True

    async def on_page(self, url: str, first: int, left: int) -> None:
        """Open a page, and act on what it has: another role first on each page."""
        await self.call(Call("browser_navigate", {"url": url}))
        found = _NODE.findall(self.shown)
        names = [name for _, name, _ in found]
        alone = [row for row in found if names.count(row[1]) == 1 and "\\" not in row[1]]
        roles = [ACTS[(first + n) % len(ACTS)] for n in range(len(ACTS))]
        chosen = [next((row for row in alone if row[0] == role), None) for role in roles]
        for role, name, ref in [row for row in chosen if row]:
            if left and await self.call(_act(role, name), ref):
                left -= 1
        for key in ("End", "Home")[:left]:
            await self.call(Call("browser_press_key", {"key": key}))


def _act(role: str, name: str) -> Call:
    if role in ("textbox", "searchbox"):
        return Call("browser_type", {"text": "harbour"}, role, name)
    if role == "link":
        return Call("browser_hover", {}, role, name)
    return Call("browser_click", {}, role, name)


def _state(said: str) -> str:
    """Read what browser_evaluate gives: a JSON text in a JSON text below a heading."""
    line = next(line for line in said.splitlines() if line.startswith('"{'))
    return str(json.loads(line))


async def recorded(urls: list[str], folder: Path, address: str) -> Session:
    """Record a session."""
    program = folder / "node_modules" / PACKAGE / "cli.js"
    flags = ["--headless", "--isolated", "--no-sandbox", "--executable-path", str(find_chrome())]
    flags += ["--allowed-origins", address]
    with TemporaryDirectory() as made:
        started = StdioServerParameters(command="node", args=[str(program), *flags], cwd=made)
        async with Client(started) as client:
            recorder = Recorder(client, Path(made))
            for n, url in enumerate(urls):
                each = CALLS // PAGES - 1
                await recorder.on_page(url, n, each)
            return recorder.session


class Player:
    """Replays a session with our server."""

    def __init__(self, client: Client, session: Any) -> None:
        self._client = client
        self._session = session
        self.done = Session()
        self._shown = ""

    async def play(self, call: Call) -> None:
        """Replay a call, its element found by role and name."""
        given = dict(call.arguments)
        if call.name:
            given["target"] = await self._ref(call)
        said, failed = await self._call(call.tool, given)
        if failed:
            self.done.failed.append(f"{call.tool} {call.role} {call.name!r}: {said[:200]}")
        page = (await self._session.web()).tab.page
        self.done.states.append(await page.evaluate(STATE))

    async def _call(self, tool: str, given: dict[str, Any]) -> tuple[str, bool]:
        made = await self._client.call_tool(tool, given)
        said = made.content[0].text
        self.done.tokens += tokens(said)
        self._shown = said if tool == "browser_navigate" else f"{said}\n{self._shown}"
        return said, bool(made.is_error)

    async def _ref(self, call: Call) -> str:
        found = _named(self._shown, call)
        if not found:
            said, _ = await self._call("browser_find", {"text": call.name})
            found = _named(said, call)
        if not found:
            self.done.failed.append(f"no {call.role} {call.name!r} in: {self._shown[:300]}")
        return found or "e0"


def _named(shown: str, call: Call) -> str:
    """Find the ref of an element in what was shown: by name, the role where it is written."""
    rows = [(ref, role.strip(), name) for ref, role, name in _OURS.findall(shown)]
    begins = [row for row in rows if row[2].startswith(call.name)]
    holds = [row for row in rows if call.name in row[2]]  # `Menu (labelled: …)`
    alike = [row for row in (*begins, *holds) if call.role in (row[1] or "link")]
    return next((row[0] for row in (*alike, *begins, *holds)), "")


async def replayed(session: Session, host: str) -> Session:
    """Replay a session."""
    async with AsyncExitStack() as stack:
        data = Path(stack.enter_context(TemporaryDirectory()))
        options = Options(
            data_dir=data, memory=False, allow_private=(host,), allow=(host,), ignore_robots=True
        )
        opened = await stack.enter_async_context(open_session(options))
        server = make_server(opened, {}, lambda _: [], browser=True)
        client = await stack.enter_async_context(Client(server))
        player = Player(client, opened)
        for call in session.calls:
            await player.play(call)
        return player.done


def report(then: Session, now: Session) -> int:
    """Print how the two compare; gives the exit code."""
    differing = []
    for call, a, b in zip(then.calls, then.states, now.states, strict=True):
        if a != b:
            old, new = json.loads(a), json.loads(b)
            parts = [key for key in old if old[key] != new[key]]
            differing.append(f"{call.tool} {call.role} {call.name!r}: other {', '.join(parts)}")
    share = now.tokens / then.tokens
    alike = len(then.calls) - len(differing)
    print(f"calls {len(then.calls)}, pages alike after {alike}; {len(now.failed)} failed")
    print(f"tokens {then.tokens:,} with {PACKAGE}, {now.tokens:,} here: {share:.1%}")
    for line in (*now.failed, *differing):
        print(f"  {line}")
    return 0 if not differing and not now.failed and share <= TARGET else 8


def main(data: Path, folder: Path) -> int:
    """Record, replay, report."""
    if not (folder / "node_modules" / PACKAGE).is_dir() and shutil.which("npm"):
        command = ["npm", "install", "--silent", "--prefix", str(folder), PACKAGE]
        subprocess.run(command, capture_output=True, check=False, timeout=300)
    if not (folder / "node_modules" / PACKAGE).is_dir():
        print(f"skipped: {PACKAGE} is not to be had from npm")
        return 0
    pages, _ = pages_of(str(data))
    with served(pages) as address:
        urls = [f"{address}/{n * len(pages) // PAGES}" for n in range(PAGES)]
        session = asyncio.run(recorded(urls, folder, address))
        return report(session, asyncio.run(replayed(session, address.partition("://")[2])))


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]).resolve()))
    with TemporaryDirectory() as made:
        sys.exit(main(Path(sys.argv[1]), Path(made)))
