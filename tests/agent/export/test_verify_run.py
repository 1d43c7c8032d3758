"""A run and its archive are checked offline; a single changed character is found."""

from __future__ import annotations

import hashlib
import io
import json
import random
import subprocess
import zipfile

import pytest

from agent.errors import ArchiveDamaged, UsageError
from agent.export import export, run_archive
from agent.export.verify_run import verify, verify_archive
from agent.journal.events import Event


def changed(path, place):
    """Replace one character of a file at an offset with another letter, keeping the lines."""
    body = bytearray(path.read_bytes())
    body[place] = ord("X") if body[place] != ord("X") else ord("Y")
    path.write_bytes(body)


@pytest.fixture
def packed(finished, tmp_path):
    target = tmp_path / "run.zip"
    export(finished.path, target)
    return target


def repack_archive(packed, change):
    """Rewrite the archive with some files changed, and reseal it."""
    with zipfile.ZipFile(packed) as before:
        files = {entry.filename: before.read(entry) for entry in before.infolist()}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as after:
        for name, body in change(files).items():
            after.writestr(name, body)
        after.comment = b"sha256:" + b"0" * 64
    body = out.getvalue()[:-64]
    packed.write_bytes(body + hashlib.sha256(body).hexdigest().encode())


def test_unmodified_run_verifies(finished):
    found = verify(finished)
    assert found.flaws == ()
    assert (found.sources, found.quotes) == (1, 1)
    assert found.head == json.loads(finished.journal.read_bytes().splitlines()[-1])["hash"]


def test_one_changed_character_is_detected_in_every_run_file(finished):
    places = random.Random(6)
    files = [path for path in finished.path.rglob("*") if path.is_file()]
    files.remove(finished.paths)  # exists only on this machine, never in an archive
    assert len(files) > 4
    for path in files:
        body = path.read_bytes()
        for _ in range(30):
            changed(path, places.randrange(len(body)))
            assert verify(finished).flaws, path
            path.write_bytes(body)


@pytest.mark.parametrize("change", ["drop", "swap", "double"])
def test_removed_moved_or_duplicated_events_are_detected(finished, change):
    lines = finished.journal.read_bytes().splitlines(keepends=True)
    if change == "drop":
        del lines[3]
    elif change == "swap":
        lines[3], lines[4] = lines[4], lines[3]
    else:
        lines.insert(3, lines[3])
    finished.journal.write_bytes(b"".join(lines))
    first = 5 if change == "double" else 4  # the first changed line
    assert verify(finished).flaws[0].where == f"journal.jsonl:{first}"


def test_truncated_chain_is_detected(finished):
    lines = finished.journal.read_bytes().splitlines(keepends=True)
    finished.journal.write_bytes(b"".join(lines[:-1]))
    found = verify(finished)
    assert "journal.jsonl" in [flaw.where for flaw in found.flaws]
    assert (found.sources, found.quotes) == (0, 0)


def test_invented_quote_is_detected_even_with_rebuilt_chain(finished):
    last = json.loads(finished.journal.read_bytes().splitlines()[-1])
    last["data"]["report"]["sources"][0]["quotes"] = ["It was first lit in 1830."]
    last.pop("v")
    again = Event(**last).with_hash()
    body = finished.journal.read_bytes().splitlines(keepends=True)[:-1]
    finished.journal.write_bytes(b"".join(body) + again.to_json().encode() + b"\n")
    text = json.dumps(last["data"]["report"], indent=2, ensure_ascii=False)
    finished.write(finished.report, text.encode())
    (flaw,) = verify(finished).flaws
    assert "source [1]" in flaw.where
    assert "1830" in flaw.what


def test_missing_page_is_reported_with_its_event(finished):
    gone = next((finished.path / "blobs").iterdir())
    journal = finished.journal.read_text().splitlines()
    needed = next(seq for seq, line in enumerate(journal) if gone.name in line)
    gone.unlink()
    flaw = next(f for f in verify(finished).flaws if f.where == f"blobs/{gone.name}")
    assert f"(event {needed})" in flaw.what


def test_reformatted_report_is_detected(finished):
    finished.report.write_text(finished.report.read_text().replace('"steps": 4', '"steps":  4'))
    (flaw,) = verify(finished).flaws
    assert flaw.where.startswith("report.json:")


def test_archive_verifies_like_its_run(packed, finished):
    before = verify(finished)
    assert verify_archive(packed) == before


def test_one_changed_byte_anywhere_in_archive_is_detected(packed):
    body, places = packed.read_bytes(), random.Random(6)
    for _ in range(60):
        changed(packed, places.randrange(len(body)))
        assert verify_archive(packed).flaws
        packed.write_bytes(body)


def test_changed_file_in_resealed_archive_is_named(packed, finished):
    """Anyone who can change a file can reseal the container; the file is still named."""
    places, before = random.Random(6), packed.read_bytes()
    with zipfile.ZipFile(packed) as read:
        names = read.namelist()
    for name in names:

        def change(files, name=name):
            body = bytearray(files[name])
            body[places.randrange(len(body))] ^= 1
            return {**files, name: bytes(body)}

        for _ in range(8):
            repack_archive(packed, change)
            told = " ".join(f"{flaw.where}: {flaw.what}" for flaw in verify_archive(packed).flaws)
            assert name.partition("/")[2] in told or "manifest" in name, (name, told)
            packed.write_bytes(before)


def test_corrupt_packed_file_is_named(packed):
    places, body = random.Random(6), packed.read_bytes()
    with zipfile.ZipFile(packed) as read:
        entries = read.infolist()
    for entry in entries:
        start = entry.header_offset + 30 + len(entry.filename)
        changed(packed, start + places.randrange(entry.compress_size))
        [flaw, *_] = verify_archive(packed).flaws
        assert entry.filename.partition("/")[2] in f"{flaw.where} {flaw.what}"
        packed.write_bytes(body)


def test_manifest_is_accepted_by_sha256sum(packed, tmp_path):
    with zipfile.ZipFile(packed) as read:
        read.extractall(tmp_path / "out")
    [folder] = (tmp_path / "out").iterdir()
    command = ["sha256sum", "--check", "--strict", "--quiet", "manifest-sha256.txt"]
    assert subprocess.run(command, cwd=folder, check=False).returncode == 0


@pytest.mark.parametrize("size", [0, 10, 400, -1])
def test_truncated_archive_is_damaged(packed, size):
    packed.write_bytes(packed.read_bytes()[:size])
    assert verify_archive(packed).flaws


def test_replaced_pages_in_resealed_archive_are_detected(packed):
    def without_pages(files):
        name = next(name for name in files if name.endswith("pages.warc.gz"))
        return {**files, name: b""}

    repack_archive(packed, without_pages)
    (flaw,) = verify_archive(packed).flaws
    assert flaw.where == "pages.warc.gz"


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "run/../../evil", "run/blobs/x", "a\\b"])
def test_archive_with_unexpected_files_is_not_unpacked(packed, name, tmp_path):
    repack_archive(packed, lambda files: {**files, name: b"x"})
    with pytest.raises(ArchiveDamaged), run_archive.unpack(packed):
        pass
    assert not list(tmp_path.rglob("*evil"))


def test_archive_of_two_runs_is_damaged(packed):
    repack_archive(packed, lambda files: {**files, "another/report.json": b"{}"})
    with pytest.raises(ArchiveDamaged, match="it contains 2 folders"), run_archive.unpack(packed):
        pass


def test_archive_without_journal_is_damaged(packed):
    def without_journal(files):
        return {name: body for name, body in files.items() if "journal" not in name}

    repack_archive(packed, without_journal)
    (flaw,) = verify_archive(packed).flaws
    assert "no journal" in flaw.what


def test_archive_with_invalid_central_directory_is_damaged(packed):
    body = bytearray(packed.read_bytes())
    end = body.rindex(b"PK\5\6")
    body[end + 12 : end + 20] = b"\xff\xff\xff\x00\xff\xff\xff\x00"  # its size and its place
    packed.write_bytes(body)
    assert verify_archive(packed).flaws


def test_archive_larger_than_limit_is_not_unpacked(packed):
    with (
        pytest.raises(ArchiveDamaged, match="larger"),
        run_archive.unpack(packed, max_bytes=1_000),
    ):
        pass


def test_unpacked_folder_is_removed_on_exit(packed):
    with run_archive.unpack(packed) as folder:
        assert folder.journal.is_file()
    assert not folder.path.exists()


def test_missing_archive_raises_usage_error(tmp_path):
    with pytest.raises(UsageError, match="cannot read"):
        verify_archive(tmp_path / "none.zip")
