"""Commands run despite what Windows lacks or refuses."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import sys

import pytest

from agent.cli import terminal


def _refuse(*_: object) -> None:
    raise NotImplementedError


@pytest.fixture
def windows_loop(monkeypatch):
    """A loop whose methods raise like those of the Windows event loop."""
    for name in ("add_signal_handler", "remove_signal_handler", "add_reader", "remove_reader"):
        monkeypatch.setattr(asyncio.SelectorEventLoop, name, _refuse)


@pytest.mark.usefixtures("windows_loop")
async def test_ctrl_c_sets_interrupt_event_without_ending_process():
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    try:
        interrupted = terminal.interrupt_event()
        os.kill(os.getpid(), signal.SIGINT)
        assert await asyncio.wait_for(interrupted.wait(), 60)
    finally:
        for number, handler in zip((signal.SIGINT, signal.SIGTERM), before, strict=True):
            signal.signal(number, handler)


@pytest.mark.usefixtures("windows_loop")
async def test_approval_prompt_reads_reply_from_terminal(monkeypatch):
    class Typed(io.StringIO):
        def isatty(self) -> bool:
            return True

        def fileno(self) -> int:
            return 0

    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(sys, "stdin", Typed("yes\n"))
    monkeypatch.setattr(sys, "stderr", Typed())
    approve = terminal.approver()
    assert approve is not None
    assert await approve("click Buy") is True


_AS_WINDOWS = """
import asyncio.unix_events as unix, os, sys
def refuse(*_, **__): raise NotImplementedError
loop = unix._UnixSelectorEventLoop
loop.add_signal_handler = loop.remove_signal_handler = refuse

# A reader has each file open when it is first replaced.
replace, held = os.replace, set()
def replace_later(source, target, **more):
    if target in held:
        return replace(source, target, **more)
    held.add(target)
    error = PermissionError(13, "The process cannot access the file", str(target))
    error.winerror = 32
    raise error
os.replace = replace_later
"""


def test_ask_command_runs_with_windows_limitations(run, commands, web, tmp_path):
    code = f"{_AS_WINDOWS}\nfrom agent.cli import main\nmain()"
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "RESEARCH_DATA_DIR": str(tmp_path / "data"),
        "RESEARCH_CONFIG": str(tmp_path / "config.toml"),
        "PYTHON_KEYRING_BACKEND": os.environ["PYTHON_KEYRING_BACKEND"],
    }
    question = "How long is Sunnock Pier?"
    done = commands.run("-c", code, question, *web, env=env)
    assert done.returncode == 0, done.stderr
    assert "184 metres" in done.stdout
    [report] = (tmp_path / "data" / "runs").glob("*/report.json")
    assert "184 metres" in report.read_text(encoding="utf-8")
