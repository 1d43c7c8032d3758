"""A killed run continues where it stopped, and nothing is done twice."""

from __future__ import annotations

import json
import os
from collections import Counter

import pytest

from tests.conftest import COMMAND

# The kinds of events after which the run is killed; each is a point where something is half done.
POINTS = [
    ("run.started", 1),
    ("model.reply", 1),
    ("search.attempt", 1),
    ("tool.result", 1),
    ("model.request", 2),
    ("model.reply", 2),
    ("source.added", 1),
    ("tool.result", 3),
    ("model.request", 3),
    ("model.reply", 3),
    ("answer.draft", 1),
    ("answer.verified", 1),
]


@pytest.fixture
def reading(script, site):
    return script(
        "<<TOOL:WEB_SEARCH:Hesk Light>>",
        f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>'
        '<<TOOL:REMEMBER:{"key":"light","value":"Hesk"}>>',
        "It was first lit on 1 November 1829. [S1]",
    )


@pytest.fixture
def killed(tmp_path, site, reading, commands):
    """Start a run and kill it with -9 as soon as it has written the nth event of a kind."""

    def kill(kind, nth):
        args = ["When?", "--events", "-q", "--model", reading, "--search", "searxng",
                "--searxng-url", site.url]  # fmt: skip
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path),
               "RESEARCH_DATA_DIR": str(tmp_path / "data")}  # fmt: skip
        process = commands.start(str(COMMAND), *args, env=env)
        seen = 0
        for line in process.stdout:
            seen += json.loads(line)["type"] == kind
            if seen == nth:
                process.kill()
                break
        process.communicate()

    return kill


def effects(tmp_path):
    [journal] = (tmp_path / "data" / "runs").glob("*/journal.jsonl")
    rows = [json.loads(line) for line in journal.read_text().splitlines()]
    return Counter((row["type"], row["place"]) for row in rows if row["place"])


@pytest.mark.parametrize(("kind", "nth"), POINTS)
@pytest.mark.sample(4)
def test_resumed_run_reaches_same_answer_without_repeating_effects(
    run, killed, tmp_path, kind, nth
):
    killed(kind, nth)
    done = run("resume", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["status"] == "answered", done.stderr
    assert "first lit on 1 November 1829. [1]" in report["answer"]
    repeated = [effect for effect, count in effects(tmp_path).items() if count > 1]
    assert repeated == []


def test_write_without_result_is_reported_and_not_repeated(run, killed, tmp_path):
    killed("tool.intent", 1)
    [journal] = (tmp_path / "data" / "runs").glob("*/journal.jsonl")
    rows = [json.loads(line) for line in journal.read_text().splitlines()]
    intent = next(n for n, row in enumerate(rows) if row["type"] == "tool.intent")
    lines = journal.read_text().splitlines(keepends=True)[: intent + 1]
    journal.write_text("".join(lines))
    run("resume", "--json")
    assert "outcome unknown" in journal.read_text()
    assert journal.read_text().count('"tool.intent"') == 1


def test_finished_run_cannot_be_resumed(run, web, answering):
    run("When?", "--model", answering, *web)
    done = run("resume")
    assert done.returncode == 2
    assert "has already ended" in done.stderr


def test_run_killed_after_last_event_still_produces_report(run, web, answering, tmp_path):
    first = run("When?", "--model", answering, "--json", *web)
    [report] = (tmp_path / "data" / "runs").glob("*/report.json")
    report.unlink()
    done = run("resume", "--json")
    assert (done.returncode, done.stdout) == (0, first.stdout)
    assert report.is_file()


def test_run_out_of_steps_resumes_with_more(run, site, reading):
    flags = ("--search", "searxng", "--searxng-url", site.url, "--max-steps", "1")
    assert run("When?", "--model", reading, *flags).returncode == 5
    done = run("resume", "--max-steps", "5", "--json")
    assert json.loads(done.stdout)["status"] == "answered", done.stderr
