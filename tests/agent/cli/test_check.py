"""`research check`, as used by people and their CI."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

SUITE = """
options:
  searxng_url: {site}
  search: [searxng]
  model: {model}
checks:
  - name: lit in 1829
    question: When was Hesk Light first lit?
    expect:
      answer: 1 November 18\\d\\d
      cite: "*/hesk-light"
      max_steps: 3
  - name: never | heard of
    question: When was Hesk Light first lit?
    expect:
      answer: 1830
      not_cite: "*/hesk-light"
"""


def test_check_reports_results_to_terminal_junit_and_summary(run, answering, site, tmp_path):
    (tmp_path / "checks.yaml").write_text(SUITE.format(site=site.url, model=answering))
    junit, summary = tmp_path / "out" / "junit.xml", tmp_path / "summary.md"
    flags = ("--junit", str(junit), "--summary", str(summary))
    done = run("check", str(tmp_path / "checks.yaml"), *flags)
    assert done.returncode == 8, done.stderr
    assert "ok    lit in 1829" in done.stdout
    assert "the answer does not match '1830'" in done.stdout
    assert "1 of 2 checks passed" in done.stdout
    suite = ET.parse(junit).getroot()
    assert [case.find("failure") is None for case in suite] == [True, False]
    assert "| never \\| heard of | ❌ | answered, not verified |" in summary.read_text()


def test_check_of_recorded_run_needs_no_web_or_model(run, web, answering, tmp_path):
    (tmp_path / "kept").mkdir()
    first = json.loads(run("--json", "When?", "--model", answering, *web).stdout)["run"]
    run("export", first, str(tmp_path / "kept" / "light.zip"))
    run("runs", "rm", first)
    checks = tmp_path / "kept" / "checks.yaml"
    checks.write_text("checks:\n  - run: light.zip\n    expect: {answer: '1829'}\n")
    done = run("check", str(checks))
    assert done.returncode == 0
    assert (
        done.stdout == "ok    run light.zip\n      Answered, not verified.\n1 of 1 checks passed\n"
    )
    checks.write_text(checks.read_text() + "  - run: gone\n")
    done = run("check", str(checks))
    assert done.returncode == 8
    assert "no run gone" in done.stdout


def test_invalid_checks_file_exits_2(run, tmp_path):
    (tmp_path / "checks.yaml").write_text("checks: 3")
    done = run("check", str(tmp_path / "checks.yaml"))
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
