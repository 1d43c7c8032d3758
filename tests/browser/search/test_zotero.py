"""Zotero's library as a corpus: its database is read even while Zotero holds its lock."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from browser.errors import SearchError
from browser.extract import extract_body
from browser.search import Corpus
from browser.search.zotero import DATA_VARIABLE, URL_VARIABLE, zotero_collection
from browser.types import SearchQuery
from tests.loopback import Handler, serving

# As in Zotero's `userdata.sql`; columns that are not read are left out.
TABLES = """
CREATE TABLE items (itemID INTEGER PRIMARY KEY, key TEXT NOT NULL);
CREATE TABLE itemAttachments (
    itemID INTEGER PRIMARY KEY, parentItemID INT, linkMode INT, contentType TEXT, path TEXT
);
CREATE TABLE collections (
    collectionID INTEGER PRIMARY KEY, collectionName TEXT NOT NULL, parentCollectionID INT
);
CREATE TABLE collectionItems (collectionID INT NOT NULL, itemID INT NOT NULL);
CREATE TABLE deletedItems (itemID INTEGER PRIMARY KEY);
INSERT INTO collections VALUES (1, 'Thesis', NULL), (2, 'Pumps', 1), (3, 'Other', NULL);
INSERT INTO items VALUES (1, 'PAPER1'), (2, 'FILE1'), (3, 'PAPER2'), (4, 'FILE2'),
    (5, 'FILE3'), (6, 'FILE4'), (7, 'FILE5');
INSERT INTO itemAttachments VALUES
    (2, 1, 1, 'text/plain', 'storage:pumps.txt'),
    (4, 3, 1, 'text/plain', 'storage:gulls.txt'),
    (5, NULL, 1, 'text/plain', 'storage:alone.txt'),
    (6, 1, 1, 'text/plain', 'storage:binned.txt'),
    (7, 1, 2, 'text/plain', '/elsewhere/linked.txt');
INSERT INTO collectionItems VALUES (2, 1), (3, 3), (1, 5);
INSERT INTO deletedItems VALUES (6);
"""
TEXTS = {
    "FILE1/pumps.txt": "Ada Quill repaired the pump of the mill.",
    "FILE2/gulls.txt": "The pump of the gull colony was never repaired.",
    "FILE3/alone.txt": "A lone note says that the pump is old.",
    "FILE4/binned.txt": "This pump is in the bin.",
}


@pytest.fixture
def library(tmp_path: Path) -> Path:
    data = tmp_path / "Zotero"
    for name, text in TEXTS.items():
        path = data / "storage" / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    with sqlite3.connect(data / "zotero.sqlite") as db:
        db.executescript(TABLES)
    db.close()
    return data


def names(library: Path, corpus: str) -> set[str]:
    collection = zotero_collection(Path(corpus), {DATA_VARIABLE: str(library)})
    assert collection is not None
    return {Path(path).name for path in collection.files()}


def test_collection_includes_files_of_subcollections(library: Path) -> None:
    assert names(library, "zotero:thesis") == {"pumps.txt", "alone.txt"}
    assert names(library, "zotero:Pumps") == {"pumps.txt"}
    assert names(library, "zotero:") == {"pumps.txt", "gulls.txt", "alone.txt"}
    assert zotero_collection(Path("notes"), {}) is None


def test_unknown_collection_error_lists_available_ones(library: Path) -> None:
    with pytest.raises(SearchError, match="no collection 'Tesis'") as caught:
        names(library, "zotero:Tesis")
    assert caught.value.hint == "Available: Other, Pumps, Thesis."
    with pytest.raises(SearchError, match="no Zotero library"):
        names(library / "nowhere", "zotero:")


async def test_only_the_collection_is_searched_while_zotero_is_running(
    library: Path, tmp_path: Path
) -> None:
    before = (library / "zotero.sqlite").read_bytes()
    running = sqlite3.connect(library / "zotero.sqlite", isolation_level=None)
    running.execute("PRAGMA locking_mode=EXCLUSIVE")
    running.execute("BEGIN EXCLUSIVE")
    try:
        collection = zotero_collection(Path("zotero:Pumps"), {DATA_VARIABLE: str(library)})
        assert collection is not None
        corpus = Corpus(
            collection.folder, tmp_path / "index.db", extract_body, only=collection.files
        )
        page = await corpus.search(SearchQuery("Who repaired the pump?"))
    finally:
        running.execute("ROLLBACK")
        running.close()
    assert [result.title for result in page.results] == ["pumps"]
    assert (library / "zotero.sqlite").read_bytes() == before


def test_cli_searches_zotero_collection(run, library: Path, tmp_path: Path) -> None:
    done = run(
        *("Who repaired the pump of the mill?", "--corpus", "zotero:Pumps", "--no-memory"),
        **{DATA_VARIABLE: str(library), "RESEARCH_SEARCH": "corpus"},
    )
    assert "Ada Quill repaired the pump of the mill." in done.stdout, done.stderr
    wrong = run("Who?", "--corpus", "zotero:Tesis", **{DATA_VARIABLE: str(library)})
    assert wrong.returncode == 2
    assert "Available: Other, Pumps, Thesis." in wrong.stderr


class _Zotero(Handler):
    """Zotero's server, modelled on its source: /api/users/0 and /connector."""

    def get(self) -> None:
        found = self.server.site.items.get(self.path.removeprefix("/api/users/0/"))
        if found is None:
            self.send(404, "text/plain", b"Not found")
        else:
            self.send(200, "application/json", json.dumps(found).encode())

    def post(self, body: bytes) -> None:
        self.server.site.saved.append((self.path, json.loads(body)))
        self.send(201, "application/json", b"{}")


def _file(key: str, name: str, parent: str = "", mode: str = "imported_file") -> dict:
    data = {"key": key, "filename": name, "linkMode": mode}
    return {"key": key, "data": data | ({"parentItem": parent} if parent else {})}


class _Library:
    def __init__(self, url: str) -> None:
        self.url = url
        self.saved: list[tuple[str, dict]] = []
        new, linked = _file("FILE9", "new.txt", "PAPER1"), _file("F", "l.txt", mode="linked_file")
        folders = [("C1", "Thesis", False), ("C2", "Pumps", "C1"), ("C3", "Other", False)]
        self.items = {
            "items?itemType=attachment": [_file("FILE2", "gulls.txt", "PAPER2"), new, linked],
            "collections": [
                {"data": {"key": key, "name": name, "parentCollection": parent}}
                for key, name, parent in folders
            ],
            "collections/C1/items/top": [],
            "collections/C2/items/top": [{"key": "PAPER1"}],
            "collections/C3/items/top": [{"key": "PAPER2"}],
            "items/FILE9": new,
            "items/PAPER1": {"data": {"extra": "tex.x: y\nCitation Key: quill2024pump"}},
        }


def test_running_zotero_api_is_preferred_and_receives_sources(
    run, script, site, library: Path, tmp_path: Path
) -> None:
    new = library / "storage" / "FILE9" / "new.txt"
    new.parent.mkdir()
    new.write_text("Ben Marrin repaired the pump of the mill in 2025.")
    with serving(_Zotero, _Library) as zotero:
        own = {DATA_VARIABLE: str(library), URL_VARIABLE: zotero.url}
        for name, files in (("thesis", {"new.txt"}), ("", {"new.txt", "gulls.txt"})):
            collection = zotero_collection(Path(f"zotero:{name}"), own)
            assert collection is not None
            assert {Path(path).name for path in collection.files()} == files
        with pytest.raises(SearchError, match="no collection 'Tesis'"):
            zotero_collection(Path("zotero:Tesis"), own).files()

        read = f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>><<TOOL:READ:{new.as_uri()}>>'
        answer = "Hesk Light was first lit on 1 November 1829. [S1]"
        answer += " Ben Marrin repaired the pump of the mill in 2025. [S2]"
        done = run(
            *("When was it lit?", "--model", script(read, answer), "--no-memory"),
            *("--corpus", "zotero:Pumps", "--export", "zotero:"),
            *("--export", str(tmp_path / "a.bib"), "--allow-private", site.url[7:]),
            **own,
        )
        assert "saved the sources to Zotero" in done.stderr, done.stderr
        ((path, body),) = zotero.saved
    assert path == "/connector/saveItems"
    (item,) = body["items"]  # not the file, which Zotero has
    assert (item["itemType"], item["url"]) == ("webpage", f"{site.url}/hesk-light")
    assert "1 November 1829" in item["notes"][0]["note"]
    assert "{quill2024pump," in (tmp_path / "a.bib").read_text()
    gone = run("export", "last", "zotero:", **own)
    assert (gone.returncode, "Start Zotero" in gone.stderr) == (2, True)
