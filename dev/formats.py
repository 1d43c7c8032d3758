"""Writes the table of export formats in docs/archive.md.

python dev/formats.py
"""

from __future__ import annotations

import re
import sys
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from agent.export import FORMATS  # noqa: E402 - found by the line above

PAGE = ROOT / "docs" / "archive.md"
HEAD = "## Export formats\n\n| extension | content | read by |\n|---|---|---|\n"
EXTRAS = (
    "| `.obsidian.md` (`urchin-extras`) | the report as a note with properties, footnotes and"
    " collapsed quotes | Obsidian |"
)


def page(text: str) -> str:
    """Return the page with an updated table; formats with the same description share a row."""
    rows = []
    for (about, read_by), group in groupby(
        FORMATS.items(), lambda item: (item[1].about, item[1].read_by)
    ):
        endings = ", ".join(f"`{end}`" for end, _ in group)
        rows.append(f"| {endings} | {about} | {read_by} |".replace("|  |", "| |"))
    table = HEAD + "\n".join([*rows, EXTRAS])
    return re.sub(re.escape(HEAD) + r"(?:\|.*\n)+", lambda _: f"{table}\n", text)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
