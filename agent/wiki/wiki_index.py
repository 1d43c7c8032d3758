"""A wiki over files: support files, index, log, relationships, and what is wrong with it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from agent.limits import WikiRules
from agent.wiki.wiki_files import (
    RELATIONSHIPS,
    links,
    read_relations,
    resolve,
    title_of,
    with_relations,
)
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from agent.wiki.wiki_files import Folder, Relation

EMPTY = {
    "index.md": "# Index\n",
    "log.md": "# Log\n",
    RELATIONSHIPS: "",
    "graph/context-brief.md": "# Context brief\n",
    "graph/open-gaps.md": "# Open gaps\n",
}
"""The support files, as they begin."""
GENERATED = "<!-- written by urchin; edits here are overwritten -->"
"""Stands in pages that nobody's own words are taken from."""
LOGGED = 300  # characters of an answer in the day's log


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong at a line of a file; line 0 is the file as a whole."""

    severity: Literal["critical", "warning"]
    path: str
    line: int
    message: str


def lint(files: Folder, rules: WikiRules) -> list[Finding]:
    """Find what is wrong, the critical first."""
    paths = files.list_files()
    required = dict.fromkeys((*EMPTY, *rules.required))
    found = [Finding("critical", p, 0, "is missing") for p in required if p not in set(paths)]
    found += _relations(files, paths, rules)
    for path in paths:
        if path.endswith((".md", ".mdx")):
            found += _links(path, files.read_file(path) or "", paths)
    return sorted(found, key=lambda f: (f.severity, f.path, f.line))


def _links(path: str, text: str, paths: Sequence[str]) -> Iterator[Finding]:
    for line, target in links(text):
        if resolve(target, paths) is None:
            yield Finding("warning", path, line, f"[[{target}]] leads nowhere")


def _relations(files: Folder, paths: Sequence[str], rules: WikiRules) -> Iterator[Finding]:
    good, bad = read_relations(files.read_file(RELATIONSHIPS) or "")
    for broken in bad:
        yield Finding("critical", RELATIONSHIPS, broken.number, f"malformed: {broken.reason}")
    for line, relation in good:
        if not rules.allows(relation.type):
            yield Finding("warning", RELATIONSHIPS, line, f"unknown type {relation.type!r}")
        for end in (relation.source, relation.target):
            if resolve(end, paths) is None:
                yield Finding("warning", RELATIONSHIPS, line, f"{end!r} is no page")
        if relation.source == relation.target:
            yield Finding("warning", RELATIONSHIPS, line, f"{relation.source!r} leads to itself")


SUMMARY = 120  # characters of a page in the index
BRIEF_PAGES = 12  # pages in the context brief


def _today() -> datetime:
    return datetime.now(UTC)


class Wiki:
    """A wiki over files; each method returns the paths that it changed, unless it says else."""

    def __init__(
        self,
        files: Folder,
        clock: Callable[[], datetime] = _today,
        rules: WikiRules | None = None,
    ) -> None:
        self.files = files
        self.rules = rules or WikiRules()
        self._clock = clock

    def ensure(self) -> list[str]:
        """Write the support files that are missing."""
        return [
            path
            for path, text in EMPTY.items()
            if self.files.read_file(path) is None and self._write(path, text)
        ]

    def lint(self) -> list[Finding]:
        """Find what is wrong."""
        return lint(self.files, self.rules)

    def update_index(self) -> list[str]:
        """Write index, context brief and open gaps anew from the pages."""
        generated = {
            "index.md": self._index(),
            "graph/context-brief.md": self._brief(),
            "graph/open-gaps.md": self._gaps(),
        }
        return [path for path, text in generated.items() if self._write(path, text)]

    def append_log(self, entry: str) -> list[str]:
        """Add a line under today's date."""
        now = self._clock()
        heading, line = f"## {now:%Y-%m-%d}", f"- {now:%H:%M} {' '.join(entry.split())}\n"
        text = self.files.read_file("log.md") or EMPTY["log.md"]
        if heading not in text.splitlines():
            text = f"{text.rstrip()}\n\n{heading}\n"
        self._write("log.md", text + line)
        return ["log.md"]

    def log_run(self, run: str, question: str, answer: str) -> list[str]:
        """Add a run to the day's log, once; its answer is quoted, since it may be the web's."""
        now = self._clock()
        path = f"sessions/{now:%Y-%m-%d}.md"
        text = self.files.read_file(path) or f"# {now:%Y-%m-%d}\n\n{GENERATED}\n"
        if f"({run})" in text:
            return []
        asked, said = plain(question), plain(answer)
        said = said if len(said) <= LOGGED else said[: LOGGED - 1] + "…"
        self._write(path, f"{text}\n- {now:%H:%M} {asked} ({run})\n  > {said}\n")
        return [path]

    def record_relations(self, new: Iterable[Relation]) -> list[Relation]:
        """Record relationships, dated where they are not; returns those that were not there yet."""
        today = f"{self._clock():%Y-%m-%d}"
        dated = (replace(relation, date=relation.date or today) for relation in new)
        text, fresh = with_relations(self.files.read_file(RELATIONSHIPS) or "", dated)
        if fresh:
            self._write(RELATIONSHIPS, text)
        return fresh

    def relations(self) -> list[Relation]:
        """Read the relationships that are well formed."""
        return [relation for _, relation in self._read_relations()]

    def sync(self, *, log: str | None = None) -> list[str]:
        """Bring everything up to date at once."""
        changed = self.ensure()
        changed += self.append_log(log) if log else []
        return list(dict.fromkeys([*changed, *self.update_index()]))

    def pages(self) -> list[str]:
        """List the pages that people and runs write, support files left out."""
        return [
            p for p in self.files.list_files() if p.endswith((".md", ".mdx")) and p not in EMPTY
        ]

    def _index(self) -> str:
        groups: dict[str, list[str]] = defaultdict(list)
        for path in self.pages():
            text = self.files.read_file(path) or ""
            groups[self.rules.category(path)].append(
                f"- [[{_name(path)}]] — {_summary(path, text)}"
            )
        parts = [f"## {name}\n" + "\n".join(lines) for name, lines in sorted(groups.items())]
        return "\n\n".join(["# Index", *parts]) + "\n"

    def _brief(self) -> str:
        degrees: dict[str, int] = defaultdict(int)
        paths = self.files.list_files()
        for path in self.pages():
            for _, target in links(self.files.read_file(path) or ""):
                degrees[resolve(target, paths) or ""] += 1
        best = sorted(self.pages(), key=lambda p: (-degrees[p], p))[:BRIEF_PAGES]
        lines = [f"- [[{_name(p)}]]: {_summary(p, self.files.read_file(p) or '')}" for p in best]
        return "\n".join(["# Context brief", "", *lines]) + "\n"

    def _gaps(self) -> str:
        """List what is linked to and not written: each is a question nobody has answered."""
        paths, missing = self.files.list_files(), defaultdict(list)
        for path in self.pages():
            for _, target in links(self.files.read_file(path) or ""):
                if resolve(target, paths) is None:
                    missing[target].append(f"[[{_name(path)}]]")
        lines = [f"- {t}, asked for by {', '.join(sorted(set(by)))}" for t, by in missing.items()]
        return "\n".join(["# Open gaps", "", *sorted(lines)]) + "\n"

    def _read_relations(self) -> Sequence[tuple[int, Relation]]:
        return read_relations(self.files.read_file(RELATIONSHIPS) or "")[0]

    def _write(self, path: str, text: str) -> bool:
        if self.files.read_file(path) == text:
            return False
        self.files.write_file(path, text)
        return True


def plain(text: str) -> str:
    """Take the power from what the web wrote: no links of ours, no HTML, no hidden characters."""
    return " ".join(clean(text).replace("[[", "[ [").replace("<", "&lt;").split())


def _name(path: str) -> str:
    return path.rpartition(".")[0]


def _summary(path: str, text: str) -> str:
    skipped = ("#", "---", "<!--")
    lines = (line for line in text.splitlines() if not line.startswith(skipped))
    body = (line.lstrip("> ").rstrip() for line in lines)  # what the web said is quoted
    first = next((line for line in body if line), title_of(path, text))
    return first if len(first) <= SUMMARY else first[: SUMMARY - 1] + "…"
