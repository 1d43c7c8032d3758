"""`memory_search` and `memory_get`: finding files of a wiki, and reading a part of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from agent.memory.wiki.files import safe_path

if TYPE_CHECKING:
    from agent.memory.wiki.files import WikiFiles

Place = Literal["wiki", "raw", "sessions"]

# As in the reference library: where a phrase or a word weighs how much.
PHRASE = (5, 4, 3)  # in content, title, path
WORD = (1, 3, 2)
HALF = 8  # the raw score that counts half
RESULTS = 8
SNIPPET = 700  # characters
LINES = 120
CHARACTERS = 12_000


@dataclass(frozen=True, slots=True)
class Found:
    """A file that a search found; `score` is between 0 and 1."""

    path: str
    title: str
    score: float
    snippet: str


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a file: lines `start` to `end` of `total`, counted from 1."""

    path: str
    content: str
    start: int
    end: int
    total: int
    truncated: bool


def search(
    files: WikiFiles, query: str, limit: int = RESULTS, place: Place | None = None
) -> list[Found]:
    """Find files by phrase and words, best first, ties by path; nothing for an empty query."""
    phrase = query.strip().casefold()
    words = phrase.split()
    found: list[Found] = []
    for path in files.list_files() if words else ():
        if place is not None and _place(path) != place:
            continue
        text = files.read_file(path) or ""
        title = title_of(path, text)
        raw = _raw(phrase, words, (text.casefold(), title.casefold(), path.casefold()))
        if raw:
            found.append(Found(path, title, raw / (raw + HALF), _snippet(text, words)))
    return sorted(found, key=lambda f: (-f.score, f.path))[:limit]


def get(files: WikiFiles, path: str, start: int = 1, lines: int = LINES) -> Window | None:
    """Read a window of lines; None for an unknown file, nothing in it past the end."""
    name = safe_path(path)
    text = files.read_file(name)
    if text is None:
        return None
    every = text.splitlines(keepends=True)
    first = max(1, start)
    content = "".join(every[first - 1 : first - 1 + max(0, lines)])
    kept = content[:CHARACTERS]
    end = first - 1 + len(kept.splitlines())
    return Window(name, kept, first, end, len(every), len(kept) < len(content))


def title_of(path: str, text: str) -> str:
    """Name a page: its first heading, else its file name."""
    heading = next((line for line in text.splitlines() if line.startswith("# ")), "")
    return heading[2:].strip() or path.rpartition("/")[2].rpartition(".")[0]


def _raw(phrase: str, words: list[str], fields: tuple[str, str, str]) -> int:
    score = sum(weight for weight, field in zip(PHRASE, fields, strict=True) if phrase in field)
    for word in words:
        score += sum(w * field.count(word) for w, field in zip(WORD, fields, strict=True))
    return score


def _snippet(text: str, words: list[str]) -> str:
    folded = text.casefold()
    first = min((at for word in words if (at := folded.find(word)) >= 0), default=0)
    start = max(0, first - SNIPPET // 4)
    return text[start : start + SNIPPET]


def _place(path: str) -> Place:
    top = path.partition("/")[0]
    return "raw" if top == "raw" else "sessions" if top == "sessions" else "wiki"
