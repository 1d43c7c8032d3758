"""`research "question"` from the shell: what it prints where, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

QUESTION = "When was Hesk Light first lit?"


def test_answer_goes_to_stdout_and_progress_to_stderr(run, web, answering):
    done = run(QUESTION, "--model", answering, *web)
    assert done.returncode == 0
    assert "first lit on 1 November 1829. [1]" in done.stdout
    assert "[1] Hesk Light" in done.stdout
    assert "read S1 via http: Hesk Light" in done.stderr


def test_json_prints_only_the_report(run, web, answering):
    done = run("--json", QUESTION, "--model", answering, *web)
    report = json.loads(done.stdout)
    assert report["status"] == "answered"
    assert set(report) == {
        "run", "question", "status", "answer", "confidence", "sentences", "sources", "searches",
        "confidence_parts", "conflicts", "references", "data", "values", "data_notes",
        "usage", "steps", "elapsed_s", "error", "standing", "doubt", "closest",
        "rechecked", "challenges",
    }  # fmt: skip


def test_events_are_printed_as_json_lines(run, web, answering):
    done = run(QUESTION, "--events", "-q", "--model", answering, *web)
    kinds = [json.loads(line)["type"] for line in done.stdout.splitlines()]
    assert kinds[0] == "run.started"
    assert kinds[-1] == "run.finished"
    assert done.stderr == ""


def test_dash_reads_question_from_stdin(run, web, answering):
    done = run("-", "--json", "--model", answering, *web, stdin=QUESTION + "\n")
    assert json.loads(done.stdout)["question"] == QUESTION


def test_undecodable_bytes_in_question_are_replaced(run, web, answering):
    done = run("--json", "When was \udcff lit?", "--model", answering, *web)
    assert json.loads(done.stdout)["question"] == "When was ? lit?"


def test_export_format_follows_file_extension(run, web, answering, tmp_path):
    files = [tmp_path / f"out.{kind}" for kind in ("md", "html", "json", "jsonl")]
    flags = [flag for file in files for flag in ("--export", str(file))]
    assert run(QUESTION, "--model", answering, *web, *flags).returncode == 0
    assert all(file.stat().st_size for file in files)
    assert "1 November 1829" in files[0].read_text()


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["rnus"], 2, "Did you mean 'runs'?"),
        (["--nope", QUESTION], 2, "No such option"),
        (
            ["-q", "show", "last"],
            2,
            "Options go after the command: `research show … --no-memory …`",
        ),
        (["--max-steps", "3", "resume"], 2, "use `research ask`"),
        (["-q"], 2, "empty"),
        ([QUESTION, "--model", "nonsense"], 2, "unknown model"),
        ([QUESTION, "--corpus", "/no/such/folder"], 2, "cannot read the corpus"),
        ([QUESTION, "--search", "gogle"], 2, "google"),
        ([QUESTION, "--max-steps", "0"], 2, "max-steps"),
        ([QUESTION, "--data-dir", __file__], 2, "data folder"),
        (["usage", "--data-dir", __file__], 2, "is a file"),
        ([QUESTION, "--since", "yesterday"], 2, "a date such as"),
        ([QUESTION, "--model", "groq/any"], 2, "GROQ_API_KEY is not set"),
        ([QUESTION, "--export", "x.exe"], 2, "unknown format"),
        ([QUESTION, "--file", "/no/such/file"], 2, "cannot read the file"),
        ([QUESTION, "--file", "/tmp"], 2, "Search its files with --corpus /tmp."),
        (["-"], 2, "empty"),
        ([QUESTION, "--cdp", "http://127.0.0.1:9"], 6, "no Chrome responds"),
        ([QUESTION, "--base-url", "http://127.0.0.1:9/v1", "--model", "m"], 7, "cannot be reached"),
    ],
)
def test_errors_print_a_short_message_and_exit_with_their_code(run, args, code, said):
    done = run(*args) if args[0] in ("rnus", "usage") else run("--no-memory", *args)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_continue_resumes_named_or_last_conversation(run, script, site, tmp_path):
    flags = ("-q", "--search", "searxng", "--searxng-url", site.url)
    model = script("NOT_FOUND")
    first = json.loads(run("My boat is Kittiwake.", "--json", "--model", model, *flags).stdout)
    for named in ((), (first["run"],)):
        target = tmp_path / "record.jsonl"
        done = run("-c", *named, "And mine?", "--model", model, "--export", str(target), *flags)
        assert done.returncode == 3
        assert "My boat is Kittiwake." in target.read_text()


def test_not_found_exits_3_and_require_verified_exits_4(run, web, script, site):
    nothing = run(QUESTION, "-q", "--model", script("NOT_FOUND nothing"), *web)
    assert nothing.returncode == 3
    false = script(
        f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>',
        "Hesk Light was first lit on 5 May 1911. [S1]",
    )
    done = run(QUESTION, "-q", "--require-verified", "--model", false, *web)
    assert done.returncode == 4
    assert "Not verified" in done.stdout


def test_unreachable_search_engine_is_named_and_exits_6(run, script):
    model = script("<<TOOL:WEB_SEARCH:x>>", "NOT_FOUND")
    done = run(QUESTION, "-q", "--model", model, "--searxng-url", "http://127.0.0.1:9",
               "--search", "searxng", "--no-memory")  # fmt: skip
    assert done.returncode == 6
    assert "searxng: unreachable" in done.stderr


def test_flags_override_environment_which_overrides_config_file(run, tmp_path):
    (tmp_path / "config.toml").write_text('model = "file-model"\nlang = "de"\n')
    shown = run("config", "show", RESEARCH_MODEL="env-model").stdout
    assert "env-model" in shown
    assert "de" in shown
    assert run(QUESTION, RESEARCH_MODEL="env-model").stderr.count("env-model") == 1
    assert "flag-model" in run(QUESTION, "--model", "flag-model", RESEARCH_MODEL="env-model").stderr
    assert "file-model" in run(QUESTION).stderr


def test_invalid_config_file_exits_2(run, tmp_path):
    (tmp_path / "config.toml").write_text("model = \n")
    done = run(QUESTION)
    assert done.returncode == 2
    assert "not valid TOML" in done.stderr


def test_control_characters_are_stripped_from_terminal_output(run, web, script):
    evil = "NOT_FOUND \u001b[2J\u001b]0;owned\u0007 \u202egnp.exe \u200bhidden"
    done = run(QUESTION, "-q", "--model", script(evil), *web)
    assert not [c for c in done.stdout if (ord(c) < 32 and c != "\n") or c in "\u202e\u200b"]


def test_uncertain_answer_without_model_shows_closest_passages(run, tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    rows = "| Ferry | Passengers | Season |\n|---|---|---|\n| Anna Torrand | 310 | summer |\n"
    (notes / "ferries.md").write_text(f"# Ferries\n\n{rows}| Anna Torrand | 90 | winter |\n")
    out = [str(tmp_path / name) for name in ("report.html", "report.md")]
    flags = ("--corpus", str(notes), "--search", "corpus", "--no-memory")
    exports = [word for name in out for word in ("--export", name)]
    done = run("How many passengers has the Anna Torrand?", *flags, *exports)
    title = "There is no answer without a language model. These passages are relevant:"
    assert done.returncode == 3
    assert title in done.stdout
    page, text = (Path(name).read_text() for name in out)
    assert title in page
    assert title in text
    card = page.partition('class="source"')[2].partition("</section>")[0]
    assert "310" in card
    assert "| ---" not in card
    (notes / "pump.md").write_text("# Pump\n\nIda Brandt repaired the pump on 3 May 2024.\n")
    sure = run("Who repaired the pump?", *flags)
    assert "Ida Brandt repaired" in sure.stdout
    assert (sure.returncode, title in sure.stdout) == (0, False)
