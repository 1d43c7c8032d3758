"""What a Python developer imports, and its types."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

import pytest

import agent
import urchin_research as urchin
from agent.config import Flags
from agent.journal.runs import Runs
from agent.options import SETTINGS
from tests.agent.models.wire import OpenAIProvider, running

ROOT = Path(__file__).parent.parent


def test_urchin_research_reexports_agent_names():
    assert set(urchin.__all__) > set(agent.__all__)
    assert all(getattr(urchin, name) is getattr(agent, name) for name in agent.__all__)


def keyword_type(name: str) -> str:
    """The annotation of the keyword argument for a setting."""
    kinds = {
        "depth": "Depth",
        "schema": "PathName | dict[str, Any]",
        "limits": "LimitSettings | dict[str, Any]",
        "wiki_rules": "WikiRules | dict[str, Any]",
    }
    kind = str(SETTINGS[name].type)
    words = {
        "tuple[pathlib": "PathName | Sequence[PathName]",
        "tuple": "Names",
        "dict": "dict[str, Any]",
        "Path": "PathName",
        "bool": "bool",
        "int": "int",
        "float": "float",
        "str": "str",
    }
    return f"{kinds.get(name) or next(words[one] for one in words if one in kind)} | None"


def test_keyword_arguments_match_settings():
    of_their_own = {"model", "memory"}  # arguments that take objects too
    declared = {name: one.__forward_arg__ for name, one in Flags.__annotations__.items()}
    assert declared == {name: keyword_type(name) for name in SETTINGS.keys() - of_their_own}


def test_shadowing_folder_is_named_in_import_error(tmp_path):
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "__init__.py").write_text("")
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys; sys.path.append({str(ROOT)!r}); import urchin_research",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"{tmp_path / 'agent' / '__init__.py'} hides" in done.stderr


def test_every_package_has_py_typed():
    assert all(
        (ROOT / part / "py.typed").is_file() for part in ("agent", "browser", "urchin_research")
    )


def test_command_is_also_installed_under_package_name():
    commands = entry_points(group="console_scripts")
    assert commands["urchin-research"].load() is commands["research"].load()


ASKED = "When was Hesk Light first lit?"


async def test_python_api_reads_only_keys_from_environment(ask, monkeypatch, tmp_path):
    monkeypatch.setenv("RESEARCH_MODEL", "scripted:nowhere")
    monkeypatch.setenv("OPENAI_API_KEY", "k1")
    with running(OpenAIProvider, "/v1") as provider:
        provider.says("It was lit. [S1]")
        report = await ask(model="openai/m", base_url=provider.url)
    assert report.error is None
    assert provider.requests


async def test_memory_is_off_by_default(site, script, tmp_path):
    flags = {"search": ["searxng"], "searxng_url": site.url, "model": script("NOT_FOUND")}
    await urchin.research(ASKED, data_dir=tmp_path / "off", **flags)
    assert not list((tmp_path / "off").glob("memory*"))
    await urchin.research(ASKED, data_dir=tmp_path / "on", memory=True, **flags)
    assert list((tmp_path / "on").glob("memory*"))


async def test_stream_yields_typed_events_and_report_last(site, tmp_path):
    flags = {"search": ["searxng"], "searxng_url": site.url, "model": "extractive"}
    events = [e async for e in urchin.stream(ASKED, data_dir=tmp_path, **flags)]
    *steps, last = events
    assert isinstance(last, urchin.Finished)
    assert last.report.question == ASKED
    assert any(e.url.endswith("/hesk-light") for e in steps if isinstance(e, urchin.SourceRead))
    assert any("search" in e.text.lower() for e in steps if isinstance(e, urchin.Progress))
    assert "Hesk" in last.report.to_markdown()


async def test_closing_stream_stops_run(site, tmp_path):
    flags = {"search": ["searxng"], "searxng_url": site.url, "model": "extractive"}
    stream = urchin.stream(ASKED, data_dir=tmp_path, **flags)
    await anext(stream)
    await stream.aclose()
    [run] = Runs(tmp_path).root.iterdir()
    assert "run.interrupted" in run.joinpath("journal.jsonl").read_text()


async def test_report_renders_for_notebooks_and_files(ask, answering):
    report = await ask(model=answering)
    shown = report._repr_html_()
    assert "first lit on 1 November 1829" in shown
    assert f'<a href="{report.sources[0].url}">' in shown
    assert "<!doctype html>" in report.to_html().lower()
    assert "1 November 1829" in report.to_markdown()
    assert report.to_bibtex().startswith("@")
    with pytest.raises(urchin.UsageError, match="no record of the run"):
        urchin.Report.model_validate_json(report.to_json()).to_html()


async def test_frame_has_one_row_per_sentence(ask, answering):
    report = await ask(model=answering)
    if find_spec("pandas") is None:
        with pytest.raises(urchin.UsageError, match="needs pandas") as raised:
            report.to_frame()
        assert "pip install pandas" in raised.value.hint
        return
    frame = report.to_frame()
    assert list(frame["verdict"]) == ["supported"]
    assert frame["urls"][0][0].endswith("/hesk-light")


async def test_batch_keeps_question_order(site, script, tmp_path):
    flags = {"search": ["searxng"], "searxng_url": site.url, "model": script("NOT_FOUND")}
    questions = ["First?", "Second?", "Third?"]
    done = await urchin.batch(questions, parallel=2, data_dir=tmp_path, **flags)
    asked = list(done["question"]) if hasattr(done, "columns") else [r.question for r in done]
    assert asked == questions


async def test_run_steps_are_logged_to_one_logger(ask, answering, caplog):
    with caplog.at_level(logging.INFO, logger="urchin_research"):
        await ask(model=answering)
    assert any("Hesk Light" in record.message for record in caplog.records)


def test_package_runs_as_module():
    done = subprocess.run(
        [sys.executable, "-m", "urchin_research", "--version"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert agent.__version__ in done.stdout


def test_empty_question_and_async_listener_are_refused(tmp_path):
    async def listener(event):
        raise AssertionError

    with pytest.raises(urchin.UsageError, match="question is empty"):
        urchin.research_sync(" ", data_dir=tmp_path)
    with pytest.raises(urchin.UsageError, match="on_event is an async function"):
        urchin.research_sync("Who?", data_dir=tmp_path, on_event=listener)
