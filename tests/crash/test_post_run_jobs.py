"""A kill between an answer and the post-run tasks loses none of the tasks."""

from __future__ import annotations

import json
import os
import threading

import pytest

from agent.config import private_folder
from agent.journal.events import read_events
from agent.journal.runs import Runs
from agent.loop.judge import judge_system
from agent.memory import Memory
from agent.prompts import prompt
from agent.run.conversation_jobs import answered_count
from agent.run.job_runner import UnfinishedRuns
from agent.tools.skill_tools import save_skill
from tests.conftest import COMMAND
from tests.crash.speaker import speaking

QUESTION = "Thanks! When was Hesk Light first lit?"
SUMMARY = "They asked about a lighthouse."
# Where the run is killed: (type, place) of the event that was first_run_events last.
POINTS = [
    ("run.finished", ""),
    ("job.begun", "after/weigh"),
    ("job.begun", "after/count"),
    ("model.request", "after/summary"),
]


@pytest.fixture
def memory(tmp_path):
    """A memory in which the next question is the third, and a skill given to every run."""
    with Memory.open(private_folder(tmp_path / "data") / "memory.db") as opened:
        opened.save("internal", {"_convCount": "2"})
        save_skill(opened, "lighthouse", "Hesk Light: give the day a light was first lit.", 1)
        yield opened


@pytest.fixture
def speaker(site):
    """A language model that searches, reads, answers and summarises when allowed."""
    may_sum_up = threading.Event()

    def decide(talk):
        if talk.system in (judge_system(asks_answer=True), prompt("answered")):
            return "answer: fully"
        if talk.system == prompt("summary"):
            may_sum_up.wait()
            return SUMMARY
        calls = ["<<TOOL:WEB_SEARCH:Hesk Light>>",
                 f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>']  # fmt: skip
        return [*calls, "It was first lit on 1 November 1829. [S1]"][len(talk.rounds)]

    with speaking(decide) as running:
        running.may_sum_up = may_sum_up
        yield running
        may_sum_up.set()


@pytest.fixture
def flags(speaker, site):
    return ("--model", "m", "--base-url", speaker.url, "--search", "searxng",
            "--searxng-url", site.url)  # fmt: skip


@pytest.fixture
def killed(tmp_path, flags, memory, speaker, commands):
    """Run the question, and kill it with -9 as soon as an event is reported."""

    def kill(kind, place):
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path),
               "RESEARCH_DATA_DIR": str(tmp_path / "data")}  # fmt: skip
        process = commands.start(str(COMMAND), QUESTION, "--events", "-q", *flags, env=env)
        for line in process.stdout:
            event = json.loads(line)
            if (event["type"], event["place"]) == (kind, place):
                process.kill()
                break
        process.communicate()
        speaker.may_sum_up.set()

    return kill


def first_run_events(tmp_path):
    """Return the first run's record; names contain only seconds, so two runs may share one."""
    records = [list(read_events(run.journal)) for run in Runs(tmp_path / "data")]
    return min(records, key=lambda events: events[0].at)


def memory_effects(memory):
    """What the run and its tasks leave in memory, each of which could be lost or duplicated."""
    [skill] = memory.skills()
    summaries = [v for key, v in memory.saved().items() if key.startswith("session_")]
    facts = [hit.text for hit in memory.search("first lit November 1829", kinds=["fact"])]
    return {
        "counted": answered_count(memory),
        "score": skill["score"],
        "signals": skill["signalCount"],
        "summaries": summaries,
        "facts": facts,
    }


WHOLE = {
    "counted": 3,
    "score": 70,
    "signals": 1,
    "summaries": [SUMMARY],
    "facts": ["It was first lit on 1 November 1829."],
}


def test_uninterrupted_run_completes_post_run_tasks(run, flags, memory, speaker, tmp_path):
    speaker.may_sum_up.set()
    run(QUESTION, *flags)
    assert memory_effects(memory) == WHOLE
    assert first_run_events(tmp_path)[-1].type == "run.settled"
    assert not list((tmp_path / "data" / "unsettled").iterdir())


def check(memory, speaker):
    """Nothing is lost or duplicated; what was in flight is asked again."""
    assert memory_effects(memory) == WHOLE
    again = [count for count in speaker.asked.values() if count > 1]
    assert len(again) <= 1


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.sample(2)
def test_resume_finishes_remaining_post_run_tasks(run, killed, memory, speaker, tmp_path, point):
    killed(*point)
    done = run("resume", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] == "answered"
    check(memory, speaker)
    assert [event.type for event in first_run_events(tmp_path)].count("run.settled") == 1
    assert "has already ended" in run("resume").stderr


@pytest.mark.parametrize("point", [("job.begun", "after/count"), ("model.reply", "after/summary")])
def test_unrecorded_post_run_effect_is_not_repeated(run, flags, memory, speaker, tmp_path, point):
    speaker.may_sum_up.set()
    run(QUESTION, *flags)
    [folder] = Runs(tmp_path / "data")
    lines = folder.journal.read_text().splitlines(keepends=True)
    rows = [(row["type"], row["place"]) for row in map(json.loads, lines)]
    folder.journal.write_text("".join(lines[: rows.index(point) + 1]))
    assert run("resume").returncode == 0
    check(memory, speaker)


def test_next_run_finishes_remaining_post_run_tasks(run, flags, killed, memory, speaker, tmp_path):
    killed("run.finished", "")
    run("Which light is the oldest?", *flags)
    first = first_run_events(tmp_path)
    assert first[-1].type == "run.settled"
    assert "after/summary" in [event.place for event in first]  # the killed one was the third
    assert memory_effects(memory)["counted"] == 4
    assert not list((tmp_path / "data" / "unsettled").iterdir())


def test_consolidation_keeps_facts_and_defers_model_tasks(run, killed, memory, tmp_path):
    killed("run.finished", "")
    run("memory", "dream", "--seconds", "1")
    assert memory_effects(memory)["facts"] == WHOLE["facts"]
    assert first_run_events(tmp_path)[-1].place == "after/facts"
    assert len(list((tmp_path / "data" / "unsettled").iterdir())) == 1


def test_tasks_claimed_by_another_process_are_left_alone(run, killed, flags, memory, tmp_path):
    killed("run.finished", "")
    before = first_run_events(tmp_path)
    [name] = (file.name for file in (tmp_path / "data" / "unsettled").iterdir())
    claim = UnfinishedRuns(tmp_path / "data").claim(name)
    run("Which light is the oldest?", *flags)
    assert first_run_events(tmp_path) == before
    refused = run("resume", name)
    assert (refused.returncode, "still working on" in refused.stderr) == (2, True)
    claim.release()


def test_sealed_record_is_not_modified(run, killed, flags, memory, tmp_path):
    killed("run.finished", "")
    *_, first = Runs(tmp_path / "data")
    first.write(first.signature, b"a token")
    before = first_run_events(tmp_path)
    run("Which light is the oldest?", *flags)
    assert first_run_events(tmp_path) == before
