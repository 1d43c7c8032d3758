"""The files of a wiki: where they live, their `[[links]]`, relationships, and finding in them."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from agent.errors import UsageError
from agent.files import write_whole
from agent.limits import LimitSettings

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    from agent.limits import Place

EXTENSIONS = frozenset({".md", ".mdx", ".txt", ".jsonl"})


def safe_path(path: str) -> str:
    """Normalise a path; raises `UsageError` where it would lead out of the wiki."""
    pure = PurePosixPath(path.replace("\\", "/"))
    parts = [part for part in pure.parts if part != "."]
    if pure.is_absolute() or ".." in parts or not parts or "\x00" in path or ":" in parts[0]:
        raise UsageError(f"{path!r} is no path inside the wiki", hint="Use a path such as a/b.md.")
    return "/".join(parts)


class Folder:
    """A folder of texts; paths are relative to it, links that lead out of it are not followed."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self._root = Path(root)

    def list_files(self) -> Sequence[str]:
        """List the files of known kinds, hidden ones left out."""
        found = (path for path in self._root.rglob("*") if path.suffix in EXTENSIONS)
        names = (path.relative_to(self._root).as_posix() for path in found if self._inside(path))
        return sorted(name for name in names if not name.startswith(".") and "/." not in name)

    def read_file(self, path: str) -> str | None:
        """Read a file as UTF-8; a byte order mark and foreign line ends are taken away."""
        place = self._root / safe_path(path)
        if not self._inside(place):
            return None
        return place.read_text(encoding="utf-8-sig", errors="replace").replace("\r\n", "\n")

    def write_file(self, path: str, text: str) -> None:
        """Write to a file beside it, then rename: a crash leaves the old text or the new.

        Raises `UsageError` where the folder does not let us.
        """
        place = self._root / safe_path(path)
        try:
            self._write(place, path, text)
        except OSError as error:
            raise UsageError(
                f"cannot write {place}: {error.strerror}", hint="Name another wiki with --wiki."
            ) from error

    def _write(self, place: Path, path: str, text: str) -> None:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not place.parent.resolve().is_relative_to(self._root.resolve()):
            raise UsageError(f"{path!r} leads out of the wiki", hint="Remove the symbolic link.")
        write_whole(place, text.encode(), private=True)

    def _inside(self, place: Path) -> bool:
        return place.is_file() and place.resolve().is_relative_to(self._root.resolve())


_FENCE = re.compile(
    r"^(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^(?P=fence)[^\n]*$|\Z)", re.DOTALL | re.MULTILINE
)
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
_LINK = re.compile(r"\[\[([^\[\]\n]+)\]\]")


def links(text: str) -> Iterator[tuple[int, str]]:
    """Give the target of each link with its line; alias and anchor taken off, code left out."""
    plain = _CODE.sub(_blank, _FENCE.sub(_blank, text))
    for match in _LINK.finditer(plain):
        target = match[1].partition("|")[0].partition("#")[0].strip()
        if target:  # `[[#heading]]` stays on the page
            yield plain.count("\n", 0, match.start()) + 1, target


def resolve(target: str, files: Iterable[str]) -> str | None:
    """Find the file that a link means: by path, else by name alone; case does not count."""
    wanted = target.replace("\\", "/").lstrip("/").casefold()
    names = {wanted, f"{wanted}.md", f"{wanted}.mdx"}
    by_name = None
    for path in files:
        folded = path.casefold()
        if folded in names:
            return path
        if by_name is None and "/" not in wanted and folded.rpartition("/")[2] in names:
            by_name = path
    return by_name


def _blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


RELATIONSHIPS = "graph/relationships.jsonl"
_TOLD = ("note", "evidence", "date")


@dataclass(frozen=True, slots=True)
class Relation:
    """A relationship: `source` and `target` are pages, `type` is one that the rules allow.

    `evidence` says where it stands, `date` (ISO) since when it is known.
    """

    source: str
    target: str
    type: str
    note: str = ""
    evidence: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no relationship; `number` counts from 1."""

    number: int
    reason: str


def read_relations(text: str) -> tuple[list[tuple[int, Relation]], list[BadLine]]:
    """Read the file: relationships with their line numbers, and what is malformed."""
    good: list[tuple[int, Relation]] = []
    bad: list[BadLine] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            good.append((number, _relation(json.loads(line))))
        except (ValueError, RecursionError) as error:
            bad.append(BadLine(number, str(error)))
    return good, bad


def _relation(entry: object) -> Relation:
    if not isinstance(entry, dict):
        raise ValueError("not an object")
    source, target, type_ = (entry.get(name) for name in ("from", "to", "type"))
    if not all(isinstance(value, str) and value for value in (source, target, type_)):
        raise ValueError("from, to and type must be texts")
    told = (str(entry.get(name) or "") for name in _TOLD)
    return Relation(str(source), str(target), str(type_), *told)


def with_relations(text: str, new: Iterable[Relation]) -> tuple[str, list[Relation]]:
    """Add relationships that are not there yet; returns the new text and what was added."""
    known = {(r.source, r.target, r.type) for _, r in read_relations(text)[0]}
    fresh: list[Relation] = []
    for relation in new:
        name = (relation.source, relation.target, relation.type)
        if name not in known:
            known.add(name)
            fresh.append(relation)
    start = text if not text or text.endswith("\n") else text + "\n"
    return start + "".join(_line(relation) for relation in fresh), fresh


def _line(relation: Relation) -> str:
    entry = asdict(relation)
    named = {"from": entry["source"], "to": entry["target"], "type": entry["type"]}
    named |= {name: entry[name] for name in _TOLD if entry[name]}
    return json.dumps(named, ensure_ascii=False, separators=(",", ":")) + "\n"


# As in the reference library: where a phrase or a word weighs how much.
PHRASE = (5, 4, 3)  # in content, title, path
WORD = (1, 3, 2)
HALF = 8  # the raw score that counts half
DEFAULTS = LimitSettings()


@dataclass(frozen=True, slots=True)
class Found:
    """A file that a search found; `score` is between 0 and 1."""

    path: str
    title: str
    score: float
    snippet: str


@dataclass(frozen=True, slots=True)
class PageWindow:
    """A part of a file: lines `start` to `end` of `total`, counted from 1."""

    path: str
    content: str
    start: int
    end: int
    total: int


def search(
    files: Folder,
    query: str,
    limit: int = DEFAULTS.wiki_results,
    place: Place | None = None,
    snippet: int = DEFAULTS.wiki_snippet,
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
            found.append(Found(path, title, raw / (raw + HALF), _snippet(text, words, snippet)))
    return sorted(found, key=lambda f: (-f.score, f.path))[:limit]


def get(
    files: Folder,
    path: str,
    start: int = 1,
    lines: int = DEFAULTS.wiki_lines,
    most: int = DEFAULTS.wiki_units,
) -> PageWindow | None:
    """Read a window of lines; None for an unknown file, nothing in it past the end."""
    name = safe_path(path)
    text = files.read_file(name)
    if text is None:
        return None
    every = text.splitlines(keepends=True)
    first = max(1, start)
    content = "".join(every[first - 1 : first - 1 + max(0, lines)])
    kept = content[:most]
    end = first - 1 + len(kept.splitlines())
    return PageWindow(name, kept, first, end, len(every))


def title_of(path: str, text: str) -> str:
    """Name a page: its first heading, else its file name."""
    heading = next((line for line in text.splitlines() if line.startswith("# ")), "")
    return heading[2:].strip() or path.rpartition("/")[2].rpartition(".")[0]


def _raw(phrase: str, words: list[str], fields: tuple[str, str, str]) -> int:
    score = sum(weight for weight, field in zip(PHRASE, fields, strict=True) if phrase in field)
    for word in words:
        score += sum(w * field.count(word) for w, field in zip(WORD, fields, strict=True))
    return score


def _snippet(text: str, words: list[str], length: int) -> str:
    folded = text.casefold()
    first = min((at for word in words if (at := folded.find(word)) >= 0), default=0)
    start = max(0, first - length // 4)
    return text[start : start + length]


def _place(path: str) -> Place:
    top = path.partition("/")[0]
    return "raw" if top == "raw" else "sessions" if top == "sessions" else "wiki"
