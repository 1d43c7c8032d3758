"""The sources as CSL-JSON, which citation processors and Zotero read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agent.export.record import Record
from agent.export.reference import Reference, references

if TYPE_CHECKING:
    from pathlib import Path

    from agent.export.authors import Author


def render(folder: Path, _ending: str) -> bytes:
    """Write the sources as CSL-JSON."""
    items = [_item(found) for found in references(Record.read(folder))]
    return (json.dumps(items, ensure_ascii=False, indent=2) + "\n").encode()


def _author(author: Author) -> dict[str, str]:
    if not author.given:
        return {"literal": author.family}
    return {"family": author.family, "given": author.given}


def _item(found: Reference) -> dict[str, Any]:
    item: dict[str, Any] = {
        "id": found.key,
        "type": "webpage",
        "title": found.title,
        "URL": found.url,
        "accessed": {"date-parts": [list(found.accessed)]},
    }
    if found.authors:
        item["author"] = [_author(author) for author in found.authors]
    if found.site:
        item["container-title"] = found.site
    if found.published:
        item["issued"] = {"date-parts": [list(found.published)]}
    if found.notes:
        item["note"] = " … ".join(found.notes)
    return item
