"""What people expect from a command line: stored keys, templates, short names, JSON lists."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.models.providers import without_folder
from agent.run.proposed_skills import propose_skill
from agent.run.settings import learned_habits
from browser.read.habits import Habit, Habits
from browser.types import Outcome

QUESTION = "When was Hesk Light first lit?"
SECRET = "sk-not-a-real-one"


def test_stored_key_is_used_by_runs_and_readable_only_by_owner(run, tmp_path):
    kept = run("keys", "set", "groq", stdin=f"{SECRET}\n")
    assert "stored GROQ_API_KEY" in kept.stdout
    assert (tmp_path / "keys.json").stat().st_mode & 0o077 == 0
    assert run("keys", "list").stdout == "GROQ_API_KEY  file\n"
    asked = run(QUESTION, "--model", "groq/any", "--base-url", "http://127.0.0.1:9", "--no-memory")
    assert "cannot be reached" in asked.stderr  # and not that the key is missing
    assert SECRET not in asked.stderr + kept.stdout
    assert run("keys", "rm", "groq").returncode == 0
    assert run("keys", "rm", "groq").returncode == 2
    assert "GROQ_API_KEY is not set" in run(QUESTION, "--model", "groq/any", "--no-memory").stderr


@pytest.fixture
def ring():
    """A keyring for the test, which is locked by a file `locked` in the home folder."""
    return {"PYTHON_KEYRING_BACKEND": "tests.keyring_of_files.Ring"}


def test_key_is_stored_in_keyring_if_available(run, tmp_path, ring):
    assert "keyring" in run("keys", "set", "groq", stdin=f"{SECRET}\n", **ring).stdout
    assert run("keys", "list", **ring).stdout == "GROQ_API_KEY  keyring\n"
    assert SECRET not in (tmp_path / "keys.json").read_text()
    place = ("--model", "groq/any", "--base-url", "http://127.0.0.1:9", "--no-memory")
    assert "cannot be reached" in run(QUESTION, *place, **ring).stderr
    assert run("keys", "rm", "groq", **ring).returncode == 0
    assert "GROQ_API_KEY is not set" in run(QUESTION, *place[:2], "--no-memory", **ring).stderr


def test_locked_keyring_warns_and_falls_back_to_file(run, web, tmp_path, ring):
    assert run("keys", "set", "groq", stdin=f"{SECRET}\n", **ring).returncode == 0
    assert run("keys", "set", "openrouter", stdin=f"{SECRET}\n", **ring).returncode == 0
    (tmp_path / "locked").touch()
    listed = run("keys", "list", **ring)
    assert listed.stderr.count("the system keyring cannot be used (KeyringLocked:") == 1
    assert listed.returncode == 0
    assert run("runs", **ring).returncode == 0
    assert run("How long is Sunnock Pier?", *web, **ring).returncode == 0
    assert "keys.json" in run("keys", "set", "gemini", stdin=f"{SECRET}\n", **ring).stdout
    assert run("keys", "rm", "groq", **ring).returncode == 0
    left = "GEMINI_API_KEY  file\nOPENROUTER_API_KEY  keyring\n"
    assert "".join(sorted(run("keys", "list", **ring).stdout.splitlines(True))) == left


def test_file_based_keyring_backend_is_not_used(run):
    alt = {"PYTHON_KEYRING_BACKEND": "keyrings.alt.file.EncryptedKeyring"}
    kept = run("keys", "set", "groq", stdin=f"{SECRET}\n", **alt)
    assert "keys.json" in kept.stdout
    assert run("keys", "rm", "groq", **alt).returncode == 0


def test_key_for_unknown_provider_is_refused(run):
    refused = run("keys", "set", "opnai", stdin="x\n")
    assert (refused.returncode, "Did you mean openai?" in refused.stderr) == (2, True)
    assert run("keys", "list").stdout == ""


def test_template_sets_question_and_options_and_flags_override_it(run, web, answering, tmp_path):
    folder = tmp_path / "templates"
    folder.mkdir()
    (folder / "first.toml").write_text(
        f'question = "When was {{input}} first lit?"\nmodel = "{answering}"\nmax-steps = 7\n'
    )
    done = run("-t", "first", "Hesk Light", "--json", *web)
    assert json.loads(done.stdout)["question"] == QUESTION
    started = run("-t", "first", "Hesk Light", "--events", "--max-steps", "9", *web).stdout
    options = json.loads(started.splitlines()[0])["data"]["options"]
    assert (options["max_steps"], options["model"]) == (9, without_folder(answering))
    missing = run("-t", "frist", "Hesk Light")
    assert (missing.returncode, "Available templates: first" in missing.stderr) == (2, True)
    empty = run("-t", "first")
    assert (empty.returncode, "needs text to replace {input}" in empty.stderr) == (2, True)
    (folder / "wrong.toml").write_text('question = "x"\ncorpus = ["notes"]\n')
    wrong = run("-t", "wrong")
    assert (wrong.returncode, "corpus" in wrong.stderr) == (2, True)


def test_system_instruction_is_sent_to_model(run, script, tmp_path):
    model = script({"reply": "NOT_FOUND", "expect": "Answer in rhymes"})
    done = run(QUESTION, "-s", "Answer in rhymes.", "--model", model, "--dry-run")
    assert "Answer in rhymes." in done.stdout
    assert "is ignored" in run(QUESTION, "-s", "In rhymes.", "--corpus", str(tmp_path),
                                 "--search", "corpus", "--no-memory").stderr  # fmt: skip


def test_model_alias_is_resolved(run, web, script):
    assert run("config", "set", "alias", f"mine={script('NOT_FOUND')}").returncode == 0
    assert run(QUESTION, "-q", "--model", "mine", *web).returncode == 3


def test_config_unset_restores_default(run):
    run("config", "set", "depth", "deep")
    assert run("config", "unset", "depth").returncode == 0
    assert run("config", "get", "depth").stdout == "standard\n"
    assert run("config", "unset", "depth").returncode == 2


def test_list_commands_support_json(run, web, answering):
    run(QUESTION, "-q", "--model", answering, *web)
    run("memory", "remember", "boat", "Kittiwake")
    [kept] = json.loads(run("runs", "--json").stdout)
    assert (kept["question"], kept["status"]) == (QUESTION, "answered")
    assert json.loads(run("memory", "list", "--json").stdout) == [
        {"key": "boat", "text": "Kittiwake"}
    ]
    assert isinstance(json.loads(run("usage", "--json").stdout), list)


def test_chrome_stop_stops_started_chrome(run):
    assert run("chrome", "--headless", "--port", "0").returncode == 0
    assert run("chrome", "stop").returncode == 0
    assert run("chrome", "stop").returncode == 2


def test_fetch_history_is_shown_and_reset(run, tmp_path):
    learned = Habits(tmp_path / "habits.json")
    for _ in range(3):
        learned.needed_browser("shop.example", "nothing but scripts")
    learned.needed_browser("other.example", "a wall")
    for _ in range(2):
        learned.read_failed("slow.example", Outcome.TIMEOUT)
    place = ("--data-dir", str(tmp_path))
    shown = json.loads(run("habits", "--json", *place).stdout)
    assert {site: row["browser_first"] for site, row in shown.items()} == {
        "shop.example": True,
        "other.example": False,
        "slow.example": False,
    }
    assert (shown["slow.example"]["read_seconds"], shown["other.example"]["read_seconds"]) == (
        60,
        30,
    )
    table = run("habits", "slow.example", *place).stdout
    assert "timeout 2 times in a row; timeout 60 s instead of 30" in table
    assert run("habits", "nowhere.example", *place).returncode == 2
    run("habits", "shop.example", "--reset", *place)
    assert "shop.example" not in run("habits", *place).stdout
    run("habits", "--reset", *place)
    assert Habits(tmp_path / "habits.json").all() == {}


def test_skill_is_proposed_for_failing_site_and_used_once_enabled(run, tmp_path):
    events = []
    habits = learned_habits(tmp_path, lambda type_, **data: events.append((type_, data)))
    for _ in range(4):
        habits.read_failed("club.example", Outcome.LOGIN)
    proposed = {"name": "club.example-login", "site": "club.example", "times": 3}
    assert events == [("skill.proposed", proposed)]
    path, habit = tmp_path / "proposed" / "club.example-login" / "SKILL.md", Habit(failed="login")
    assert "asked for a login 3 times in a row" in path.read_text()
    assert propose_skill(tmp_path, "club.example", habit) is None, "it is proposed once"
    place = ("--data-dir", str(tmp_path))
    listed = run("skills", *place, "list").stdout
    assert f"proposed club.example-login: {path}" in listed
    assert json.loads(run("skills", *place, "list", "--json").stdout) == []
    assert run("skills", *place, "enable", "club.example-login").returncode == 0
    (skill,) = json.loads(run("skills", *place, "list", "--json").stdout)
    assert (skill["name"], skill["source"]) == ("club.example-login", "user")
    assert propose_skill(tmp_path, "club.example", habit) is None
    assert run("skills", *place, "enable", "club.example-login").returncode == 2


def test_mistyped_command_with_arguments_suggests_command(run):
    for word in ("aduit", "audt", "reserch"):
        refused = run(word, "draft.md")
        assert refused.returncode == 2
        assert (
            f"No such command '{word}'. Did you mean '{'ask' if word == 'reserch' else 'audit'}'"
            in (refused.stderr)
        )


def test_environment_lists_split_on_commas_or_whitespace(run, tmp_path, web):
    for name in ("a.md", "b.md", "c d.md"):
        (tmp_path / name).write_text(f"The lamp of {name} was lit in 1829.")
    places = [str(tmp_path / name) for name in ("a.md", "b.md", "c d.md")]
    for value in (
        f'{places[0]},{places[1]} "{places[2]}"',
        f'{places[0]}\n{places[1]}, "{places[2]}"',
    ):
        begun = run(
            QUESTION, "--events", *web, RESEARCH_FILE=value, RESEARCH_DENY="a.test b.test,c.test"
        )
        options = json.loads(begun.stdout.splitlines()[0])["data"]["options"]
        assert options["file"] == [Path(place).name for place in places]  # its folder is private
        assert options["deny"] == ["a.test", "b.test", "c.test"]


def test_invalid_file_flag_leaves_no_memory(run, web, tmp_path):
    failed = run(QUESTION, *web[:-1], "--file", str(tmp_path / "nofile.txt"))
    assert failed.returncode == 2
    assert run("memory", "list").stdout == ""
