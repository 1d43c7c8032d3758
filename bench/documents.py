"""Reads third-party documents: `python -m bench.documents FOLDER`.

Reads every file below FOLDER and counts files that were read, refused with a reason, or broke the
reader. If markitdown is installed, its words are compared with ours: a file that lacks more than a
tenth of them without a note has silently lost something. Half of the files (by the hash of their
names) are for development, the other half count. Exits with 8 if any file broke the reader.
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter, defaultdict
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from browser.errors import BrowserError
from browser.extract import extract_body
from browser.search.corpus_index import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

TARGETS_MISSED = 8
ENOUGH = 0.9
WORD = re.compile(r"[^\W_]{2,}")
# What markitdown adds: names for unnamed columns, slide numbers, pictures.
OWN_WORDS = re.compile(
    r"\bUnnamed: \d+|\bnan\b|\bNaN\b|<!-- Slide number: \d+ -->|^### (?:Chart|Notes:)$"
    r"|^\| Category |!\[[^\]]*\]\([^)]*\)|\b00:00:00\b",
    re.MULTILINE,
)


def words(text: str) -> Counter[str]:
    return Counter(word.lower() for word in WORD.findall(text))


def other_reader() -> Callable[[Path], str] | None:
    try:
        from markitdown import MarkItDown
    except ImportError:
        return None
    reader = MarkItDown(enable_plugins=False)

    def read(path: Path) -> str:
        try:
            return OWN_WORDS.sub(" ", reader.convert(str(path)).text_content)
        except Exception:  # noqa: BLE001 - what it cannot read says nothing about us
            return ""

    return read


def main(folder: str) -> int:
    other = other_reader()
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    broke = []
    for path in sorted(Path(folder).rglob("*")):
        if path.suffix.lower() not in KINDS or not path.is_file():
            continue
        half = ("seen", "unseen")[sha256(path.name.encode()).digest()[0] % 2]
        count = counts[half]
        began = time.perf_counter()
        text = ""
        try:
            document = extract_body(path.read_bytes(), "", path.absolute().as_uri())
            text, told = f"{document.title} {document.text}", bool(document.notes)
            count["read"] += 1
        except BrowserError:
            told = True
            count["refused"] += 1
        except Exception as error:  # noqa: BLE001 - this is what is counted
            broke.append(f"{path}: {error!r}")
            told = True
        count["files"] += 1
        count["ms"] += round((time.perf_counter() - began) * 1000)
        if other and not told and (theirs := words(other(path))):
            found = (theirs & words(text)).total() / theirs.total()
            count["compared"] += 1
            count["lost"] += found < ENOUGH
            if found < ENOUGH:
                print(f"  {found:.2f} {path}")
    for half, count in sorted(counts.items()):
        print(half, dict(count))
    for line in broke:
        print("BROKE", line)
    return TARGETS_MISSED if broke else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
