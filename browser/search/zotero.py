"""Uses the stored files of a Zotero collection as a corpus, and saves items to Zotero.

If Zotero is running and allows other programs to communicate with it, its local API is used
(`server_localAPI.js` in its source), which includes unsaved changes. Otherwise, its database is
read: Zotero keeps it locked, so it is opened as immutable. The tables are those of Zotero 5 to 7
(`userdata.sql`). Items are saved as its browser extension saves them (`server_connector.js`).
"""

from __future__ import annotations

import re
import secrets
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import httpx2

from browser.errors import Refused, SearchError
from browser.net.local_files import LocalFiles

if TYPE_CHECKING:
    from collections.abc import Mapping

ZOTERO_PREFIX: Final = "zotero:"
"""`zotero:COLLECTION` means a collection and its subcollections; `zotero:` the entire library."""
DATA_VARIABLE: Final = "ZOTERO_DATA_DIR"
"""Environment variable for Zotero's data folder, if it is not `~/Zotero`."""
_STORAGE: Final = "storage"
URL_VARIABLE: Final = "ZOTERO_URL"
"""Environment variable for the address of Zotero's server, if it is not `DEFAULT_SERVER_URL`."""
DEFAULT_SERVER_URL: Final = "http://127.0.0.1:23119"
_TIMEOUT_S: Final = 5.0  # Zotero runs on this machine and answers quickly
_CITATION_KEY = re.compile(r"^citation key:\s*(\S+)", re.IGNORECASE | re.MULTILINE)

_STORED_FILES = """
    SELECT items.key, substr(itemAttachments.path, 9) FROM itemAttachments JOIN items USING (itemID)
    WHERE itemAttachments.path LIKE 'storage:%'
    AND itemID NOT IN (SELECT itemID FROM deletedItems)
    AND coalesce(parentItemID, -1) NOT IN (SELECT itemID FROM deletedItems)
"""
_SUBCOLLECTIONS_CTE = """
    WITH RECURSIVE below(id) AS (
        SELECT collectionID FROM collections WHERE collectionName = ? COLLATE NOCASE
        UNION
        SELECT collectionID FROM collections JOIN below ON parentCollectionID = below.id
    )
"""
_COLLECTION_EXISTS = "SELECT 1 FROM collections WHERE collectionName = ? COLLATE NOCASE"
_AND_IN_COLLECTION = """
    AND coalesce(parentItemID, itemID) IN
        (SELECT itemID FROM collectionItems WHERE collectionID IN (SELECT id FROM below))
"""


class ZoteroApp:
    """Zotero's own server on this machine. Requests to it stay local, so no proxy is used."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._address = environ.get(URL_VARIABLE, DEFAULT_SERVER_URL).rstrip("/")

    def get(self, path: str) -> Any:
        """Return the API's data at a path; None if Zotero is not running or denies access."""
        try:
            reply = httpx2.get(
                f"{self._address}/api/users/0/{path}", timeout=_TIMEOUT_S, trust_env=False
            )
            return reply.json() if reply.is_success else None
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError):
            return None

    def save(self, items: list[dict[str, Any]]) -> None:
        """Save items to the collection selected in Zotero. Raises `SearchError`."""
        session = secrets.token_hex(8)
        body = {"sessionID": session, "uri": "http://localhost/", "items": items}
        try:
            reply = httpx2.post(
                f"{self._address}/connector/saveItems",
                json=body,
                headers={"X-Zotero-Connector-API-Version": "3"},
                timeout=_TIMEOUT_S,
                trust_env=False,
            )
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise SearchError(
                f"Zotero is not responding at {self._address}",
                hint=f"Start Zotero, or set {URL_VARIABLE} to its address.",
            ) from error
        if not reply.is_success:
            raise SearchError(
                f"Zotero refused the items ({reply.status_code}): {reply.text[:200]}",
                hint="Check that a writable library is selected in Zotero.",
            )

    def citation_key(self, key: str) -> str:
        """The citation key of a stored file's item, assigned by Better BibTeX or by Zotero.

        "" if there is none.
        """
        data = (self.get(f"items/{key}") or {}).get("data", {})
        if parent := data.get("parentItem"):
            data = (self.get(f"items/{parent}") or {}).get("data", {})
        pinned = _CITATION_KEY.search(str(data.get("extra", "")))
        return str(data.get("citationKey") or (pinned[1] if pinned else ""))


@dataclass(frozen=True, slots=True)
class ZoteroCollection:
    """A collection in Zotero's data folder, by name ("" for the entire library)."""

    name: str
    data: Path
    app: ZoteroApp

    @property
    def folder(self) -> Path:
        """The folder that has a subfolder for each stored file."""
        return self.data / _STORAGE

    def files(self) -> frozenset[str]:
        """Return the paths of the stored files, excluding linked files and the trash.

        Raises `SearchError` if there is no library or no such collection.
        """
        folder = self.folder.resolve()
        if (found := self._files_by_api()) is not None:
            return frozenset(str(folder / key / name) for key, name in found)
        database = self.data / "zotero.sqlite"
        if not database.is_file():
            raise SearchError(
                f"there is no Zotero library in {self.data}",
                hint=f"Set {DATA_VARIABLE} to the data folder shown in Zotero's settings.",
            )
        address = f"{database.resolve().as_uri()}?mode=ro&immutable=1"
        try:
            with closing(sqlite3.connect(address, uri=True)) as db:
                rows = self._rows(db)
        except sqlite3.Error as error:
            raise SearchError(f"cannot read {database}: {error}") from error
        return frozenset(str(folder / key / name) for key, name in rows)

    def _files_by_api(self) -> list[tuple[str, str]] | None:
        """The stored files' keys and names from a running Zotero; None if it is not running."""
        attachments = self.app.get("items?itemType=attachment")
        collections = self.app.get("collections") if self.name else []
        if attachments is None or collections is None:
            return None
        rows = [row["data"] for row in attachments]
        stored = [row for row in rows if str(row.get("linkMode")).startswith("imported_")]
        if self.name:
            inside: set[str] = set()
            for collection in self._with_subcollections([row["data"] for row in collections]):
                items = self.app.get(f"collections/{collection}/items/top") or []
                inside |= {item["key"] for item in items}
            stored = [row for row in stored if inside & {row["key"], row.get("parentItem")}]
        return [(row["key"], row["filename"]) for row in stored if row.get("filename")]

    def _with_subcollections(self, collections: list[dict[str, Any]]) -> set[str]:
        """The keys of the collection and its subcollections; raises `SearchError` if missing."""
        names = [row["name"] for row in collections]
        found = {c["key"] for c in collections if c["name"].casefold() == self.name.casefold()}
        if not found:
            raise _no_collection(self.name, sorted(names))
        while more := {c["key"] for c in collections if c["parentCollection"] in found} - found:
            found |= more
        return found

    def _rows(self, db: sqlite3.Connection) -> list[tuple[str, str]]:
        if not self.name:
            return db.execute(_STORED_FILES).fetchall()
        if not db.execute(_COLLECTION_EXISTS, (self.name,)).fetchone():
            names = db.execute("SELECT collectionName FROM collections ORDER BY 1").fetchall()
            raise _no_collection(self.name, [name for (name,) in names])
        return db.execute(
            _SUBCOLLECTIONS_CTE + _STORED_FILES + _AND_IN_COLLECTION, (self.name,)
        ).fetchall()


def _no_collection(name: str, names: list[str]) -> SearchError:
    return SearchError(
        f"Zotero has no collection {name!r}", hint=f"Available: {', '.join(names) or 'none'}."
    )


def data_folder(environ: Mapping[str, str]) -> Path:
    """Return Zotero's data folder."""
    data = environ.get(DATA_VARIABLE)
    return Path(data).expanduser() if data else Path.home() / "Zotero"


def citation_key(url: str, environ: Mapping[str, str]) -> str:
    """Return Zotero's citation key for one of its stored files; "" for anything else."""
    if not url.startswith("file:"):
        return ""
    storage = (data_folder(environ) / _STORAGE).resolve()
    try:
        path = LocalFiles([storage]).path(url)
    except Refused:
        return ""
    return ZoteroApp(environ).citation_key(path.relative_to(storage).parts[0])


def zotero_collection(corpus: Path, environ: Mapping[str, str]) -> ZoteroCollection | None:
    """Return the collection that a corpus refers to; None for a folder."""
    text = str(corpus)
    if not text.startswith(ZOTERO_PREFIX):
        return None
    return ZoteroCollection(
        text.removeprefix(ZOTERO_PREFIX), data_folder(environ), ZoteroApp(environ)
    )
