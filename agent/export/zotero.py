"""Saves a run's sources to Zotero (`--export zotero:`)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from agent.errors import NotFound, UsageError
from agent.export.bibliography import references
from browser.errors import SearchError
from browser.search.zotero import ZoteroApp

if TYPE_CHECKING:
    from pathlib import Path

    from agent.export.bibliography import Reference

_KINDS: Final = {"article": "journalArticle", "inproceedings": "conferencePaper"}


def save_to_zotero(folder: Path) -> None:
    """Save a run's sources to the collection selected in Zotero.

    The user's files are omitted. Raises `UsageError` if Zotero does not respond, `NotFound` if
    there is nothing to save.
    """
    items = [_item(found) for found in references(folder) if found.url]
    if not items:
        raise NotFound("nothing was saved to Zotero: the answer has no web sources")
    try:
        ZoteroApp(os.environ).save(items)
    except SearchError as error:
        raise UsageError(str(error), hint=error.hint) from error


def _item(found: Reference) -> dict[str, Any]:
    """Return an item in the format of Zotero's translators; unknown fields are omitted."""
    work = found.publication
    fields = {
        "title": found.title,
        "url": found.url,
        "date": "-".join(f"{part:02}" for part in found.published),
        "accessDate": "-".join(f"{part:02}" for part in found.accessed),
        "DOI": work.doi,
        "volume": work.volume,
        "issue": work.issue,
        "pages": work.pages,
        "publisher": work.publisher,
        "proceedingsTitle" if found.kind == "inproceedings" else "publicationTitle": work.venue,
        "websiteTitle": "" if work.venue else found.site,
    }
    creators = [
        {"creatorType": "author", "firstName": one.given, "lastName": one.family}
        if one.given
        else {"creatorType": "author", "lastName": one.family, "fieldMode": 1}
        for one in found.authors
    ]
    return {
        "itemType": _KINDS.get(found.kind, "webpage"),
        **{name: value for name, value in fields.items() if value},
        "creators": creators,
        "notes": [{"note": note} for note in found.notes],
        "tags": [],
        "attachments": [],
    }
