"""The live view in a terminal: it is drawn beside the answer, and none of it remains."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios

import pytest

from tests.agent.models.wire import OpenAIProvider, running
from tests.conftest import COMMAND

WORDS = "I look for the page of the lamp"


@pytest.fixture
def terminal():
    mine, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    yield mine, theirs
    os.close(mine)


def test_progress_is_drawn_on_stderr_and_answer_on_stdout(terminal, tmp_path):
    mine, theirs = terminal
    with running(OpenAIProvider, "/v1") as provider:
        provider.says("<<TOOL:READ:http://127.0.0.1:9/>>")
        provider.says(f"<<THINK>>{WORDS}.<</THINK>>NOT_FOUND Nobody has written it down.")
        own = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "TERM": "xterm",
            "RESEARCH_DATA_DIR": str(tmp_path / "data"),
        }
        command = [str(COMMAND), "When?", "--model", "m", "--base-url", provider.url, "--no-memory"]
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": theirs}
        with subprocess.Popen(command, env=own, text=True, **pipes) as process:
            os.close(theirs)
            shown = b"".join(iter(lambda: _read(mine), b"")).decode()
            said = process.stdout.read()
    assert process.returncode == 3
    assert "thinking" in shown
    assert "reading · 0 sources" in shown
    assert "<<" not in shown
    assert said.startswith("Not found.")
    assert WORDS not in said


def _read(terminal):
    try:
        return os.read(terminal, 4096)
    except OSError:  # on Linux: the other end is closed
        return b""
