"""Runs `research` in processes forked from one that has loaded it, so it is imported only once.

A command may also be Python code (`-c`, the code and its arguments).

Each command is still a separate process with its own environment, folder, streams and exit code,
and can be killed. Tests that call `COMMAND` check that the installed command starts.
"""

from __future__ import annotations

import gc
import json
import os
import pkgutil
import resource
import select
import signal
import socket
import subprocess
import sys
import traceback
from contextlib import redirect_stderr, redirect_stdout, suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from threading import Lock, Thread
from typing import TYPE_CHECKING, NoReturn

from browser.session.chrome import EXECUTABLE_VARIABLES

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parent.parent
HANG_TIMEOUT_SECONDS = 180
"""Seconds until a command counts as hung; none of them takes long."""
_PASSED_ON = (EXECUTABLE_VARIABLES[0], "NODE_COMPILE_CACHE")
"""Which browser to start, and where its driver is compiled already: see `conftest.py`."""
_OPTIONAL = ("agent.models.anthropic", "agent.models.litellm", "agent.models.local")


class Command:
    """A running command, used like `subprocess.Popen`."""

    def __init__(self, line: socket.socket, stdout: int, stderr) -> None:
        self.stdout = os.fdopen(stdout, "rb")
        self.returncode: int | None = None
        self._stderr = stderr
        self._line = line.makefile("rb")
        line.close()
        self.pid = int(self._line.readline())

    def poll(self) -> int | None:
        """Return its exit code; None while it runs."""
        ended = self.returncode is None and select.select([self._line], [], [], 0)[0]
        return self.wait() if ended else self.returncode

    def wait(self) -> int:
        """Wait for its exit code; a negative one is the signal that killed it."""
        if self.returncode is None:
            self.returncode = int(self._line.readline())
            self._line.close()
        return self.returncode

    def kill(self) -> None:
        """Kill it with -9."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)

    def communicate(self) -> tuple[bytes, bytes]:
        """Wait for its end; returns the unread output of both streams."""
        with self.stdout, self._stderr:
            out = self.stdout.read() or b""
            self.wait()
            self._stderr.seek(0)
            return out, self._stderr.read()


class Commands:
    """Starts commands, also from threads; must be closed."""

    def __init__(self, address: str) -> None:
        """Connect to the socket of a `CommandServer`."""
        self._asking = socket.socket(socket.AF_UNIX)
        self._asking.connect(address)
        self._lock = Lock()

    def start(
        self,
        *command: str,
        env: dict[str, str],
        stdin: int | None = None,
        stderr: int | None = None,
        largest_file: int | None = None,
    ) -> Command:
        """Start a command in this folder, with a limit in bytes on the files that it writes."""
        env = {name: os.environ[name] for name in _PASSED_ON if name in os.environ} | env
        asked = {"argv": command, "env": env, "cwd": str(Path.cwd()), "limit": largest_file}
        mine, theirs = socket.socketpair()
        mine.settimeout(HANG_TIMEOUT_SECONDS)
        reading, writing = os.pipe()
        errors = TemporaryFile()  # noqa: SIM115 - `communicate` closes it
        with theirs, os.fdopen(writing), Path(os.devnull).open("rb") as nothing, self._lock:
            source = nothing.fileno() if stdin is None else stdin
            complaints = errors.fileno() if stderr is None else stderr
            handles = [theirs.fileno(), source, writing, complaints]
            socket.send_fds(self._asking, [json.dumps(asked).encode() + b"\n"], handles)
            self._asking.recv(1)  # it has them
        return Command(mine, reading, errors)

    def run(
        self,
        *command: str,
        env: dict[str, str],
        stdin: str = "",
        largest_file: int | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, with a text piped in."""
        reading, writing = os.pipe()
        started = self.start(*command, env=env, stdin=reading, largest_file=largest_file)
        os.close(reading)
        feeder = Thread(target=_feed, args=(writing, stdin.encode(errors="surrogateescape")))
        feeder.start()
        said = [stream.decode() for stream in started.communicate()]
        feeder.join()
        return subprocess.CompletedProcess(list(command), started.wait(), *said)

    def close(self) -> None:
        """Disconnect; commands that still run are left alone."""
        self._asking.close()


class CommandServer(Commands):
    """Commands with a server of their own, to which others may connect; it loads when it must."""

    def __init__(self, preload: Path | None = None, *, everything: bool = True) -> None:
        """Start the server; `preload` is a library loaded before libc in its processes.

        If few commands are run, loading what each needs is cheaper than `everything`.
        """
        loaded = {"LD_PRELOAD": str(preload)} if preload else {}
        self._folder = TemporaryDirectory()
        self.address = str(Path(self._folder.name) / "commands")
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(self.address)
            listening.listen()
            super().__init__(self.address)  # the first to connect: the server ends with it
            self._process = subprocess.Popen(
                [sys.executable, "-c", f"from tests.forked import serve; serve({everything=})"],
                env={"PATH": os.environ["PATH"], "HOME": os.devnull, **loaded},
                cwd=ROOT,
                stdin=listening,
            )

    def close(self) -> None:
        """Stop the server."""
        super().close()
        self._process.wait()
        self._folder.cleanup()


def _feed(pipe: int, data: bytes) -> None:
    with suppress(BrokenPipeError), os.fdopen(pipe, "wb") as stream:
        stream.write(data)


def serve(*, everything: bool) -> None:
    """Fork for each command that a client requests; standard input is the socket of the server."""
    with socket.socket(fileno=os.dup(0)) as listening:
        _Server(listening).serve(everything=everything)


class _Server:
    """Forks commands and tells who asked for them how they end: the parent of all commands."""

    def __init__(self, listening: socket.socket) -> None:
        self._listening = listening
        self._owner = listening.accept()[0]
        self._clients = [self._owner]
        self._woken, self._wake = socket.socketpair()
        self._wake.setblocking(False)
        self._lines: dict[int, int] = {}
        """Where the end of each process is reported."""

    def serve(self, *, everything: bool) -> None:
        """Serve until the first client disconnects; load at the first request."""
        ready = False
        while True:
            readable = select.select([self._listening, self._woken, *self._clients], [], [])[0]
            if self._woken in readable:
                self._woken.recv(1 << 10)
                self._report_ended()
            if self._listening in readable:
                self._clients.append(self._listening.accept()[0])
            for client in [client for client in self._clients if client in readable]:
                asked, handles = _receive(client)
                if asked and not ready:
                    if everything:
                        _load_everything()
                    signal.signal(signal.SIGCHLD, lambda *_: None)
                    signal.set_wakeup_fd(self._wake.fileno())
                    ready = True
                if asked:
                    self._fork(json.loads(asked), *handles)
                    client.sendall(b".")
                elif client is self._owner:
                    return
                else:
                    self._clients.remove(client)
                    client.close()

    def _fork(self, asked: dict, line: int, *streams: int) -> None:
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for mine in (self._listening, self._woken, self._wake, *self._clients):
                mine.close()
            for other in (line, *self._lines.values()):
                os.close(other)
            _run_as_command(asked, streams)
        self._lines[pid] = line
        for stream in streams:
            os.close(stream)
        with suppress(BrokenPipeError):
            os.write(line, b"%d\n" % pid)

    def _report_ended(self) -> None:
        for pid in list(self._lines):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                line = self._lines.pop(pid)
                with suppress(BrokenPipeError):
                    os.write(line, b"%d\n" % os.waitstatus_to_exitcode(status))
                os.close(line)


def _receive(client: socket.socket) -> tuple[bytes, list[int]]:
    """Read a request and its handles; the request is empty if the client has disconnected."""
    said, handles, _, _ = socket.recv_fds(client, 1 << 20, 4)
    while said and not said.endswith(b"\n"):
        said += client.recv(1 << 20)
    return said, handles


def _run_as_command(asked: dict, streams: Sequence[int]) -> None:
    from agent.cli import main

    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        sys.stdin = os.fdopen(0, "r", -1, "utf-8", sys.stdin.errors)
        sys.stdout = os.fdopen(1, "w", -1, "utf-8", sys.stdout.errors)
        sys.stderr = os.fdopen(2, "w", 1, "utf-8", sys.stderr.errors)
        os.environ.clear()
        os.environ.update(asked["env"])
        os.chdir(asked["cwd"])
        if asked["limit"]:
            resource.setrlimit(resource.RLIMIT_FSIZE, (asked["limit"],) * 2)
        sys.argv = asked["argv"]
        if sys.argv[0] == "-c":
            _run_code()
        main()
    finally:  # `main` ends the process itself
        traceback.print_exc()
        os._exit(1)


def _run_code() -> NoReturn:
    """Run the code after `-c` as a program; ends the process."""
    code, failed = sys.argv.pop(1), 1
    try:
        exec(compile(code, "<forked>", "exec"), {"__name__": "__main__"})
        sys.stdout.flush()
        failed = 0
    except BaseException:  # noqa: BLE001 - told, as Python does
        traceback.print_exc()
    os._exit(failed)


def _load_everything() -> None:
    """Import all modules that need no optional library, and build what a first run builds."""
    for root in ("agent", "browser"):
        for module in pkgutil.walk_packages([str(ROOT / root)], f"{root}."):
            if module.name not in _OPTIONAL:
                import_module(module.name)
    for name in ("playwright.async_api", "trafilatura", "openai", "sqlalchemy"):
        import_module(name)
    _run_once()
    gc.freeze()  # a collection in a child would copy every page that it shares with this process


def _run_once() -> None:
    """Do one run: schemas, parsers and tables that are built at first use are then shared."""
    import pytest

    from agent.cli.group import cli
    from fixtures.server import serve as serve_site

    with TemporaryDirectory() as home, serve_site() as site:
        script = Path(home) / "script.jsonl"
        replies = f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>', "It was lit in 1829. [S1]"
        script.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
        arguments = [
            "When was Hesk Light first lit?", "--model", f"scripted:{script}", "--json",
            "--data-dir", home, "--search", "searxng", "--searxng-url", site.url,
        ]  # fmt: skip
        with Path(os.devnull).open("r+") as nothing, pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stdin", nothing)
            patch.setenv("HOME", home)
            patch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
            with redirect_stdout(nothing), redirect_stderr(nothing):
                code = cli.main(arguments, standalone_mode=False)
    assert not code, f"the run that warms up ended with {code}"
