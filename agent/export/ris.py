"""The sources as RIS, the form that all reference managers import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.export.record import Record
from agent.export.reference import Reference, iso, references

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def render(folder: Path, _ending: str) -> bytes:
    """Write the sources as RIS."""
    rows = [row for found in references(Record.read(folder)) for row in _entry(found)]
    return "".join(f"{tag}  - {value}\r\n" if tag else "\r\n" for tag, value in rows).encode()


def _entry(found: Reference) -> Iterator[tuple[str, str]]:
    yield "TY", "ELEC"
    yield "ID", found.key
    for author in found.authors:
        yield "AU", f"{author.family}, {author.given}" if author.given else author.family
    yield "TI", found.title
    if found.site:
        yield "T2", found.site
    if found.published:
        yield "PY", str(found.published[0])
        yield "DA", iso(found.published, "/")
    yield "UR", found.url
    yield "Y2", iso(found.accessed, "/")
    for note in found.notes:
        yield "N1", note
    yield "ER", ""
    yield "", ""
