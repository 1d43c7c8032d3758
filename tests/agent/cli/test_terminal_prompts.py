"""The user at a terminal is asked what they meant: once, and nowhere else."""

from __future__ import annotations

import json
import os
import pty
import select

import pytest

from tests.conftest import COMMAND

ASKING = '<<TOOL:ASK_USER:{"question":"Which light do you mean?"}>>'


@pytest.fixture
def asking(script, site):
    """A model that asks the user, reads the page that they name, asks again, and answers."""
    return script(
        ASKING,
        f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>{ASKING}',
        {
            "reply": "Hesk Light was first lit on 1 November 1829. [S1]",
            "expect": "already|did not answer",
        },
    )


@pytest.fixture
def at_a_terminal(tmp_path, commands):
    """Run the command in its own terminal, typing a line each time it asks."""

    def run(*args, typed=(), **env):
        mine, theirs = pty.openpty()
        own = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "TERM": "xterm",
            "RESEARCH_DATA_DIR": str(tmp_path / "data"),
            "RESEARCH_CONFIG": str(tmp_path / "config.toml"),
            **env,
        }
        process = commands.start(str(COMMAND), *args, env=own, stdin=theirs, stderr=theirs)
        os.close(theirs)
        shown = _type_lines(mine, list(typed))
        said = process.communicate()[0].decode()
        os.close(mine)
        return process.returncode, said, shown

    return run


def _type_lines(terminal, lines):
    """Answer each prompt with a line until the command ends; returns what the terminal showed."""
    shown = ""
    while select.select([terminal], [], [], 60)[0]:
        try:
            shown += os.read(terminal, 65536).decode("utf-8", "replace")
        except OSError:  # the other end is closed
            return shown
        if shown.endswith(("> ", "? ", "] ")) and lines:
            os.write(terminal, f"{lines.pop(0)}\n".encode())
    raise AssertionError(f"the command hangs: {shown}")


def test_user_reply_is_recorded_and_replayed_without_user(
    at_a_terminal, asking, web, run, tmp_path
):
    code, said, shown = at_a_terminal(
        "When was it lit?", "--model", asking, *web, typed=["Hesk Light"]
    )
    assert (code, "1 November 1829. [1]" in said) == (0, True)
    assert "? Which light do you mean?" in shown
    journal = next((tmp_path / "data" / "runs").glob("*/journal.jsonl")).read_text()
    assert '{"answer":"Hesk Light"}' in journal
    replayed = run("replay", "last", "--assert")
    assert replayed.returncode == 0, replayed.stderr


def test_resume_does_not_ask_user_again(at_a_terminal, asking, web, run):
    code, _, _ = at_a_terminal(
        "When was it lit?", "--model", asking, *web, "--max-steps", "1", typed=["Hesk Light"]
    )
    assert code == 5
    refused = run("resume", "last", "--max-steps", "0")
    assert (refused.returncode, "max-steps" in refused.stderr) == (2, True)
    resumed = run("resume", "last", "--max-steps", "6")
    assert "1 November 1829. [1]" in resumed.stdout, resumed.stderr


def test_empty_reply_is_reported_as_no_answer(at_a_terminal, script, web):
    model = script(ASKING, {"reply": "NOT_FOUND Nothing.", "expect": "did not answer"})
    code, _, _ = at_a_terminal("When was it lit?", "--model", model, *web, typed=[""])
    assert code == 3


@pytest.mark.parametrize(
    ("flags", "env"), [(["-q"], {}), (["--json"], {}), (["--events"], {}), ([], {"CI": "true"})]
)
def test_user_is_not_asked_in_quiet_json_events_or_ci_mode(at_a_terminal, script, web, flags, env):
    model = script(ASKING, {"reply": "NOT_FOUND No.", "expect": "Unknown tool: ASK_USER"})
    code, said, shown = at_a_terminal("When was it lit?", "--model", model, *web, *flags, **env)
    assert (code, bool(said)) == (3, True)
    assert "Which light" not in shown


def test_ask_user_tool_is_not_offered_without_terminal(run, script, web):
    model = script({"reply": "NOT_FOUND No."})
    done = run("When was it lit?", "--model", model, *web, "--events")
    requests = [json.loads(line) for line in done.stdout.splitlines()]
    [system] = [e["data"]["system"] for e in requests if e["type"] == "model.request"]
    assert "WEB_SEARCH" in system
    assert "ASK_USER" not in system


def test_chat_asks_user(at_a_terminal, asking, web):
    typed = ["When was it lit?", "Hesk Light", ""]
    code, said, _ = at_a_terminal("chat", "--model", asking, *web, typed=typed)
    assert (code, "1 November 1829. [1]" in said) == (0, True)


def test_plan_is_edited_in_editor_then_started(at_a_terminal, answering, web, tmp_path):
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nprintf -- '- Hesk Light first lit' > \"$1\"\n")
    editor.chmod(0o755)
    arguments = ("When was it lit?", "--plan", "--model", answering, *web)
    code, said, shown = at_a_terminal(*arguments, typed=["e", ""], EDITOR=str(editor))
    assert (code, "1 November 1829. [1]" in said) == (0, True), shown
    assert "- When was it lit?" in shown
    assert "  - Hesk Light first lit\r\n\r\nStart?" in shown
