"""A conversation in a terminal, typed as by a user."""

from __future__ import annotations

import os
import signal
import stat
from functools import partial

import pexpect
import pytest

from agent.journal.events import read_events
from agent.journal.runs import Runs
from tests.conftest import COMMAND
from tests.loopback import Held, HeldSite, serving

PROMPT = "\x1b[?2004h"
"""What a terminal is sent when a line may be pasted into the prompt."""


@pytest.fixture
def chat(tmp_path, web):
    """Start a chat in a terminal; it is ended after the test."""
    children = []

    def begin(*flags):
        child = pexpect.spawn(
            str(COMMAND),
            ["chat", *web, *flags],
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(tmp_path),
                "TERM": "xterm",
                "PROMPT_TOOLKIT_NO_CPR": "1",
                "RESEARCH_DATA_DIR": str(tmp_path / "data"),
                "RESEARCH_CONFIG": str(tmp_path / "config.toml"),
            },
            cwd=tmp_path,
            dimensions=(30, 200),
            encoding="utf-8",
            timeout=60,
            # A shell makes background jobs ignore Ctrl-C, and their children inherit that.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )
        children.append(child)
        child.expect("/help lists commands")
        return child

    yield begin
    for child in children:
        child.close(force=True)


def test_chat_lists_sources_and_exports_answer(chat, answering, tmp_path, site):
    child = chat("--model", answering)
    child.sendline("When was Hesk Light first lit?")
    child.expect("Hesk Light was first lit on 1 November 1829")
    child.expect("run 20")
    child.sendline("/sources")
    child.expect_exact(f"{site.url}/hesk-light")
    child.sendline("/export report.md sources.bib")
    child.expect("wrote sources.bib")
    child.sendline("/export report.nonsense")
    child.expect("unknown format")
    child.sendline("/quit")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert "1 November 1829" in (tmp_path / "report.md").read_text()
    history = tmp_path / "data" / "chat-history"
    assert stat.S_IMODE(history.stat().st_mode) == 0o600


def test_interrupt_stops_answer_but_not_chat(chat, script):
    with serving(Held, HeldSite) as held:
        model = script(f'<<TOOL:READ:{{"url":"{held.url}/boat"}}>>')
        child = chat("--model", model, "--allow-private", held.url.removeprefix("http://"))
        child.sendline("When did the boat to Brack come in?")
        held.asked.wait()
        child.sendintr()
        child.expect("the conversation continues")
        held.open.set()
    child.sendline("/depth quick")
    child.expect("depth: quick")
    child.sendline("/nonsense")
    child.expect("unknown command /nonsense")
    child.expect_exact(PROMPT)
    child.sendcontrol("d")
    child.expect(pexpect.EOF)


def test_forget_starts_new_session(chat, answering, tmp_path):
    child = chat("--model", "extractive")
    child.sendline("How long is Sunnock Pier?")
    child.expect("184 metres")
    child.expect("run 20")
    child.sendline("/forget")
    child.expect("a new conversation")
    child.sendline("How long is Sunnock Pier?")
    child.expect("184 metres")
    child.expect("run 20")
    child.sendline("/quit")
    child.expect(pexpect.EOF)
    runs = list(Runs(tmp_path / "data"))
    assert len({next(read_events(run.journal)).data["session"] for run in runs}) == 2
