"""The local corpus: what is found, what is updated, what is refused."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import sqlite3
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser.errors import SearchError
from browser.extract import extract_body
from browser.search import Corpus
from browser.types import Document, Outcome, SearchQuery
from tests.browser.extract.documents.packing import docx, paragraph

if TYPE_CHECKING:
    from browser.search.corpus_index import SyncResult

TIDES = "# Tides of Port Elm\n\nHigh water comes twice a day.\n\nThe mole is 300 metres long."
GULLS = "Herring gulls nest on the mole.\n\nThey lay two or three eggs in May."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "my notes"
    folder.mkdir()
    (folder / "tides.md").write_text(TIDES)
    (folder / "gulls & terns.txt").write_text(GULLS)
    return folder


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "index.db"


async def find(corpus: Corpus, text: str, **beside: object) -> list[str]:
    page = await corpus.search(SearchQuery(text, **beside))
    return [result.title for result in page.results]


async def test_corpus_matches_stems_and_returns_encoded_file_url(folder: Path, index: Path) -> None:
    page = await Corpus(folder, index, extract_body).search(
        SearchQuery("Where does the herring gull nest?")
    )

    assert page.outcome is Outcome.OK
    assert page.results[0].url.startswith("file:///")
    assert page.results[0].url.endswith("/my%20notes/gulls%20%26%20terns.txt")
    assert "Herring gulls nest on the mole." in page.results[0].snippet


async def test_corpus_title_comes_from_markdown_or_html_heading(folder: Path, index: Path) -> None:
    (folder / "pilots.html").write_text(
        "<title>The pilots</title><body><p>Pilots board at the buoy.</p></body>"
    )

    assert await find(Corpus(folder, index, extract_body), "high water twice a day") == [
        "Tides of Port Elm"
    ]
    assert await find(Corpus(folder, index, extract_body), "pilots buoy") == ["The pilots"]


async def test_corpus_snippet_is_best_matching_passage(folder: Path, index: Path) -> None:
    filler = "\n\n".join(f"Paragraph {n} speaks of nothing in particular. " * 12 for n in range(40))
    (folder / "long.md").write_text(f"# Long\n\n{filler}\n\nThe lamp burns whale oil.\n\n{filler}")

    page = await Corpus(folder, index, extract_body).search(SearchQuery("lamp whale oil"))

    assert "The lamp burns whale oil." in page.results[0].snippet
    assert len(page.results[0].snippet) <= 320


async def test_corpus_ranks_files_with_all_words_first(folder: Path, index: Path) -> None:
    (folder / "a.txt").write_text("zanzibar " * 40)
    (folder / "b.txt").write_text("The zanzibar lamp.\n\nIt was lit in 1804 by a keeper.")

    found = await find(Corpus(folder, index, extract_body), "zanzibar lamp keeper")

    assert found[0] == "b"


async def test_weak_corpus_match_is_empty(folder: Path, index: Path) -> None:
    page = await Corpus(folder, index, extract_body).search(
        SearchQuery("May kubernetes ingress nginx timeout")
    )

    assert page.outcome is Outcome.EMPTY


async def test_corpus_finds_text_in_scripts_without_spaces(folder: Path, index: Path) -> None:
    (folder / "zh.txt").write_text("港口的价格每年上涨。")

    assert await find(Corpus(folder, index, extract_body), "价格") == ["zh"]


async def test_corpus_updates_changed_and_deleted_files(folder: Path, index: Path) -> None:
    corpus = Corpus(folder, index, extract_body)
    assert await find(corpus, "herring")

    (folder / "gulls & terns.txt").write_text("Arctic terns fly from pole to pole.")
    assert await find(corpus, "herring") == []
    assert await find(corpus, "arctic terns") == ["gulls & terns"]

    (folder / "gulls & terns.txt").unlink()
    assert await find(corpus, "arctic terns") == []


def test_unchanged_corpus_is_not_reindexed(folder: Path, index: Path) -> None:
    long_ago = 1_600_000_000
    for file in folder.iterdir():
        os.utime(file, (long_ago, long_ago))

    assert sync(Corpus(folder, index, extract_body)).indexed == 2
    assert sync(Corpus(folder, index, extract_body)) == sync(Corpus(folder, index, extract_body))
    assert sync(Corpus(folder, index, extract_body)).indexed == 0


def test_touched_file_with_same_content_keeps_passages(folder: Path, index: Path) -> None:
    sync(Corpus(folder, index, extract_body))
    with sqlite3.connect(index) as db:
        before = db.execute("SELECT rowid FROM passage").fetchall()
    os.utime(folder / "tides.md", (1, 1))

    sync(Corpus(folder, index, extract_body))

    with sqlite3.connect(index) as db:
        assert db.execute("SELECT rowid FROM passage").fetchall() == before


def _crash_on_poison(body: bytes, kind: str, url: str) -> Document:
    if b"poison" in body:
        os._exit(1)
    return extract_body(body, kind, url)


def test_interrupted_indexing_resumes_and_crashing_file_is_noted(folder: Path, index: Path) -> None:
    """This many files are read by worker processes, and a crash of one costs one file."""
    for number in range(40):
        (folder / f"n{number:02}.txt").write_text(f"Note {number} about buoy {number}.")
        os.utime(folder / f"n{number:02}.txt", (1, 1))
    (folder / "n20.txt").write_text("poison")
    first = Corpus(folder, index, _crash_on_poison)
    first.start()
    while first.state.indexed < 5:
        threading.Event().wait(0.01)
    first.close()
    done = first.state.indexed

    state = sync(Corpus(folder, index, _crash_on_poison))

    assert first.state.left == 42 - done
    assert state.left == 0
    # Files that were being read when it stopped may be stored but not counted.
    assert 42 - done - 4 <= state.indexed <= 42 - done + 2
    assert [(Path(path).name, why) for path, why in state.unread] == [
        ("n20.txt", "its reader crashed")
    ]
    with sqlite3.connect(index) as db:
        assert db.execute("SELECT count(*) FROM passage").fetchone() == (41,)


def sync(corpus: Corpus) -> SyncResult:
    asyncio.run(corpus.prepare())
    return corpus.state


def _sync(folder: Path, index: Path) -> None:
    sync(Corpus(folder, index, extract_body))


async def test_two_processes_can_index_concurrently(folder: Path, index: Path) -> None:
    for number in range(60):
        (folder / f"n{number}.txt").write_text(f"Note {number} about buoy {number}.")
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_sync, args=(folder, index)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    assert [worker.exitcode for worker in workers] == [0, 0]
    with sqlite3.connect(index) as db:
        assert db.execute("SELECT count(*) FROM file").fetchone() == (62,)
        (passages,) = db.execute("SELECT count(*) FROM passage").fetchone()
    assert passages == 62


async def test_binary_and_broken_files_are_noted_and_skipped(folder: Path, index: Path) -> None:
    (folder / "junk.txt").write_bytes(bytes(range(256)) * 50)
    (folder / "broken.pdf").write_bytes(b"not a pdf")
    (folder / "latin.txt").write_bytes("Die Mole ist schön und naß.".encode("cp1252"))

    corpus = Corpus(folder, index, extract_body)

    first = await corpus.search(SearchQuery("schön naß"))
    assert [result.title for result in first.results] == ["latin"]
    assert first.detail.startswith("2 of 5 files were not read: broken.pdf (")
    assert "junk.txt" in first.detail
    again = await corpus.search(SearchQuery("schön naß"))
    assert again.detail == ""  # named once


async def test_symlinks_inside_corpus_are_followed_and_outside_reported(
    folder: Path, index: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "keys"
    outside.mkdir()
    (outside / "id").write_text("A private key of zinc.")
    (outside / "key.md").write_text("Another private key of zinc.")
    (folder / "sub").mkdir()
    for link, target in (
        ("notes.txt", outside / "id"),
        ("sub/up.md", "../../keys/key.md"),
        ("chain.md", "sub/up.md"),
        ("more", outside),
        ("plain", outside / "id"),
        ("terns.txt", "gulls & terns.txt"),
        ("back.txt", outside / "../my notes/gulls & terns.txt"),
        ("same", "sub"),
        ("loop.md", "loop.md"),
        ("gone.md", outside / "gone.md"),
    ):
        (folder / link).symlink_to(target)
    corpus = Corpus(folder, index, extract_body)

    page = await corpus.search(SearchQuery("private key zinc"))

    assert page.results == ()
    assert sorted(path.removeprefix(f"{folder}/") for path, _ in corpus.state.unread) == [
        "chain.md", "gone.md", "more", "notes.txt", "plain", "sub/up.md",
    ]  # fmt: skip
    assert "chain.md (a link to something outside the folder)" in page.detail
    assert sorted(await find(corpus, "herring gull")) == ["back", "gulls & terns", "terns"]


async def test_file_replaced_by_outside_symlink_is_dropped(
    folder: Path, index: Path, tmp_path: Path
) -> None:
    corpus = Corpus(folder, index, extract_body)
    assert await find(corpus, "high water") == ["Tides of Port Elm"]

    (folder / "tides.md").rename(tmp_path / "tides.md")
    (folder / "tides.md").symlink_to(tmp_path / "tides.md")

    assert await find(corpus, "high water") == []


def _reader_that_fails(body: bytes, content_type: str, url: str) -> Document:
    if b"herring" in body.lower():
        raise ZeroDivisionError
    return extract_body(body, content_type, url)


async def test_reader_error_on_one_file_does_not_affect_others(folder: Path, index: Path) -> None:
    (folder / "half.json").write_text('{"lamp": "\\ud83d whale oil"}')
    corpus = Corpus(folder, index, _reader_that_fails)

    assert await find(corpus, "high water") == ["Tides of Port Elm"]
    assert await find(corpus, "whale oil") == ["half.json"]
    await corpus.prepare()
    ((path, reason),) = corpus.state.unread
    assert path.endswith("gulls & terns.txt")
    assert "ZeroDivisionError" in reason


async def test_follow_reports_indexing_until_done(folder: Path, index: Path) -> None:
    corpus = Corpus(folder, index, extract_body)

    states = [state async for state in corpus.follow()]

    assert (states[-1].files, states[-1].indexed, states[-1].left) == (2, 2, 0)
    page = await corpus.search(SearchQuery("herring gull"), deadline=0.0)
    assert page.outcome is Outcome.OK


async def test_search_during_indexing_returns_partial_results(folder: Path, index: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(body: bytes, kind: str, url: str) -> Document:
        if b"limpets" in body:
            begun.set()
            go_on.wait()
        return extract_body(body, kind, url)

    os.utime(folder / "tides.md", (1, 1))
    os.utime(folder / "gulls & terns.txt", (1, 1))
    corpus = Corpus(folder, index, slow)
    await corpus.prepare()
    (folder / "slow.txt").write_text("The slow page speaks of limpets.")
    building = asyncio.create_task(corpus.prepare())
    await asyncio.to_thread(begun.wait)
    page = await corpus.search(SearchQuery("herring gull"))
    progress = corpus.progress
    go_on.set()
    await building

    assert page.outcome is Outcome.OK
    assert page.detail == "1 of 3 files not indexed yet"
    assert progress == "2 of 3 files are indexed so far"
    assert corpus.progress == ""
    assert await find(corpus, "limpets") == ["slow"]


async def test_hidden_and_unsupported_files_are_skipped(folder: Path, index: Path) -> None:
    (folder / ".git").mkdir()
    (folder / ".git" / "secret.txt").write_text("platypus")
    (folder / "photo.jpg").write_text("platypus")
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "er" / "open.txt").write_text("platypus")

    assert await find(Corpus(folder, index, extract_body), "platypus") == ["open"]


async def test_text_files_without_alphabetic_suffix_are_indexed(folder: Path, index: Path) -> None:
    for name in ("NEWS", "CC0-1.0", "urchin.1"):
        (folder / name).write_text(f"The {name} page speaks of limpets.")
    (folder / "a.out").write_text("limpets")
    (folder / "program").write_bytes(b"\x7fELF\0\0limpets")

    found = await find(Corpus(folder, index, extract_body), "limpets")

    assert sorted(found) == ["CC0-1.0", "NEWS", "urchin.1"]


async def test_data_folder_inside_corpus_is_skipped(folder: Path, index: Path) -> None:
    data = folder / "urchin"
    for name in ("runs/20260101-000000-aaaa/report.md", "corpus/notes.md", "memory.db"):
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_text("An earlier answer about limpets.")
    (folder / "runs").mkdir()  # a user's folder that happens to have this name
    (folder / "runs" / "marathon.md").write_text("Limpets cling along the marathon.")

    corpus = Corpus(folder, index, extract_body)
    assert await find(corpus, "limpets") == ["marathon.md"]
    assert {Path(path).name: why for path, why in corpus.state.unread} == dict.fromkeys(
        ("runs", "corpus"), "part of an Urchin data folder"
    )


async def test_snippet_strips_control_characters(folder: Path, index: Path) -> None:
    (folder / "evil.txt").write_text("The lamp \x1b[31mis red\u202e and \u200bhidden.")

    page = await Corpus(folder, index, extract_body).search(SearchQuery("red lamp"))

    assert page.results[0].snippet == "The lamp is red and hidden."


async def test_corpus_supports_since_and_site_filters(folder: Path, index: Path) -> None:
    os.utime(folder / "tides.md", (1_500_000_000, 1_500_000_000))
    corpus = Corpus(folder, index, extract_body)

    assert await find(corpus, "tides", since="2017-07-01") == ["Tides of Port Elm"]
    assert await find(corpus, "tides", since="2018-01-01") == []
    assert await find(corpus, "tides", site="elm.example") == []


@pytest.mark.parametrize("name", ["missing", "gulls & terns.txt"])
def test_unreadable_corpus_folder_error_suggests_option(
    name: str, folder: Path, index: Path
) -> None:
    with pytest.raises(SearchError) as failure:
        Corpus(folder / name, index, extract_body)

    assert name in str(failure.value)
    assert "--corpus DIR" in failure.value.hint


def test_damaged_index_is_rebuilt(folder: Path, index: Path) -> None:
    index.write_bytes(b"this is no database, " * 100)

    assert sync(Corpus(folder, index, extract_body)).indexed == 2


async def test_corpora_sharing_a_folder_have_separate_indexes(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.txt").write_text("Herring is a fish.")

    assert await find(Corpus(folder, tmp_path / "corpora", extract_body), "herring") == [
        "gulls & terns"
    ]
    assert await find(Corpus(other, tmp_path / "corpora", extract_body), "herring") == ["x"]
    assert len(list((tmp_path / "corpora").glob("*.db"))) == 2


async def test_empty_corpus_reports_supported_files(tmp_path: Path, index: Path) -> None:
    (tmp_path / "none").mkdir()

    page = await Corpus(tmp_path / "none", index, extract_body).search(SearchQuery("anything"))

    assert page.outcome is Outcome.EMPTY
    assert "no .md" in page.detail


@pytest.mark.parametrize("text", ['"', "AND OR NOT", "a*b (c) ^d: -e", "title:x", "", "the of"])
async def test_corpus_search_accepts_any_query(text: str, folder: Path, index: Path) -> None:
    page = await Corpus(folder, index, extract_body).search(SearchQuery(text))

    assert page.outcome in (Outcome.OK, Outcome.EMPTY)


async def test_office_mail_and_table_files_are_searchable(tmp_path: Path, index: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "report.docx").write_bytes(docx(paragraph("The dredger Brunhilde works at night.")))
    (folder / "letter.eml").write_bytes(b"Subject: Lock\n\nThe lock keeper is called Osmund.\n")
    (folder / "catch.csv").write_bytes(b"port,tons\nTharsis,812\n")
    corpus = Corpus(folder, index, extract_body)
    found = [await find(corpus, word) for word in ("Brunhilde", "Osmund", "Tharsis")]
    assert found == [["report.docx"], ["Lock"], ["catch.csv"]]


async def test_single_short_file_matches_partial_query(tmp_path: Path, index: Path) -> None:
    (tmp_path / "bowl.md").write_text("# Bowls\n\nThe serving bowl measures 32 cm across.\n")
    corpus = Corpus(tmp_path, index, extract_body)
    assert await find(corpus, "How big is the serving bowl?")


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("石塔是什么时候建成的?", "村口的石塔建成于1756年,由当地工匠修建。"),
        ("灯台はいつ建てられましたか?", "この岬の灯台は1874年に建てられました。"),
        ("등대는 언제 세워졌습니까?", "이 등대는 1905년에 세워졌습니다."),
        (
            "Welche Brücken wurden eingeweiht?",
            """Die Brücke von Altenfeld ist aus Stein. Sie wurde vom Grafen gebaut, ist nicht lang
            und auch nach dem Krieg für die Bauern auf dem Weg zum Markt noch sehr wichtig.""",
        ),
    ],
)
async def test_corpus_finds_other_scripts_and_inflected_words(
    folder: Path, index: Path, query: str, text: str
) -> None:
    (folder / "found.txt").write_text(text)
    assert "found" in await find(Corpus(folder, index, extract_body), query)
