"""Packs a run into a single ZIP file with its journal, pages and report; output is reproducible.

`agent.export.run_archive` describes the contents of an archive, and opens archives.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from datetime import datetime
from typing import TYPE_CHECKING

from agent.export.finished_run import FinishedRun
from agent.export.report_html import render_html
from agent.export.run_archive import DIGEST_CHARS, MANIFEST, digest
from agent.export.web_archive import render_warc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path


def render_zip(folder: Path) -> bytes:
    """Pack a run as an archive."""
    record = FinishedRun.read(folder)
    at = datetime.fromisoformat(record.events[0].at)
    return pack(record.report.run, at, _files(record))


def pack(
    name: str,
    at: datetime,
    files: Iterable[tuple[str, bytes]],
    stamp: Callable[[bytes], tuple[str, bytes]] | None = None,
) -> bytes:
    """Pack files into one folder inside a ZIP file, with a manifest and a closing digest.

    `stamp` receives the manifest and returns the name and content of an additional file, which the
    manifest does not list.
    """
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:

        def add(file: str, body: bytes) -> None:
            # Time, mode and system are fixed, so that the same run results in the same bytes
            # everywhere.
            entry = zipfile.ZipInfo(f"{name}/{file}", at.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o600 << 16
            entry.create_system = 3
            packed.writestr(entry, body)

        lines = []
        for file, body in files:
            add(file, body)
            lines.append(f"{hashlib.sha256(body).hexdigest()}  {file}\n")
        manifest = "".join(lines).encode()
        add(MANIFEST, manifest)
        if stamp is not None:
            add(*stamp(manifest))
        # A placeholder: the zeros are replaced by the digest of everything before them.
        packed.comment = b"sha256:" + b"0" * DIGEST_CHARS
    whole = out.getvalue()[:-DIGEST_CHARS]
    return whole + digest(whole)


def _files(record: FinishedRun) -> Iterator[tuple[str, bytes]]:
    path = record.folder.path
    yield "report.json", record.folder.report.read_bytes()
    yield "report.html", render_html(path)
    yield "journal.jsonl", record.folder.journal.read_bytes()
    for stamp in record.folder.stamps():
        yield stamp.name, stamp.read_bytes()
    yield "pages.warc.gz", render_warc(path)
    for blob in sorted((path / "blobs").iterdir()):
        if len(blob.name) == DIGEST_CHARS and not blob.name.strip("0123456789abcdef"):
            yield f"blobs/{blob.name}", blob.read_bytes()
