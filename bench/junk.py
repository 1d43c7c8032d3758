"""Measures what many runs over ten pages leave in memory: `python -m bench.junk [RUNS]` (200).

Nothing may accumulate; `tests/agent/memory/repeated_questions.py` says how it is counted.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from fixtures.server import serve
from tests.agent.memory.repeated_questions import ROTATION, rounds

TARGETS_MISSED = 8
RUNS = 200


def main() -> int:
    """Run, print, and report whether anything accumulated."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    with serve() as site, tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(rounds(site, Path(folder), runs))
    for number, one in enumerate(found, 1):
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(one.counts.items()))
        print(f"round {number}: {kinds}; {one.injected:,} characters for all questions")
    first, last = found[min(1, len(found) - 1)], found[-1]
    good = first.counts == last.counts and last.injected <= ROTATION * first.injected
    clean = not any(one.twice or one.prompts for one in found)
    print(f"{runs} runs: {'nothing piles up' if good and clean else 'MISSED'}")
    for text in [text for one in found for text in (*one.twice, *one.prompts)][:5]:
        print(f"  {text}")
    return 0 if good and clean else TARGETS_MISSED


if __name__ == "__main__":
    sys.exit(main())
