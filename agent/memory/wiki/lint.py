"""What is wrong with a wiki: missing files, links that lead nowhere, bad relationships."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from agent.memory.wiki import relations
from agent.memory.wiki.links import links, resolve

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from agent.memory.wiki.files import WikiFiles

REQUIRED = (
    "index.md",
    "log.md",
    relations.PATH,
    "graph/context-brief.md",
    "graph/open-gaps.md",
)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong at a line of a file; line 0 is the file as a whole."""

    severity: Literal["critical", "warning"]
    path: str
    line: int
    message: str


def lint(files: WikiFiles, types: Collection[str] = relations.TYPES) -> list[Finding]:
    """Find what is wrong, the critical first; with no `types` any type of relationship goes."""
    paths = files.list_files()
    found = [Finding("critical", p, 0, "is missing") for p in REQUIRED if p not in set(paths)]
    found += _relations(files, paths, types)
    for path in paths:
        if path.endswith((".md", ".mdx")):
            found += _links(path, files.read_file(path) or "", paths)
    return sorted(found, key=lambda f: (f.severity, f.path, f.line))


def _links(path: str, text: str, paths: Sequence[str]) -> Iterator[Finding]:
    for line, target in links(text):
        if resolve(target, paths) is None:
            yield Finding("warning", path, line, f"[[{target}]] leads nowhere")


def _relations(files: WikiFiles, paths: Sequence[str], types: Collection[str]) -> Iterator[Finding]:
    good, bad = relations.read(files.read_file(relations.PATH) or "")
    for broken in bad:
        yield Finding("critical", relations.PATH, broken.number, f"malformed: {broken.reason}")
    for line, relation in good:
        if types and relation.type not in types:
            yield Finding("warning", relations.PATH, line, f"unknown type {relation.type!r}")
        for end in (relation.source, relation.target):
            if resolve(end, paths) is None:
                yield Finding("warning", relations.PATH, line, f"{end!r} is no page")
        if relation.source == relation.target:
            yield Finding("warning", relations.PATH, line, f"{relation.source!r} leads to itself")
