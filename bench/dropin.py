"""Records @playwright/mcp sessions and replays them with `research mcp serve --browser`.

    python -m bench.dropin DATA [FOLDER]

DATA contains `articles`, saved pages; FOLDER stores @playwright/mcp (from npm; a temporary folder
by default). There are two sessions: thirty calls on ten saved pages (opening each, then two actions
that suit the page), and the actions in `dropin_acts`, which cover every tool. In the replay, each
element is found by its role and name in what was shown, otherwise with browser_find, which is
counted. Prints calls done, pages equal after each call (address, title, fields, what is open,
text), and tokens; those in a snapshot's file count as read. Exits with 8 if a page ends up
different, or the tokens exceed 15 %.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import sys
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.types import ElicitResult

from agent.guard.window import tokens
from agent.mcp.server import make_server
from agent.mcp.tool_session import open_session
from agent.options import Options
from bench.dropin_acts import Step, acts, workshop
from bench.shelf import pages_of, served
from browser.session.chrome import find_chrome

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

PAGES = 10
CALLS = 30
TARGET = 0.15
PACKAGE = "@playwright/mcp"
LISTING = "browser_network_requests"
STATE = """() => JSON.stringify({
  url: location.pathname + location.search, title: document.title,
  fields: [...document.querySelectorAll('input:not([type=hidden]),textarea,select')]
    .map(f => [f.name || f.id, f.type == 'checkbox' || f.type == 'radio' ? f.checked : f.value]),
  open: [...document.querySelectorAll('details,[aria-expanded]')]
    .map(e => e.open ?? e.getAttribute('aria-expanded')),
  text: document.body.innerText.replace(/\\s+/g, ' ').trim().slice(0, 20000),
})"""
_NODE = re.compile(r"- (\w+)(?: \"((?:[^\"\\]|\\.)*)\")?[^\n]*?\[ref=(\w+)\](?:[^\n:]*: ([^\n]*))?")
_OURS = re.compile(r"\[((?:f\d+)?e\d+)( [^:\]]+)?: ([^\]\n]*)")
_TARGET = re.compile(r"@(\w+) (.*)", re.DOTALL)
ACTS = ("textbox", "searchbox", "checkbox", "combobox", "button", "link")


@dataclass
class Session:
    """The results of calls: the page state after each, and tokens."""

    calls: list[Step] = field(default_factory=list)
    states: list[str | None] = field(default_factory=list)
    tokens: int = 0
    failed: list[str] = field(default_factory=list)

    def note(self, step: Step, said: str, *, failed: bool) -> None:
        """Count a call and record what went wrong."""
        self.tokens += tokens(said)
        missing = [text for text in step.says if text not in said]
        if failed or missing:
            why = f"does not say {missing}: " if missing and not failed else ""
            self.failed.append(f"{step.tool} {step.arguments}: {why}{said[:300]}")


class Recorder:
    """Makes calls to @playwright/mcp and records them."""

    def __init__(self, client: Client, folder: Path, state: str = STATE) -> None:
        self._client = client
        self._folder = folder
        self._state_function = state
        self.session = Session()
        self.shown = ""
        self._listed = ""

    async def call(self, step: Step, *, optional: bool = False) -> bool:
        """Make a call; an `optional` call that fails is not part of the session."""
        made = await self._client.call_tool(step.tool, await resolved(step.arguments, self._found))
        said = _text(made)
        if made.is_error and optional:
            return False
        files = re.findall(r"\[(?:Snapshot|Network|Console|Request)[^\]]*\]\(([^)]+)\)", said)
        read = "".join((self._folder / name).read_text() for name in files)
        self.shown = next((text for text in (read, said) if "[ref=" in text), self.shown)
        if step.tool == LISTING:
            self._listed = said + read
        self.session.calls.append(step)
        self.session.note(step, said + read, failed=bool(made.is_error))
        self.session.states.append(None if step.open else await self._state())
        return True

    async def _state(self) -> str:
        return await self.evaluated(self._state_function)

    async def evaluated(self, function: str) -> str:
        """Return what browser_evaluate returns: a JSON text in a JSON text below a heading."""
        made = await self._client.call_tool("browser_evaluate", {"function": function})
        line = next((line for line in _text(made).splitlines() if line.startswith('"')), '"{}"')
        return str(json.loads(line))

    async def _found(self, role: str, name: str) -> str:
        if not role:
            return _number_of(self._listed, name)
        nodes = [(r, quoted or text, ref) for r, quoted, ref, text in _NODE.findall(self.shown)]
        return next((ref for r, said, ref in nodes if r == role and said == name), f"no {name}")

    async def on_page(self, url: str, first: int, left: int) -> None:
        """Open a page and act on what it has, starting with a different role on each page."""
        await self.call(Step("browser_navigate", {"url": url}))
        found = [(r, name, ref) for r, name, ref, _ in _NODE.findall(self.shown)]
        names = [name for _, name, _ in found]
        alone = [row[:2] for row in found if names.count(row[1]) == 1 and _plain(row[1])]
        roles = [ACTS[(first + n) % len(ACTS)] for n in range(len(ACTS))]
        chosen = [next((row for row in alone if row[0] == role), None) for role in roles]
        for role, name in [row for row in chosen if row]:
            if left and await self.call(_act(role, name), optional=True):
                left -= 1
        for key in ("End", "Home")[:left]:
            await self.call(Step("browser_press_key", {"key": key}))


def _plain(name: str) -> bool:
    return "\\" not in name and 2 <= len(name) <= 60


def _act(role: str, name: str) -> Step:
    target = {"target": f"@{role} {name}"}
    if role in ("textbox", "searchbox"):
        return Step("browser_type", {**target, "text": "harbour"})
    return Step("browser_hover" if role == "link" else "browser_click", target)


def _text(made: Any) -> str:
    return "\n".join(getattr(part, "text", "") for part in made.content)


def _number_of(listed: str, name: str) -> str:
    """Find the number of the first line in a list that contains a name."""
    rows = re.findall(r"(?m)^(\d+)\. .*" + re.escape(name), listed)
    return next(iter(rows), "0")


async def resolved(value: Any, find: Callable[[str, str], Awaitable[str]]) -> Any:
    """Replace `@role name` with refs, and `#text` with a line number."""
    if isinstance(value, dict):
        return {key: await resolved(each, find) for key, each in value.items()}
    if isinstance(value, list):
        return [await resolved(each, find) for each in value]
    if isinstance(value, str) and (found := _TARGET.fullmatch(value)):
        return await find(*found.groups())
    if isinstance(value, str) and value.startswith("#data"):
        return int(await find("", value[1:]))
    return value


@asynccontextmanager
async def reference(
    folder: Path, address: str, work: Path, state: str = STATE
) -> AsyncIterator[Recorder]:
    """Start @playwright/mcp in a folder; `state` is the function that reads a page's state."""
    program = folder / "node_modules" / PACKAGE / "cli.js"
    flags = ["--headless", "--isolated", "--no-sandbox", "--executable-path", str(find_chrome())]
    flags += ["--allowed-origins", address]
    started = StdioServerParameters(command="node", args=[str(program), *flags], cwd=work)
    async with Client(started) as client:
        yield Recorder(client, work, state)


async def recorded(urls: list[str], folder: Path, address: str) -> Session:
    """Record a session over saved pages."""
    with TemporaryDirectory() as made:
        async with reference(folder, address, Path(made)) as recorder:
            for n, url in enumerate(urls):
                each = CALLS // PAGES - 1
                await recorder.on_page(url, n, each)
            return recorder.session


async def recorded_acts(steps: Sequence[Step], folder: Path, address: str, work: Path) -> Session:
    """Record a session of actions."""
    async with reference(folder, address, work) as recorder:
        for step in steps:
            await recorder.call(step)
        return recorder.session


class Player:
    """Replays a session with our server."""

    def __init__(self, client: Client, session: Any) -> None:
        self._client = client
        self._session = session
        self.done = Session()
        self._shown = ""
        self._listed = ""

    async def play(self, step: Step, *, stateful: bool) -> None:
        """Replay a call, finding its element by role and name; read the page if `stateful`."""
        given = await resolved(step.arguments, self._found)
        made = await self._client.call_tool(step.tool, given)
        said = _text(made)
        self._listed = said if step.tool == LISTING else self._listed
        self.done.note(step, said, failed=bool(made.is_error))
        anew = step.tool in ("browser_navigate", "browser_tabs", "browser_navigate_back")
        self._shown = said if anew else f"{said}\n{self._shown}"
        tab = (await self._session.web()).tab
        self.done.states.append(await tab.page.evaluate(STATE) if stateful and tab else None)

    async def _found(self, role: str, name: str) -> str:
        if not role:
            return _number_of(self._listed, name)
        found = named(self._shown, role, name)
        if not found:
            made = await self._client.call_tool("browser_find", {"text": name})
            self.done.tokens += tokens(_text(made))
            found = named(_text(made), role, name)
        if not found:
            self.done.failed.append(f"no {role} {name!r} in: {self._shown[:300]}")
        return found or "e0"


def named(shown: str, role: str, wanted: str) -> str:
    """Find an element's ref in what was shown, by its name, and by its role if given."""
    rows = [(ref, said.strip(), name) for ref, said, name in _OURS.findall(shown)]
    begins = [row for row in rows if row[2].startswith(wanted)]
    holds = [row for row in rows if wanted in row[2]]  # `Menu (labelled: …)`
    alike = [row for row in (*begins, *holds) if role in (row[1] or "link")]
    return next((row[0] for row in (*alike, *begins, *holds)), "")


async def replayed(session: Session, host: str, files: Sequence[Path] = ()) -> Session:
    """Replay a session; the user approves whatever it asks."""
    async with AsyncExitStack() as stack:
        data = Path(stack.enter_context(TemporaryDirectory()))
        options = Options(
            data_dir=data,
            memory=False,
            allow_private=(host,),
            allow=(host,),
            ignore_robots=True,
            file=tuple(files),
        )
        opened = await stack.enter_async_context(open_session(options))
        server = make_server(opened, {}, browser=True)

        async def agrees(_context: Any, _params: Any) -> ElicitResult:
            return ElicitResult(action="accept", content={"yes": True})

        client = await stack.enter_async_context(Client(server, elicitation_callback=agrees))
        player = Player(client, opened)
        for step, state in zip(session.calls, session.states, strict=True):
            await player.play(step, stateful=state is not None)
        return player.done


def _differing(key: str, there: Any, here: Any) -> str:
    if isinstance(there, list) and isinstance(here, list):
        there, here = [x for x in there if x not in here], [x for x in here if x not in there]
    if isinstance(there, str) and isinstance(here, str):
        alike = next((n for n, (a, b) in enumerate(zip(there, here)) if a != b), 0)  # noqa: B905
        there, here = there[alike : alike + 80], here[alike : alike + 80]
    return f"{key} {there!r} there, {here!r} here" if there != here else ""


def report(name: str, then: Session, now: Session) -> bool:
    """Print how the two compare; return whether everything was equal."""
    differing = []
    for call, a, b in zip(then.calls, then.states, now.states, strict=True):
        if a != b:
            old, new = json.loads(a or "{}"), json.loads(b or "{}")
            parts = [_differing(key, old[key], new.get(key)) for key in old]
            differing.append(f"{call.tool} {call.arguments}: {' | '.join(filter(None, parts))}")
    share = now.tokens / then.tokens
    alike = len(then.calls) - len(differing)
    print(f"{name}: calls {len(then.calls)}, pages alike after {alike}; {len(now.failed)} failed")
    print(f"tokens {then.tokens:,} with {PACKAGE}, {now.tokens:,} here: {share:.1%}")
    for line in (*(f"there: {one}" for one in then.failed), *now.failed, *differing):
        print(f"  {line}")
    return not differing and not now.failed


def had_package(folder: Path) -> bool:
    """Install @playwright/mcp in a folder if it is missing; return whether it is there now."""
    if not (folder / "node_modules" / PACKAGE).is_dir() and shutil.which("npm"):
        command = ["npm", "install", "--silent", "--prefix", str(folder), PACKAGE]
        subprocess.run(command, capture_output=True, check=False, timeout=300)
    return (folder / "node_modules" / PACKAGE).is_dir()


def main(data: Path, folder: Path) -> int:
    """Record, replay, report."""
    if not had_package(folder):
        print(f"skipped: {PACKAGE} is not to be had from npm")
        return 0
    pages, _ = pages_of(str(data))
    with served(pages) as address:
        urls = [f"{address}/{n * len(pages) // PAGES}" for n in range(PAGES)]
        saved = asyncio.run(recorded(urls, folder, address))
        saved_here = asyncio.run(replayed(saved, address.partition("://")[2]))
    with workshop() as address, TemporaryDirectory() as work:
        files = [Path(work, name).resolve() for name in ("a.txt", "b.txt")]
        for file in files:
            file.write_text(f"{file}", encoding="utf-8")
        steps = acts(address, *map(str, files))
        acted = asyncio.run(recorded_acts(steps, folder, address, Path(work)))
        acted_here = asyncio.run(replayed(acted, address.partition("://")[2], files))
    alike = [report("saved pages", saved, saved_here), report("acts", acted, acted_here)]
    share = (saved_here.tokens + acted_here.tokens) / (saved.tokens + acted.tokens)
    print(f"tokens of both: {share:.1%}")
    return 0 if all(alike) and share <= TARGET else 8


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]).resolve()))
    with TemporaryDirectory() as made:
        sys.exit(main(Path(sys.argv[1]), Path(made)))
