"""Opens a run archive: checks it and unpacks it to a temporary folder.

An archive contains one folder, named after the run: `report.json`, `report.html`, `journal.jsonl`,
`pages.warc.gz`, `blobs/<sha256>`, timestamps (`head.tsr`, `head.ots`) if there are any, and the
SHA-256 of each in `manifest-sha256.txt`, in the format of `sha256sum`. The ZIP comment is the
SHA-256 of all bytes before it, so that any change to the container or its files is detected.
"""

from __future__ import annotations

import hashlib
import io
import re
import tempfile
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agent.errors import ArchiveDamaged, UsageError
from agent.journal.runs import RunFolder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent.journal.runs import Runs

DIGEST_CHARS = 64  # length of a SHA-256 in hex
MANIFEST: Final = "manifest-sha256.txt"
_NAME = re.compile(
    r"(?P<run>[\w-]{1,80})/(manifest-sha256\.txt|report\.json|report\.html|journal\.jsonl|head\.(?:tsr|ots)"
    r"|pages\.warc\.gz|blobs/[0-9a-f]{64})",
    re.ASCII,
)
"""Matches the names that an archive may contain; all are inside the folder it is unpacked to."""
MAX_FILES: Final = 10_000  # maximum number of entries in an archive
MAX_BYTES: Final = 2 << 30
"""Maximum unpacked size: a run reads up to 24 sources of 30 MB, so its archive is smaller."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def is_archive(name: str) -> bool:
    """Return whether a name refers to an archive rather than a run."""
    return name.lower().endswith(".zip")


@contextmanager
def open_run(name: str, runs: Runs) -> Iterator[RunFolder]:
    """Open a run by id, folder or archive; an archive stays unpacked until the end of the block.

    Raises `UsageError` if there is no such run or file, `ArchiveDamaged` if it is damaged.
    """
    if is_archive(name):
        with unpack(Path(name)) as folder:
            yield folder
    elif (Path(name) / "journal.jsonl").is_file():
        yield RunFolder(Path(name).resolve())
    else:
        yield runs.find(name)


@contextmanager
def unpack(
    path: Path,
    names: re.Pattern[str] = _NAME,
    required: str = "journal.jsonl",
    *,
    max_bytes: int = MAX_BYTES,
) -> Iterator[RunFolder]:
    """Unpack an archive to a temporary folder, which is deleted at the end of the block.

    `names` matches the file names that it may contain, with its folder as `run`; `required` is a
    file that it must contain. Raises `ArchiveDamaged` if it is damaged or unpacks to more than
    `max_bytes`, and `UsageError` if the file cannot be read.
    """
    try:
        body = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    with tempfile.TemporaryDirectory(prefix="urchin-") as temporary:
        try:
            with zipfile.ZipFile(io.BytesIO(body)) as packed:
                run = _check_entries(packed.infolist(), names, required)
                folder = _unpack(packed, Path(temporary) / run, max_bytes)
        except OSError as error:
            raise UsageError(f"cannot unpack {path}: {error.strerror or error}") from error
        except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError) as error:
            raise ArchiveDamaged(f"{path.name} is damaged: {error}") from error
        yield folder


def _unpack(packed: zipfile.ZipFile, target: Path, max_bytes: int) -> RunFolder:
    """Write all files, counting the bytes actually unpacked."""
    (target / "blobs").mkdir(parents=True)
    written = 0
    for entry in packed.infolist():
        try:
            file = target.parent / entry.filename
            with packed.open(entry) as source, file.open("xb") as out:
                while chunk := source.read(1 << 16):
                    # A zip bomb may declare wrong sizes.
                    written += len(chunk)
                    if written > max_bytes:
                        raise ArchiveDamaged(
                            f"once unpacked, it is larger than {max_bytes >> 20} MB"
                        )
                    out.write(chunk)
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            name = entry.filename.partition("/")[2]
            raise ArchiveDamaged(f"the file {name} is damaged: {error}") from error
    return RunFolder(target)


def _check_entries(entries: list[zipfile.ZipInfo], allowed: re.Pattern[str], required: str) -> str:
    """Check the names and types of all entries before writing any; returns the run's id."""
    names = [entry.filename for entry in entries]
    runs: set[str] = set()
    for name in names:
        match = allowed.fullmatch(name)
        if match is None:
            raise ArchiveDamaged(f"it is not a run archive: it contains {name!r}")
        runs.add(match["run"])
    if len(runs) != 1:
        raise ArchiveDamaged(f"it is not a run archive: it contains {len(runs)} folders")
    if not any(name.endswith(f"/{required}") for name in names):
        raise ArchiveDamaged(f"it contains no {required}")
    if len(set(names)) != len(names) or len(names) > MAX_FILES:
        raise ArchiveDamaged("it contains duplicate files or far too many files")
    # Only bzip2 and LZMA can expand much more than deflate, and Urchin never uses them.
    if any(entry.flag_bits & 1 or entry.compress_type not in _METHODS for entry in entries):
        raise ArchiveDamaged(
            "it is encrypted or uses a compression method that run archives do not use"
        )
    return runs.pop()


def digest(body: bytes) -> bytes:
    """Return the SHA-256 (hex) that is stored at the end of an archive."""
    return hashlib.sha256(body).hexdigest().encode()


def is_sealed(path: Path) -> bool:
    """Return whether an archive is byte-for-byte unchanged since it was written."""
    body = path.read_bytes()
    return body[-DIGEST_CHARS:] == digest(body[:-DIGEST_CHARS])


def find_manifest_mismatches(folder: RunFolder, unlisted: str = "") -> Iterator[tuple[str, str]]:
    """Compare an unpacked archive with its manifest; yields each file that differs, and the reason.

    The manifest need not list the file named `unlisted`.
    """
    path = folder.path / MANIFEST
    if not path.is_file():
        yield MANIFEST, "is missing"
        return
    lines = path.read_bytes().decode("utf-8", "replace").splitlines()
    listed = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    paths = {str(file.relative_to(folder.path)): file for file in folder.path.rglob("*")}
    found = {
        name: file
        for name, file in paths.items()
        if file.is_file() and name not in (MANIFEST, unlisted)
    }
    for name, file in sorted(found.items()):
        if hashlib.sha256(file.read_bytes()).hexdigest() != listed.get(name):
            yield name, "is not listed" if name not in listed else "is not the file that was packed"
    yield from ((name, "is missing") for name in sorted(listed.keys() - found.keys()))
