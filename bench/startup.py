"""Measures how long a user waits: `research --help`, and an extractive run on the bundled web.

    python -m bench.startup

Wall seconds are medians of whole warm processes; memory is the peak of the Python process without
the browser. Exits with 8 if a target is missed.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from fixtures.demo import QUESTION
from fixtures.server import serve

HELP_S, RUN_S, RUN_MB = 0.15, 6.0, 200.0
ROUNDS_HELP, ROUNDS_RUN = 9, 3
RESEARCH = Path(sys.executable).with_name("research")
QUESTIONS = {
    "a page that HTTP can read": "When was Hesk Light first lit?",
    "a record behind a click": QUESTION,
}
# Like the installed command, but the last line of stderr is its peak memory (in KB on Linux).
_MEASURED = """
import os, resource, sys
from agent.cli import run
from agent.cli.group import cli
code = run(cli)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr, flush=True)
os._exit(code)
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """One finished process."""

    code: int
    seconds: float
    stderr: str


def main() -> int:
    """Print one line per measurement; return 8 if a target is missed."""
    good = report_help()
    for name, question in QUESTIONS.items():
        good = report_run(name, question) and good
    return 0 if good else 8


def report_help() -> bool:
    took = [measure([str(RESEARCH), "--help"]).seconds for _ in range(ROUNDS_HELP + 1)][1:]
    median = statistics.median(took)
    print(f"{'research --help':32} {median:6.2f} s   (target {HELP_S})")
    return median <= HELP_S


def report_run(name: str, question: str) -> bool:
    with serve() as site, tempfile.TemporaryDirectory() as folder:
        command = [
            *(sys.executable, "-c", _MEASURED, question, "--model", "extractive", "--no-memory"),
            *("--search", "searxng", "--searxng-url", site.url),
            *("--allow-private", site.address, "--data-dir", folder, "--json"),
        ]
        runs = [measure(command) for _ in range(ROUNDS_RUN)]
    median = statistics.median(run.seconds for run in runs)
    peak_mb = max(int(run.stderr.split()[-1]) for run in runs) / 1024
    codes = sorted({run.code for run in runs})
    print(f"{name:32} {median:6.2f} s   (target {RUN_S})   {peak_mb:4.0f} MB   codes {codes}")
    return median <= RUN_S and peak_mb <= RUN_MB


def measure(command: list[str]) -> Measured:
    own = {key: value for key, value in os.environ.items() if not key.startswith("RESEARCH_")}
    began = time.perf_counter()
    ended = subprocess.run(command, env=own, capture_output=True, text=True, check=False)
    return Measured(ended.returncode, time.perf_counter() - began, ended.stderr)


if __name__ == "__main__":
    sys.exit(main())
