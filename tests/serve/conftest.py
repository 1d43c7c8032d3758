"""A `research serve` server on the bundled web, for all tests in a file."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx2
import pytest

from tests.conftest import COMMAND
from tests.loopback import Handler, serving

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = "a-token-of-the-tests"
QUESTION = "How long is Sunnock Pier?"


@dataclass
class Served:
    """A server: its address, its output, its runs folder, and an authorised client."""

    url: str
    address: str
    data: Path
    client: httpx2.Client
    pid: int
    env: dict[str, str]

    def ask(self, question: str = QUESTION, **form) -> str:
        """Start a run; returns its id."""
        answer = self.client.post("/api/runs", json={"question": question, **form})
        assert answer.status_code == 201, answer.text
        return answer.json()["run"]

    def frames(self, run: str, after: int = -1, most: int | None = None) -> list[tuple]:
        """Watch a run: yields (number or None, event or '', data) per frame, at most `most`."""
        found = []
        headers = {"Last-Event-ID": str(after)} if after >= 0 else {}
        with self.client.stream("GET", f"/api/runs/{run}/events", headers=headers) as stream:
            if stream.status_code == 204:
                return []
            number, name = None, ""
            for line in stream.iter_lines():
                key, _, value = line.partition(": ")
                if key == "id":
                    number = int(value)
                elif key == "event":
                    name = value
                elif key == "data":
                    found.append((number, name, json.loads(value)))
                    number, name = None, ""
                if most and len(found) >= most:
                    break
        return found

    def report(self, run: str) -> dict:
        """Wait for a run to end; returns its report."""
        self.frames(run)
        return self.client.get(f"/api/runs/{run}/report").json()


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("serve")


@pytest.fixture(scope="session")
def start(site, commands, home):
    """Start a server with flags; all servers stop with the session."""
    started = []

    def starting(*flags, data="data", token=TOKEN):
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "RESEARCH_CONFIG": str(home / "config.toml"),
            **({"RESEARCH_SERVE_TOKEN": token} if token else {}),
            "PYTHON_KEYRING_BACKEND": os.environ["PYTHON_KEYRING_BACKEND"],
            **{n: os.environ[n] for n in ("URCHIN_BROWSER", "CHROME_PATH") if n in os.environ},
        }
        web = ("--search", "searxng", "--searxng-url", site.url, "--data-dir", str(home / data))
        server = commands.start(str(COMMAND), "serve", "--port", "0", *web, *flags, env=env)
        address = server.stdout.readline().decode().strip()
        url = address.partition("/?")[0]
        shown = {"Authorization": f"Bearer {token}"} if token else {"Origin": url}
        client = httpx2.Client(base_url=url, headers=shown, timeout=180)
        started.append((server, client))
        if not token:
            client.get(address)  # its cookie
        return Served(url, address, home / data, client, server.pid, env), server

    yield starting
    for server, client in started:
        client.close()
        if server.poll() is None:
            os.kill(server.pid, signal.SIGTERM)
        server.communicate()


class Timetable(Handler):
    """A page whose only sentence a test changes."""

    def get(self) -> None:
        if self.path == "/robots.txt":
            self.send_error(404)
        else:
            said = f"<h1>Timetable</h1><p>{self.server.site.said}</p>"
            self.send(200, "text/html", said.encode())


class TimetableSite:
    def __init__(self, url: str) -> None:
        self.url, self.said = url, "The ferry leaves at nine."


@pytest.fixture(scope="session")
def timetable():
    with serving(Timetable, TimetableSite) as site:
        yield site


@pytest.fixture(scope="session")
def served(start, home, timetable):
    boats = home / "boats"
    boats.mkdir()
    (boats / "petrel.md").write_text("# Petrel\n\nThe Petrel carries 42 crates of herring.\n")
    host = timetable.url.removeprefix("http://")
    return start("--folder", str(boats), "--allow-private", host)[0]


@pytest.fixture(scope="session")
def finished(served):
    """A finished run."""
    run = served.ask()
    served.report(run)
    return run
