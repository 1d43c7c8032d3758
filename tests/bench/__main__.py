"""Run every benchmark: `python -m tests.bench [DATA]`, or `make bench [DATA=folder]`.

DATA is a folder of data sets; each script is handed the place below it where its files lie, and
skipped, with a word, where they are not there. Ends with 8 where a script missed its targets.
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
    """A script; `data` is the file (or folder) that it looks for below DATA.

    `optional` ones have something to measure without DATA too.
    """

    name: str
    data: str = ""
    optional: bool = True


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
    Bench("articles", "articles/ground-truth.json", optional=False),
    Bench("platforms", "platform/gold.json", optional=False),
    Bench("documents", "documents", optional=False),
    Bench("many"),
    Bench("watchers"),
    Bench("growth"),
    Bench("snapshots", "articles/ground-truth.json"),
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
    """Run all, one after another; 0, or the code of the last that failed."""
    data = Path(argument).resolve() if argument else None
    if data and not data.is_dir():
        print(f"bench: {data} is no folder", file=sys.stderr)
        return 2
    codes = [run(bench, data) for bench in BENCHES]
    failed = [code for code in codes if code]
    return failed[-1] if failed else 0


def run(bench: Bench, data: Path | None) -> int:
    """Run one script in a process of its own; its exit code, 0 where it is skipped."""
    folder = place(bench.data, data) if data and bench.data else None
    print(f"\n== {bench.name}", flush=True)
    if folder is None and not bench.optional:
        print(f"skipped: needs {bench.data} below DATA (make bench DATA=folder)")
        return 0
    command = [
        sys.executable,
        "-m",
        f"tests.bench.{bench.name}",
        *([str(folder)] if folder else []),
    ]
    code = subprocess.run(command, check=False, cwd=HERE.parents[1]).returncode
    if code:
        what = "missed its targets" if code == TARGETS_MISSED else f"ended with code {code}"
        print(f"{bench.name} {what}")
    return code


def place(wanted: str, data: Path) -> Path | None:
    """The folder to hand over: the wanted folder itself, or the one that the file is named from."""
    found = min(data.glob(f"**/{wanted}"), key=lambda path: (len(path.parts), path), default=None)
    if found is None or found.is_dir():
        return found
    return found.parents[len(Path(wanted).parts) - 1]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
