"""The sources as BibTeX (`@online`, as biblatex and Zotero know it)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.export.record import Record
from agent.export.reference import Reference, iso, references

if TYPE_CHECKING:
    from pathlib import Path

    from agent.export.authors import Author

_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        # BibTeX counts braces, escaped or not.
        "{": r"\textbraceleft{}",
        "}": r"\textbraceright{}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "%": r"\%",
        "_": r"\_",
        "^": r"\^{}",
        "~": r"\~{}",
    }
)
_IN_URL = str.maketrans({"{": "%7B", "}": "%7D", "\\": "%5C", " ": "%20"})
"""A URL is taken literally; only what would end its field is written in another way."""


def render(folder: Path, _ending: str) -> bytes:
    """Write the sources as BibTeX."""
    return "\n".join(_entry(found) for found in references(Record.read(folder))).encode()


def _author(author: Author) -> str:
    """A body's name is braced, so that it is not taken apart."""
    family = author.family.translate(_ESCAPES)
    return f"{family}, {author.given.translate(_ESCAPES)}" if author.given else f"{{{family}}}"


def _entry(found: Reference) -> str:
    fields = {
        "author": " and ".join(_author(author) for author in found.authors),
        # Twice braced: styles leave the capitals as they are.
        "title": f"{{{found.title.translate(_ESCAPES)}}}",
        "organization": found.site.translate(_ESCAPES),
        "date": iso(found.published),
        "url": found.url.translate(_IN_URL),
        "urldate": iso(found.accessed),
        "annote": " … ".join(found.notes).translate(_ESCAPES),
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@online{{{found.key},", *lines, "}", ""])
