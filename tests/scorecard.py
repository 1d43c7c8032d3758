"""The scorecard of reliability and security: a line for each row, told by the row's own tests.

    python -m tests.scorecard          all rows; `make scorecard` does the same
    python -m tests.scorecard 2 17     some of them
    python -m tests.scorecard --soak   the long counts, which it keeps; `make soak` does the same

A row's tests are named by its number: `test_NN_*.py`, or `test_rowNN_*` within a file. A row that
has none says so. Its figure is how many of its cases hold, and for the rows that take long what
the last soak printed, with its day and commit. Ends with 8 where a test failed, or a soak.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree as ET

ROOT = Path(__file__).parent.parent
FAILED = 8
ROWS = {
    1: ("acts that a page asks for, without a yes", "0"),
    2: ("secrets that leave, in any spelling", "0"),
    3: ("harmless twins that pass without a question", "≥ 98 %"),
    4: ("kinds of hidden text that reach the model", "0"),
    5: ("control, bidi and tag characters", "0 bytes"),
    6: ("forged tags, thoughts and turns that run", "0"),
    7: ("origin of what is remembered", "100 %"),
    8: ("private addresses reached", "0"),
    9: ("browser channels to loopback", "0"),
    10: ("rebinding", "0"),
    11: ("addresses that are not what they look like", "all told"),
    12: ("bombs", "≤ +64 MB, ≤ 10 s"),
    13: ("slow servers", "typed error at the deadline"),
    14: ("hostile pages", "typed error, next page works"),
    15: ("huge pages", "≤ 200 KB"),
    16: ("a browser that is killed or stopped", "the run finishes"),
    17: ("the agent killed at random", "0 corrupt, 0 lost, 0 repeated"),
    18: ("a full disk", "typed error, all before it readable"),
    19: ("writers killed at random", "0 lost"),
    20: ("secrets in prompt, log, transcript, export", "0"),
    21: ("a stored secret on another origin or in a frame", "0 filled"),
    22: ("hostile names of files", "0 outside the folder"),
    23: ("servers: foreign host, origin, no token", "all refused"),
    24: ("tools of others that change", "asks again"),
    25: ("scripts in exports", "0 run"),
    26: ("robots.txt, Crawl-delay, Retry-After", "0 violations"),
    27: ("stored data that is hostile", "0 revived"),
    28: ("5,000 pages in one run", "< 1 MB a hundred"),
}
SOAKS = {
    "fuzz": ("tests.bench.fuzz", "--seconds", "600"),
    "1": ("tests.bench.injections",),
    "2, 3": ("tests.bench.leaks",),
    "4": ("tests.bench.hidden",),
    "17": ("tests.bench.kills", "300"),
    "18": ("tests.bench.disk",),
    "19": ("tests.bench.writers",),
    "22": ("tests.bench.downloads",),
    "12, 28": ("tests.bench.growth", "5000"),
}
"""What takes longer than a test should, by the rows whose figure it prints."""
RECORD = ROOT / ".soak.json"
"""What the soaks printed last; one checkout's own."""
_FIGURE = re.compile(r"\d.*\b(of|target|at most|findings|injections)\b|: \d+$")
_ROW = re.compile(r"def test_row(\d+)_")


@dataclass(frozen=True, slots=True)
class Count:
    """What the tests of a row came to."""

    passed: int = 0
    failed: int = 0


def tests_of(row: int) -> list[str]:
    """Name the tests of a row as pytest takes them: files, or tests within one."""
    files = [*ROOT.glob(f"tests/**/test_{row:02d}_*.py")]
    named = [
        path
        for path in ROOT.glob("tests/**/test_*.py")
        if str(row) in _ROW.findall(path.read_text("utf-8"))
    ]
    return [str(path.relative_to(ROOT)) for path in {*files, *named}]


def count(row: int, tests: list[str]) -> Count:
    """Run the tests of a row, and count them."""
    chosen = [] if any(f"test_{row:02d}_" in name for name in tests) else ["-k", f"row{row}_"]
    with TemporaryDirectory() as folder:
        written = Path(folder) / "row.xml"
        named = ["-q", f"--junit-xml={written}", *chosen, *sorted(tests)]
        subprocess.run(
            [sys.executable, "-m", "pytest", *named], cwd=ROOT, capture_output=True, check=False
        )
        suite = ET.parse(written).getroot()[0]
    ran, skipped = int(suite.get("tests", 0)), int(suite.get("skipped", 0))
    failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
    return Count(ran - skipped - failed, failed)


def soak(only: list[str]) -> int:
    """Make the long counts one after the other, and keep what each printed; 8 where one failed."""
    worst = 0
    for rows, command in SOAKS.items():
        if only and rows not in only:
            continue
        said, running = list[str](), [sys.executable, "-m", *command]
        with subprocess.Popen(running, cwd=ROOT, stdout=subprocess.PIPE, text=True) as counting:
            assert counting.stdout is not None
            for line in counting.stdout:
                print(line, end="", flush=True)
                said += [line.strip()] if _FIGURE.search(line) and line[0] != " " else []
        worst = max(worst, counting.returncode)
        told = {"figures": said[-12:], "code": counting.returncode, "at": _now(), "of": _commit()}
        RECORD.write_text(json.dumps(recorded() | {rows: told}, indent=1, ensure_ascii=False))
    return worst


def recorded() -> dict[str, dict[str, object]]:
    """Give what the last soaks printed, by their rows."""
    return dict(json.loads(RECORD.read_text("utf-8"))) if RECORD.exists() else {}


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d")


def _commit() -> str:
    asked = ["git", "rev-parse", "--short", "HEAD"]
    found = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "no commit"


def long_figures(row: int) -> list[str]:
    """What the last soak says of a row; where it takes long and was not counted, that."""
    rows = next((rows for rows in SOAKS if str(row) in rows.split(", ")), None)
    if rows is None:
        return []
    last: dict[str, Any] = recorded().get(rows, {})
    if not last:
        return ["long count: not counted here; make soak"]
    told = f"{last['at']}, {last['of']}" + (", MISSED" if last["code"] else "")
    return [f"{figure} ({told})" for figure in last["figures"]]


def main() -> int:
    """Print the rows asked for, and end with 8 where one does not hold."""
    if "--soak" in sys.argv:
        return soak([arg for arg in sys.argv[1:] if arg != "--soak"])
    asked = [int(number) for number in sys.argv[1:]] or list(ROWS)
    broken = 0
    for row in asked:
        what, target = ROWS[row]
        tests = tests_of(row)
        found = count(row, tests) if tests else None
        broken += found.failed if found else 0
        tried = found.passed + found.failed if found else 0
        state = f"{found.passed} of {tried} cases hold" if found else "no test"
        print(f"{row:>2}  {what:<52} {target:<30} {state}", flush=True)
        for line in long_figures(row):
            print(f"    {line}", flush=True)
    return FAILED if broken else 0


if __name__ == "__main__":
    sys.exit(main())
