"""Measures what a site can put on the disk: a 5 GB file, announced or not, and 1,000 files.

    python -m bench.downloads [GIGABYTES FILES]

The file is generated on the fly and sent over loopback. Prints how much the server could send
before it was stopped, the largest size that any folder reached, and how many files were kept. This
is row 22 of the scorecard.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.shelf import Targets
from browser.page.downloads import MAX_FILES_PER_SESSION
from tests.browser.page.greedy_downloads import MB, OVERSHOT, QUOTA, filled


async def main(gigabytes: float = 5, files: int = 1_000) -> int:
    """Print the results; return 8 if a limit was exceeded."""
    with TemporaryDirectory() as folder:
        found = await filled(int(gigabytes * 1000 * MB), int(files), Path(folder))
    targets = Targets()
    most = (QUOTA + OVERSHOT) / MB
    for name in ("/big", "/endless"):
        what = f"{gigabytes:g} GB as {name}: MB sent until it was stopped"
        targets.at_most(what, found.sent[name] / MB, most)
    targets.at_least(f"{files} files: begun", found.sent["begun"] - 2, MAX_FILES_PER_SESSION)
    targets.at_most(f"{files} files: kept", found.kept, MAX_FILES_PER_SESSION)
    targets.at_most(f"{files} files: MB kept", found.of_bytes / MB, QUOTA / MB)
    targets.at_most(f"{files} files: MB left where they arrived", found.left_arriving / MB, 1)
    targets.at_most("of 2 files of 1 GB or more, cut without a word", found.told.count(""), 0)
    return targets.code


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*map(float, sys.argv[1:3]))))
