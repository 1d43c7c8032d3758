"""Gives damaged inputs to readers of third-party data; none may fail, hang or let anything through.

    python -m bench.fuzz [--seconds 600] [--only NAME]
    python -m bench.fuzz --only NAME --at NUMBER [--write FILE]

Findings are an error that a reader does not document, an input that takes longer than its limit,
and a private address that is called public; `--at` reproduces one. Each reader has its own process,
so one that dies or hangs is also a finding. Exits with 8 if there are any.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fuzzing.targets import ROOT, TARGETS, finding, made

SECONDS = 600
TARGETS_MISSED = 8
_HUNG_S = 60
"""Seconds after its time limit before a reader is considered hung and terminated."""
_MOST_FINDINGS = 5


def fuzz(name: str, seconds: float, place: Path) -> int:
    """Run for this long; the current input's number is always in the file at `place`."""
    until, number, found = time.monotonic() + seconds, 0, set[str]()
    with place.open("w", buffering=1) as under_way:
        while time.monotonic() < until and len(found) < _MOST_FINDINGS:
            under_way.seek(0)
            under_way.write(f"{number}\n")
            said = finding(TARGETS[name], made(name, number))
            kind = said.partition(":  " if said.startswith("took") else ": ")[0]
            if said and kind not in found:
                found.add(kind)
                print(f"{name} {number}: {said}", flush=True)
            number += 1
    print(f"{name}: {number} inputs, {len(found)} findings", flush=True)
    return TARGETS_MISSED if found else 0


def watched(name: str, seconds: float) -> int:
    """Fuzz in a separate process; if it dies or hangs, report the input's number."""
    command = [sys.executable, "-m", "bench.fuzz", "--only", name, "--seconds", str(seconds)]
    with TemporaryDirectory() as folder:
        place = Path(folder) / "number"
        try:
            code = subprocess.run(
                [*command, "--place", str(place)], cwd=ROOT, timeout=seconds + _HUNG_S, check=False
            ).returncode
        except subprocess.TimeoutExpired:
            code = -1
        if code not in {0, TARGETS_MISSED}:
            number = place.read_text().strip() if place.exists() else "the start"
            print(f"{name}: {'hung' if code == -1 else f'died ({code})'} at {number}", flush=True)
    return TARGETS_MISSED if code else 0


def main() -> int:
    """Fuzz all readers, or the one named; return 8 if there was a finding."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each reader")
    parser.add_argument("--only", choices=TARGETS)
    parser.add_argument("--at", type=int)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--place", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.at is not None:
        body = made(asked.only, asked.at)
        if asked.write:
            asked.write.write_bytes(body)
        TARGETS[asked.only].check(body)
        return 0
    if asked.place:
        return fuzz(asked.only, asked.seconds, asked.place)
    return max([watched(name, asked.seconds) for name in ([asked.only] if asked.only else TARGETS)])


if __name__ == "__main__":
    sys.exit(main())
