"""A long chat picks up a changed settings file, and survives a broken one."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from agent.config import LiveOptions, file_settings, load_options
from agent.errors import UsageError
from tests.conftest import COMMAND


@pytest.fixture
def config(tmp_path, script):
    """Write a settings file that names a scripted model; returns the model's name in reports."""

    def write(answer):
        path = tmp_path / f"{answer}.txt"
        path.write_text(f"NOT_FOUND {answer}\n---\nNOT_FOUND {answer}\n")
        (tmp_path / "config.toml").write_text(f'model = "scripted:{path}"\nmemory = false\n')
        return f"scripted:{path.name}"

    return write


@pytest.fixture
def chat(tmp_path, web):
    """A chat that is asked one question at a time; returns what it printed to stdout."""
    own = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "RESEARCH_DATA_DIR": str(tmp_path / "data"),
        "RESEARCH_CONFIG": str(tmp_path / "config.toml"),
    }
    command = [str(COMMAND), "chat", "--json", "-q", *web]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = None

    def asking(question):
        nonlocal process
        process = process or subprocess.Popen(command, env=own, text=True, **pipes)
        process.stdin.write(f"{question}\n")
        process.stdin.flush()
        lines = iter(process.stdout.readline, "}\n")
        return json.loads("".join(lines) + "}")

    def ended():
        return process.communicate(timeout=60)[1]

    asking.ended = ended
    yield asking
    if process and process.poll() is None:
        process.kill()
        process.communicate()


def test_chat_reloads_changed_config_and_ignores_broken_one(chat, config, tmp_path):
    first = config("first")
    assert chat("When?")["usage"]["model"] == first
    second = config("second")
    assert chat("And then?")["usage"]["model"] == second
    (tmp_path / "config.toml").write_text("model = half a li")
    assert chat("And after that?")["usage"]["model"] == second
    assert chat("And at last?")["usage"]["model"] == second
    said = chat.ended()
    assert said.count("is not valid TOML") == 1
    assert "using the previous settings" in said


@pytest.mark.parametrize("broken", ["model = half a li", "no-such-setting = 1", "max-steps = 0"])
def test_config_file_invalid_at_first_load_raises_usage_error(tmp_path, monkeypatch, broken):
    path = tmp_path / "config.toml"
    monkeypatch.setenv("RESEARCH_CONFIG", str(path))
    path.write_text(broken)
    with pytest.raises(UsageError):
        load_options({}, config=True)
    path.write_text("max-steps = 5")
    assert load_options({}, config=True).max_steps == 5
    live = LiveOptions({"depth": "quick"}, lambda *told: reported.append(told))
    reported: list[tuple[str, str]] = []
    path.write_text(broken)
    assert load_options({}, config=True).max_steps == 5
    assert file_settings()[1] is not None
    assert [live.current().max_steps, live.current().max_steps] == [5, 5]
    assert len(reported) == 1
    path.write_text("max-steps = 77")
    assert (live.current().max_steps, live.current().depth) == (77, "quick")
