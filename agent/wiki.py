"""A wiki: a folder of Markdown pages with `[[links]]` that can be searched, checked and indexed.

Users edit the pages; runs search them and add to the log and to the relationships between pages.
Paths are relative to the folder. Symlinks that point outside it are not followed.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

from agent.errors import UsageError
from agent.limits import LimitSettings, WikiRules
from browser.files import write_atomic
from browser.text.words import clean, shorten

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from agent.limits import WikiPart

EXTENSIONS = frozenset({".md", ".mdx", ".txt", ".jsonl"})
RELATIONSHIPS = "graph/relationships.jsonl"
SUPPORT_FILES = {
    "index.md": "# Index\n",
    "log.md": "# Log\n",
    RELATIONSHIPS: "",
    "graph/context-brief.md": "# Context brief\n",
    "graph/open-gaps.md": "# Open gaps\n",
}
"""The support files and their initial content."""
GENERATED = "<!-- written by urchin; edits here are overwritten -->"
"""Marks generated files."""
DEFAULTS = LimitSettings()
LOGGED_CHARS = 300  # maximum length of an answer in the daily log
SUMMARY_CHARS = 120  # maximum length of a page's summary in the index
BRIEF_PAGES = 12  # maximum number of pages in the context brief

# The weights of a phrase and of a word in the content, title and path, as in the reference library.
PHRASE_WEIGHTS = (5, 4, 3)
WORD_WEIGHTS = (1, 3, 2)
HALF_SCORE = 8  # raw score that is mapped to .5

_FENCE = re.compile(
    r"^(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^(?P=fence)[^\n]*$|\Z)", re.DOTALL | re.MULTILINE
)
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
_LINK = re.compile(r"\[\[([^\[\]\n]+)\]\]")


@dataclass(frozen=True, slots=True)
class PageHit:
    """A file that a search found; `score` is from 0 to 1."""

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


@dataclass(frozen=True, slots=True)
class Relation:
    """A relationship between two pages; `type` is one of those that the rules allow.

    `evidence` identifies the source that states it; `date` (ISO) is when it became known.
    """

    source: str
    target: str
    type: str
    note: str = ""
    evidence: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem in a line of a file; line 0 stands for the entire file."""

    severity: Literal["critical", "warning"]
    path: str
    line: int
    message: str


def _now() -> datetime:
    return datetime.now(UTC)


class Wiki:
    """The wiki in a folder. Unless stated otherwise, methods that write return the changed paths.

    A path outside the folder raises `UsageError`.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        rules: WikiRules | None = None,
        clock: Callable[[], datetime] = _now,
    ) -> None:
        self.rules = rules or WikiRules()
        self._root = Path(root)
        self._clock = clock

    def list_files(self) -> Sequence[str]:
        """List the files with known extensions, except hidden ones."""
        found = (path for path in self._root.rglob("*") if path.suffix in EXTENSIONS)
        names = (path.relative_to(self._root).as_posix() for path in found if self._is_inside(path))
        return sorted(name for name in names if not name.startswith(".") and "/." not in name)

    def pages(self) -> list[str]:
        """List the pages written by users and runs, excluding the support files."""
        paths = self.list_files()
        return [p for p in paths if p.endswith((".md", ".mdx")) and p not in SUPPORT_FILES]

    def read_file(self, path: str) -> str | None:
        """Read a file as UTF-8, without a BOM, CRLF as LF; None if there is no such file."""
        file = self._root / _safe_path(path)
        if not self._is_inside(file):
            return None
        return file.read_text(encoding="utf-8-sig", errors="replace").replace("\r\n", "\n")

    def write_file(self, path: str, text: str) -> bool:
        """Write a file if its content differs; returns whether it did.

        After a crash, the file has either the old or the new content. Raises `UsageError` if the
        folder is not writable.
        """
        file = self._root / _safe_path(path)
        if self.read_file(path) == text:
            return False
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not file.parent.resolve().is_relative_to(self._root.resolve()):
                raise UsageError(f"{path!r} is outside the wiki", hint="Remove the symbolic link.")
            write_atomic(file, text.encode(), private=True)
        except OSError as error:
            raise UsageError(
                f"cannot write {file}: {error.strerror}", hint="Choose another wiki with --wiki."
            ) from error
        return True

    def search(
        self,
        query: str,
        limit: int = DEFAULTS.wiki_results,
        part: WikiPart | None = None,
        snippet: int = DEFAULTS.wiki_snippet,
    ) -> list[PageHit]:
        """Find files by phrase and words, best first, then by path; an empty query has no results.

        `part` limits the search to a part of the wiki; `snippet` is the excerpt's length in
        characters.
        """
        phrase = query.strip().casefold()
        words = phrase.split()
        if not words:
            return []
        found: list[PageHit] = []
        for path in self.list_files():
            top = path.partition("/")[0]
            part_of_file = top if top in ("raw", "sessions") else "wiki"
            if part not in (None, part_of_file):
                continue
            text = self.read_file(path) or ""
            title = _title(path, text)
            fields = (text.casefold(), title.casefold(), path.casefold())
            raw = 0
            for phrase_weight, word_weight, field in zip(
                PHRASE_WEIGHTS, WORD_WEIGHTS, fields, strict=True
            ):
                raw += phrase_weight * (phrase in field)
                raw += word_weight * sum(field.count(word) for word in words)
            if raw:
                first = min((at for word in words if (at := fields[0].find(word)) >= 0), default=0)
                start = max(0, first - snippet // 4)
                excerpt = text[start : start + snippet]
                found.append(PageHit(path, title, raw / (raw + HALF_SCORE), excerpt))
        return sorted(found, key=lambda hit: (-hit.score, hit.path))[:limit]

    def read_lines(
        self,
        path: str,
        start: int = 1,
        lines: int = DEFAULTS.wiki_lines,
        max_chars: int = DEFAULTS.wiki_units,
    ) -> PageWindow | None:
        """Read lines from `start` (from 1), cut at `max_chars`; None if there is no such file."""
        name = _safe_path(path)
        text = self.read_file(name)
        if text is None:
            return None
        all_lines = text.splitlines(keepends=True)
        first = max(1, start)
        content = "".join(all_lines[first - 1 : first - 1 + max(0, lines)])[:max_chars]
        end = first - 1 + len(content.splitlines())
        return PageWindow(name, content, first, end, len(all_lines))

    def lint(self) -> list[Finding]:
        """Find missing files, broken links and invalid relationships, critical findings first."""
        paths = self.list_files()
        required = dict.fromkeys((*SUPPORT_FILES, *self.rules.required))
        found = [Finding("critical", p, 0, "is missing") for p in required if p not in set(paths)]
        relations, malformed = read_relations(self.read_file(RELATIONSHIPS) or "")
        for line, reason in malformed:
            found.append(Finding("critical", RELATIONSHIPS, line, f"malformed: {reason}"))
        for line, relation in relations:
            messages = self._relation_problems(relation, paths)
            found += [Finding("warning", RELATIONSHIPS, line, message) for message in messages]
        for path in paths:
            if path.endswith((".md", ".mdx")):
                for line, target in links(self.read_file(path) or ""):
                    if resolve(target, paths) is None:
                        message = f"[[{target}]] links to a page that does not exist"
                        found.append(Finding("warning", path, line, message))
        return sorted(found, key=lambda f: (f.severity, f.path, f.line))

    def _relation_problems(self, relation: Relation, paths: Sequence[str]) -> list[str]:
        ends = (relation.source, relation.target)
        problems = [f"{end!r} is not a page" for end in ends if resolve(end, paths) is None]
        if not self.rules.allows(relation.type):
            problems.insert(0, f"unknown type {relation.type!r}")
        if relation.source == relation.target:
            problems.append(f"{relation.source!r} links to itself")
        return problems

    def ensure(self) -> list[str]:
        """Write the support files that are missing."""
        missing = [path for path in SUPPORT_FILES if self.read_file(path) is None]
        for path in missing:
            self.write_file(path, SUPPORT_FILES[path])
        return missing

    def update_index(self) -> list[str]:
        """Rewrite the index, the context brief and the list of missing pages."""
        paths, texts = self.list_files(), {p: self.read_file(p) or "" for p in self.pages()}
        groups: dict[str, list[str]] = defaultdict(list)
        link_counts: Counter[str] = Counter()
        gaps: dict[str, set[str]] = defaultdict(set)  # missing page -> the pages that link to it
        for path, text in texts.items():
            line = f"- [[{_without_extension(path)}]] — {_summary(path, text)}"
            groups[self.rules.category(path)].append(line)
            for _, target in links(text):
                page = resolve(target, paths)
                if page is None:
                    gaps[target].add(f"[[{_without_extension(path)}]]")
                else:
                    link_counts[page] += 1
        index = [f"## {name}\n" + "\n".join(lines) for name, lines in sorted(groups.items())]
        best = sorted(texts, key=lambda path: (-link_counts[path], path))[:BRIEF_PAGES]
        brief = [
            f"- [[{_without_extension(path)}]]: {_summary(path, texts[path])}" for path in best
        ]
        open_gaps = sorted(
            f"- {gap}, linked from {', '.join(sorted(pages))}" for gap, pages in gaps.items()
        )
        generated = {
            "index.md": "\n\n".join(["# Index", *index]) + "\n",
            "graph/context-brief.md": "\n".join(["# Context brief", "", *brief]) + "\n",
            "graph/open-gaps.md": "\n".join(["# Open gaps", "", *open_gaps]) + "\n",
        }
        return [path for path, text in generated.items() if self.write_file(path, text)]

    def append_log(self, entry: str) -> list[str]:
        """Add a line to the log under today's date."""
        now = self._clock()
        heading, line = f"## {now:%Y-%m-%d}", f"- {now:%H:%M} {' '.join(entry.split())}\n"
        text = self.read_file("log.md") or SUPPORT_FILES["log.md"]
        if heading not in text.splitlines():
            text = f"{text.rstrip()}\n\n{heading}\n"
        self.write_file("log.md", text + line)
        return ["log.md"]

    def log_run(self, run: str, question: str, answer: str) -> list[str]:
        """Add a run to the daily log, once; the answer is quoted because it may be web text."""
        now = self._clock()
        path = f"sessions/{now:%Y-%m-%d}.md"
        text = self.read_file(path) or f"# {now:%Y-%m-%d}\n\n{GENERATED}\n"
        if f"({run})" in text:
            return []
        quote = shorten(plain(answer), LOGGED_CHARS)
        self.write_file(path, f"{text}\n- {now:%H:%M} {plain(question)} ({run})\n  > {quote}\n")
        return [path]

    def record_relations(self, new: Iterable[Relation]) -> list[Relation]:
        """Record relationships, dated today by default; returns the new ones."""
        text = self.read_file(RELATIONSHIPS) or ""
        known = {(r.source, r.target, r.type) for _, r in read_relations(text)[0]}
        fresh: list[Relation] = []
        for relation in new:
            key = (relation.source, relation.target, relation.type)
            if key not in known:
                known.add(key)
                fresh.append(replace(relation, date=relation.date or f"{self._clock():%Y-%m-%d}"))
        if fresh:
            start = text if not text or text.endswith("\n") else text + "\n"
            self.write_file(RELATIONSHIPS, start + "".join(map(_relation_line, fresh)))
        return fresh

    def sync(self, *, log: str | None = None) -> list[str]:
        """Update all support files; `log` is an entry to add to the log."""
        changed = self.ensure()
        if log:
            changed += self.append_log(log)
        return list(dict.fromkeys([*changed, *self.update_index()]))

    def _is_inside(self, file: Path) -> bool:
        return file.is_file() and file.resolve().is_relative_to(self._root.resolve())


def links(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and target of each link, without alias and anchor; code is ignored."""

    def blank(match: re.Match[str]) -> str:
        return "\n" * match[0].count("\n")

    prose = _CODE.sub(blank, _FENCE.sub(blank, text))
    for match in _LINK.finditer(prose):
        target = match[1].partition("|")[0].partition("#")[0].strip()
        if target:  # empty for `[[#heading]]`, a link within the page
            yield prose.count("\n", 0, match.start()) + 1, target


def resolve(target: str, files: Iterable[str]) -> str | None:
    """Find the file that a link points to: by path, otherwise by file name; case is ignored."""
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


def read_relations(text: str) -> tuple[list[tuple[int, Relation]], list[tuple[int, str]]]:
    """Parse a file of relationships; returns them and the malformed lines, with line numbers."""
    good: list[tuple[int, Relation]] = []
    malformed: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            if not isinstance(entry, dict):
                raise ValueError("not an object")
            ends = [entry.get(name) for name in ("from", "to", "type")]
            if not all(isinstance(value, str) and value for value in ends):
                raise ValueError("from, to and type must be strings")
            more = [str(entry.get(name) or "") for name in ("note", "evidence", "date")]
            good.append((number, Relation(*map(str, ends), *more)))
        except (ValueError, RecursionError) as error:
            malformed.append((number, str(error)))
    return good, malformed


def _relation_line(relation: Relation) -> str:
    entry = {"from": relation.source, "to": relation.target, "type": relation.type}
    more = {"note": relation.note, "evidence": relation.evidence, "date": relation.date}
    entry |= {name: value for name, value in more.items() if value}
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n"


def plain(text: str) -> str:
    """Make text from the web harmless: no `[[links]]`, no HTML, no hidden characters."""
    return " ".join(clean(text).replace("[[", "[ [").replace("<", "&lt;").split())


def _safe_path(path: str) -> str:
    """Normalise a path; raises `UsageError` if it is outside the wiki."""
    pure = PurePosixPath(path.replace("\\", "/"))
    parts = [part for part in pure.parts if part != "."]
    if pure.is_absolute() or ".." in parts or not parts or "\x00" in path or ":" in parts[0]:
        raise UsageError(
            f"{path!r} is not a path inside the wiki", hint="Use a path such as a/b.md."
        )
    return "/".join(parts)


def _without_extension(path: str) -> str:
    return path.rpartition(".")[0]


def _title(path: str, text: str) -> str:
    """Return a page's first heading, otherwise its file name."""
    heading = next((line for line in text.splitlines() if line.startswith("# ")), "")
    return heading[2:].strip() or _without_extension(path.rpartition("/")[2])


def _summary(path: str, text: str) -> str:
    """Return the first line of a page's body, otherwise its title; shortened."""
    for line in text.splitlines():
        if line.startswith(("#", "---", "<!--")):
            continue
        if body := line.lstrip("> ").rstrip():  # web quotations start with `>`
            return shorten(body, SUMMARY_CHARS)
    return shorten(_title(path, text), SUMMARY_CHARS)
