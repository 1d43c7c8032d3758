"""Runs with each write failing in turn: a full disk, an I/O error, half a write.

`python -m bench.disk [EVERY]` fails each (or every nth) of some 370 writes in three ways, then
reads and resumes what is left. Prints what is wrong; exits with 8 if anything is. Requires a C
compiler; takes half an hour.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from fixtures.server import serve
from tests.crash.full_disk import HOWS, Asked, failing_commands, replies

TARGETS_MISSED = 8


def main(every: int = 1) -> int:
    """Fail each write and print the result."""
    with TemporaryDirectory() as scratch, serve() as site:
        folder = Path(scratch)
        model = folder / "script.jsonl"
        model.write_text("".join(json.dumps(reply) + "\n" for reply in replies(site.url)))
        flags = ("--search", "searxng", "--searxng-url", site.url)
        with failing_commands(folder) as commands:
            asked = Asked(commands, folder, f"scripted:{model}", flags)
            tried = flawed = 0
            for nth in range(1, asked.writes() + 1, every):
                for how in HOWS:
                    flaws = asked.flaws(nth, how)
                    tried, flawed = tried + 1, flawed + bool(flaws)
                    print("".join(f"{flaw}\n" for flaw in flaws), end="", flush=True)
    print(f"{tried} runs with a failing write: {flawed} flawed (target 0)")
    return TARGETS_MISSED if flawed else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
