"""Zotero's library as a corpus: the stored files of a collection, read from its database.

The database is only read. Zotero holds a lock on it while it runs, so it is opened as immutable:
what Zotero has not written yet is missing until the next run. The tables are those of Zotero 5 to 7
(`userdata.sql` in its source).
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from browser.errors import SearchError

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX: Final = "zotero:"
"""`zotero:COLLECTION` names a collection and those below it; `zotero:` the whole library."""
DATA_VARIABLE: Final = "ZOTERO_DATA_DIR"
"""Environment variable that names Zotero's data folder, if it is not `~/Zotero`."""

_ALL_STORED = """
    SELECT items.key, substr(itemAttachments.path, 9) FROM itemAttachments JOIN items USING (itemID)
    WHERE itemAttachments.path LIKE 'storage:%'
    AND itemID NOT IN (SELECT itemID FROM deletedItems)
    AND coalesce(parentItemID, -1) NOT IN (SELECT itemID FROM deletedItems)
"""
_BELOW = """
    WITH RECURSIVE below(id) AS (
        SELECT collectionID FROM collections WHERE collectionName = ? COLLATE NOCASE
        UNION
        SELECT collectionID FROM collections JOIN below ON parentCollectionID = below.id
    )
"""
_IS_THERE = "SELECT 1 FROM collections WHERE collectionName = ? COLLATE NOCASE"
_IN_COLLECTION = """
    AND coalesce(parentItemID, itemID) IN
        (SELECT itemID FROM collectionItems WHERE collectionID IN (SELECT id FROM below))
"""


@dataclass(frozen=True, slots=True)
class ZoteroCollection:
    """A collection by name ("" for the whole library) in Zotero's data folder."""

    name: str
    data: Path

    @property
    def folder(self) -> Path:
        """The folder with a folder for each stored file."""
        return self.data / "storage"

    def files(self) -> frozenset[str]:
        """Return the paths of the stored files; linked files and the bin are left out.

        Raises `SearchError` if there is no library or no such collection.
        """
        database = self.data / "zotero.sqlite"
        if not database.is_file():
            raise SearchError(
                f"there is no Zotero library in {self.data}",
                hint=f"Set {DATA_VARIABLE} to the data folder that Zotero's settings show.",
            )
        address = f"{database.resolve().as_uri()}?mode=ro&immutable=1"
        try:
            with closing(sqlite3.connect(address, uri=True)) as db:
                rows = self._rows(db)
        except sqlite3.Error as error:
            raise SearchError(f"cannot read {database}: {error}") from error
        folder = self.folder.resolve()
        return frozenset(str(folder / key / name) for key, name in rows)

    def _rows(self, db: sqlite3.Connection) -> list[tuple[str, str]]:
        if not self.name:
            return db.execute(_ALL_STORED).fetchall()
        if not db.execute(_IS_THERE, (self.name,)).fetchone():
            names = db.execute("SELECT collectionName FROM collections ORDER BY 1").fetchall()
            raise SearchError(
                f"Zotero has no collection {self.name!r}",
                hint=f"There are: {', '.join(name for (name,) in names) or 'none'}.",
            )
        return db.execute(_BELOW + _ALL_STORED + _IN_COLLECTION, (self.name,)).fetchall()


def zotero_collection(corpus: Path, environ: Mapping[str, str]) -> ZoteroCollection | None:
    """Return the collection that a corpus names; None for a folder."""
    text = str(corpus)
    if not text.startswith(PREFIX):
        return None
    data = environ.get(DATA_VARIABLE)
    return ZoteroCollection(
        text.removeprefix(PREFIX), Path(data).expanduser() if data else Path.home() / "Zotero"
    )
