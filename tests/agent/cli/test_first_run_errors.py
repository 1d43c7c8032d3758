"""A newcomer's first problems: no network, no browser, a typo, a question on a pipe."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from agent.cli import ask
from tests.conftest import COMMAND
from tests.loopback import Handler, serving
from tests.offline import namespaces


def offline(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["unshare", "--net", "sh", "-c", 'ip link set lo up; exec "$@"', "sh",
         str(COMMAND), *arguments],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


@pytest.mark.skipif(not namespaces(), reason="needs a network namespace of its own")
def test_offline_run_prints_error_and_hint(tmp_path):
    done = offline("--data-dir", str(tmp_path), "Who wrote Middlemarch?")
    assert done.returncode == 6
    assert done.stdout == ""
    said, hint = done.stderr.splitlines()
    assert "you seem to be offline" in said
    assert "--corpus DIR" in hint


@pytest.mark.skipif(not namespaces(), reason="needs a network namespace of its own")
def test_doctor_reports_offline_in_one_line(tmp_path):
    done = offline("doctor", "--data-dir", str(tmp_path))
    assert done.returncode == 1
    assert done.stdout.count("search") == 1
    assert "You seem to be offline" in done.stdout


def test_missing_browser_is_reported_and_doctor_explains_fix(run, web, script, site):
    model = script(f'<<TOOL:OPEN:{{"url":"{site.url}/weather"}}>>', "NOT_FOUND")
    done = run("How warm is it?", "--model", model, *web, RESEARCH_CHROME="/nowhere/chrome")
    assert "no browser at /nowhere/chrome" in done.stderr
    assert "research doctor --fix" in done.stderr
    mended = run("doctor", "--fix", *web[:-1], RESEARCH_CHROME="/nowhere/chrome")
    assert "unset RESEARCH_CHROME" in mended.stderr
    assert mended.returncode == 1


def test_doctor_prints_checks_as_json(run, web):
    found = json.loads(run("doctor", "--json", *web[:-1]).stdout)
    assert {"python", "browser", "search searxng", "model"} <= {one["name"] for one in found}


def test_piped_text_is_context_and_is_cited(run, web, tmp_path):
    said = "The pump at Quarrel Wharf was repaired by Ida Brandt on 3 May 2024.\n"
    done = run("--json", "Who repaired the pump at Quarrel Wharf?", *web, stdin=said)
    report = json.loads(done.stdout)
    assert "Ida Brandt" in report["answer"]
    assert report["sources"][0]["url"].endswith("standard-input.txt")


def test_silent_open_pipe_does_not_block_run(monkeypatch):
    reading, writing = os.pipe()  # kept open, as a service's is
    for name in ("_FIRST_WAIT_S", "_FURTHER_WAIT_S"):
        monkeypatch.setattr(ask, name, 0.01)
    with os.fdopen(reading) as silent, os.fdopen(writing, "w"):
        monkeypatch.setattr("sys.stdin", silent)
        with ask.piped_file() as path:
            assert path is None


class _ForbiddenSite(Handler):
    """A site that refuses everybody."""

    def get(self) -> None:
        self.send_error(404 if self.path == "/robots.txt" else 403)


def test_audit_with_no_readable_reference_exits_6(run, tmp_path):
    with serving(_ForbiddenSite, lambda url: url) as url:
        draft = tmp_path / "draft.md"
        draft.write_text(f"The lamp was lit in 1829 ([Hesk]({url}/lamp)).\n")
        done = run("audit", str(draft), "--allow-private", url.removeprefix("http://"))
    assert done.returncode == 6
    assert "no reference could be read, so nothing was checked" in done.stderr
