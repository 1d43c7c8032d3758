"""All channels cut at sentences, continue after a kill, ask in words, and can be stopped."""

from __future__ import annotations

import asyncio
import json
import signal
from typing import TYPE_CHECKING, Any

import pytest
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as st

from agent.channels.answer_text import plain_text, split_answer, split_text
from agent.channels.channel_runner import channel_senders, run_channels
from agent.channels.dialogue import Dialogue
from agent.errors import UsageError
from agent.jsvalues import length
from agent.notify.notice import Attachment, Notice
from agent.notify.targets import notify
from agent.options import Options
from tests.agent.channels.conftest import eventually, served
from tests.agent.channels.test_telegram import ANN, ENV, TOKEN, BotApi
from tests.conftest import COMMAND

if TYPE_CHECKING:
    from pathlib import Path


@given(st.text(max_size=400), st.integers(2, 60))
def test_split_text_fits_limit_and_loses_no_words(text: str, longest: int) -> None:
    pieces = split_text(text, longest)
    assert all(piece and length(piece) <= longest for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())


def test_long_answer_is_split_at_sentences_and_longer_one_attached() -> None:
    text = " ".join(
        f"The boat number {n} came in late, on 3 May 1901. [{n % 9}]" for n in range(40)
    )
    pieces, more = split_answer(text, 1000)
    assert not more
    assert all(piece.startswith("The boat") and piece.endswith("]") for piece in pieces)
    pieces, more = split_answer(text, 300)
    assert more
    assert len(pieces) <= 3
    assert pieces[-1].endswith("in the attached file.")


def test_markdown_is_converted_to_plain_text() -> None:
    said = "## Tides\n\nHigh at **4:10** [1].\n\n- one [x](https://y.example)\n- two\n\n3. three"
    assert plain_text(said) == ("Tides\n\nHigh at 4:10 [1].\n\n• one x\n• two\n3. three")


@pytest.fixture
def home(tmp_path: Path, desk: Any) -> dict[str, str]:
    """The environment of a command with a channel configured; `desk` created the file folder."""
    return {
        "HOME": str(tmp_path),
        "PATH": "/usr/bin:/bin",
        "RESEARCH_CONFIG": str(tmp_path / "config.toml"),
        "RESEARCH_DATA_DIR": str(tmp_path / "data"),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        **ENV,
    }


async def start_channel(env: dict[str, str]) -> asyncio.subprocess.Process:
    """Start the command that answers incoming messages."""
    command = [str(COMMAND), "channels", "run"]
    return await asyncio.create_subprocess_exec(*command, env=env, stderr=asyncio.subprocess.PIPE)


async def test_killed_channel_resumes_and_sends_answer_once(home, tmp_path, run) -> None:
    api = BotApi()
    async with served(api.app) as url:
        row = {"kind": "telegram", "url": url, "allow": [str(ANN)], "poll": 0}
        row["run"] = {"corpus": str(tmp_path / "corpus"), "model": "extractive"}
        lines = ["[channels.telegram]", *(f"{k} = {_toml(v)}" for k, v in row.items())]
        (tmp_path / "config.toml").write_text("\n".join(lines) + "\n")
        api.write("Who repaired the pump of Skarholm?")
        begun = await start_channel(home)
        await eventually(lambda: list((tmp_path / "data" / "runs").glob("*/journal.jsonl")))
        begun.kill()
        await begun.communicate()
        sent = len(api.sent)
        again = await start_channel(home)
        await eventually(lambda: api.sent, api)
        api.write("/help")
        await eventually(lambda: "Ask a question" in api.texts()[-1], api)
        again.send_signal(signal.SIGTERM)
        _, said = await again.communicate()
    assert again.returncode == 0, said
    assert sent <= 1
    assert sum("Ida Holm" in text for text in api.texts()) == 1
    journals = "".join(p.read_text() for p in (tmp_path / "data" / "runs").glob("*/journal.jsonl"))
    assert TOKEN not in journals + said.decode()


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k} = {_toml(v)}" for k, v in value.items()) + "}"
    return json.dumps(value)


async def test_user_answers_model_question_and_stop_ends_run(desk, script) -> None:
    api = BotApi()
    model = script(
        '<<TOOL:ASK_USER:{"question":"Which pump?"}>>',
        '<<TOOL:WEB_SEARCH:{"query":"pump Skarholm"}>>',
        "NOT_FOUND I did not look at the one in the yard.",
    )
    async with (
        served(api.app) as url,
        desk.running("telegram", ENV, url=url, allow=[str(ANN)], poll=0, run={"model": model}),
    ):
        api.write("Who repaired the pump?")
        await eventually(lambda: len(api.sent) == 1, desk.said, api)
        api.write("The one of Skarholm.")
        await eventually(lambda: len(api.sent) == 2, desk.said, api)
        api.write("And the mill?")
        await eventually(lambda: len(api.sent) == 3, desk.said, api)
        api.write("/stop")
        await eventually(lambda: len(api.sent) == 5, desk.said, api)
    assert api.texts()[0] == "Which pump?"
    assert "Searched: pump Skarholm" in api.texts()[1]
    assert "Stopped." in api.texts()[3:]


async def test_channel_that_another_process_runs_is_reported(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("RESEARCH_CONFIG", str(tmp_path / "config.toml"))
    options = Options(data_dir=tmp_path, channels={"telegram": {"allow": ["1"]}})
    said: list[str] = []
    (tmp_path / "channels").mkdir()
    with (
        FileLock(tmp_path / "channels" / "telegram.lock"),
        pytest.raises(UsageError, match="already running telegram"),
    ):
        await run_channels(["telegram"], lambda: options, Dialogue, said.append)
    assert said == [
        "telegram: stopped: another process is already running telegram. Stop that process first."
    ]


async def test_notification_is_sent_to_channel_with_attachment(tmp_path, monkeypatch) -> None:
    api = BotApi()
    async with served(api.app) as url:
        row = {"telegram": {"url": url, "allow": [str(ANN)]}}
        options = Options(data_dir=tmp_path / "data", channels=row)
        for name, value in ENV.items():
            monkeypatch.setenv(name, value)
        ways = channel_senders(options)
        notice = Notice(
            "It changed", "**4:10**", files=(Attachment.from_bytes("diff.md", b"- 4:05"),)
        )
        done = await notify(
            [f"telegram:{ANN}", "discord:1"], notice, options, environ={}, senders=ways
        )
    assert [one.sent for one in done] == [True, False]
    assert api.texts() == ["It changed\n\n4:10"]
    assert api.sent[1] == {"file": "diff.md", "body": b"- 4:05"}


def test_channels_command_adds_lists_and_removes_channel(run) -> None:
    assert run("channels", "add", "telegram", "--allow", "71", "poll=5").returncode == 0
    assert run("channels", "add", "telegram", "--allow", "72").returncode == 0
    listed = run("channels", "list").stdout
    assert "allowed: 71, 72" in listed
    assert "TELEGRAM_TOKEN is not set" in listed
    for args in (["pigeon"], ["telegram", "token=123"], ["telegram", "poll"], ["whatsapp"]):
        wrong = run("channels", "add", *args)
        assert wrong.returncode == 2, wrong.stdout
        assert "hint" in wrong.stderr
    assert run("channels", "run", "slack").returncode == 2
    assert run("channels", "test").returncode == 2
    assert run("channels", "rm", "telegram").returncode == 0
    assert run("channels", "rm", "telegram").returncode == 2
