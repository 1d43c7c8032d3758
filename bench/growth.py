"""Measures what a process that reads many pages retains: memory, handles, processes.

python -m bench.growth [PAGES]     (300)
"""

from __future__ import annotations

import asyncio
import sys

from bench.shelf import Targets
from tests.security.growth import grown

PAGES, REFUSED = 300, 20
MAX_PER_HUNDRED, MAX_REFUSED = 1.0, 64.0
"""Additional megabytes (rows 28 and 12 of the scorecard), after a warm-up of a hundred pages."""


def main(count: int = PAGES) -> int:
    """Measure; return 8 if a target is missed."""
    targets, found = Targets(), asyncio.run(grown(count, refused=REFUSED))
    targets.at_most(
        f"{count} pages read: MB more a hundred pages", found.a_hundred, MAX_PER_HUNDRED
    )
    targets.at_most(f"MB more after {REFUSED} refused bodies", found.of_refused, MAX_REFUSED)
    more = [late - early for early, late in zip(found.open_before, found.open_after, strict=True)]
    targets.at_most(f"handles more after {count} pages", more[0], 0)
    targets.at_most(f"processes more after {count} pages", more[1], 0)
    return targets.code


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
