"""Run every benchmark: `python -m bench [DATA]`, or `make bench [DATA=folder]`.

DATA is a folder of data sets; each script gets the path below it that contains its files, and is
skipped, with a note, if they are missing. Exits with 8 if a script missed its targets.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
TARGETS_MISSED = 8


@dataclass(frozen=True, slots=True)
class Bench:
    """A script; `data` is the file or folder that it looks for below DATA.

    With `optional` there is something to measure even without DATA; with `every` the script gets
    all folders that contain one of its files, otherwise only the first.
    """

    name: str
    data: str = ""
    optional: bool = True
    every: bool = False


BENCHES = (
    Bench("startup"),
    Bench("steps"),
    Bench("prompts"),
    Bench("cold", "unanswerable.jsonl"),
    Bench("bundled"),
    Bench("closedweb", "unanswerable.jsonl", optional=False),
    Bench("confidence", "unanswerable.jsonl"),
    Bench("guided", "unanswerable.jsonl", optional=False),
    Bench("claims", "citations.jsonl"),
    Bench("serp", "serp/INDEX.json", optional=False),
    Bench("mutants", "serp/INDEX.json", optional=False),
    Bench("articles", "ground-truth.json sentences.json", optional=False, every=True),
    Bench("platforms", "platform/gold.json", optional=False),
    Bench("documents", "documents", optional=False),
    Bench("many"),
    Bench("server"),
    Bench("watchers"),
    Bench("growth"),
    Bench("snapshots", "articles/ground-truth.json"),
    Bench("citing"),
    Bench("actions"),
    Bench("components"),
    Bench("minitasks"),
    Bench("resisting"),
    Bench("bounds"),
    Bench("hostile"),
    Bench("leaks"),
    Bench("injections"),
    Bench("lost"),
    Bench("memory"),
    Bench("recall", "locomo_dev.json", optional=False),
    Bench("quotations"),
    Bench("reworded"),
    Bench("junk"),
    Bench("replays"),
    Bench("kills"),
    Bench("others"),
    Bench("clients"),
    Bench("dropin", "articles/ground-truth.json", optional=False),
    Bench("audits", "citations.jsonl", optional=False),
)


def main(argument: str = "") -> int:
    """Run all, one after another; return 0, or the code of the last one that failed."""
    data = Path(argument).resolve() if argument else None
    if data and not data.is_dir():
        print(f"bench: {data} is not a folder", file=sys.stderr)
        return 2
    codes = [run(bench, data) for bench in BENCHES]
    failed = [code for code in codes if code]
    return failed[-1] if failed else 0


def run(bench: Bench, data: Path | None) -> int:
    """Run one script in its own process; return its exit code (0 if skipped)."""
    folders = places(bench, data) if data and bench.data else []
    print(f"\n== {bench.name}", flush=True)
    if not folders and not bench.optional:
        print(f"skipped: needs {bench.data} below DATA (make bench DATA=folder)")
        return 0
    command = [sys.executable, "-m", f"bench.{bench.name}", *map(str, folders)]
    code = subprocess.run(command, check=False, cwd=HERE.parent).returncode
    if code:
        what = "missed its targets" if code == TARGETS_MISSED else f"ended with code {code}"
        print(f"{bench.name} {what}")
    return code


def places(bench: Bench, data: Path) -> list[Path]:
    """Return the folders to pass on: those requested by name, or those containing a named file."""
    folders = []
    for wanted in bench.data.split():
        for found in data.glob(f"**/{wanted}"):
            up = len(Path(wanted).parts) - 1
            folders.append(found if found.is_dir() else found.parents[up])
    folders.sort(key=lambda path: (len(path.parts), path))
    return folders if bench.every else folders[:1]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
