"""The pages of a run as WARC, gzipped record by record: what web archives keep and replay.

A body that came before is a `revisit` of the record that has it.
"""

from __future__ import annotations

import zlib
from io import BytesIO
from typing import TYPE_CHECKING

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed
from warcio.statusandheaders import StatusAndHeaders, StatusAndHeadersParserException
from warcio.warcwriter import WARCWriter

from agent.export.kept import WARC_VERSION, Kept, all_kept
from agent.export.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

_SAID = ("WARC-Record-ID", "WARC-Target-URI", "WARC-Date", "WARC-Refers-To", "Content-Type")
"""The headers of a record that we write; lengths and digests follow from its bytes."""


def render(folder: Path, _ending: str) -> bytes:
    """Write the run's pages as WARC 1.1; the same run gives the same bytes."""
    out = BytesIO()
    writer = WARCWriter(out, gzip=True, warc_version=WARC_VERSION)
    for made in _records(writer, Record.read(folder)):
        writer.write_record(made)
    return out.getvalue()


def is_warc_of(folder: Path, body: bytes) -> bool:
    """Whether a WARC holds the pages of a run, all of them, as they came, and nothing else."""
    try:
        return _facts(body) == _facts(render(folder, ""))
    except (ArchiveLoadFailed, StatusAndHeadersParserException, zlib.error, EOFError, ValueError):
        return False


def _records(writer: WARCWriter, record: Record) -> Iterator[Any]:
    seen: dict[bytes, Any] = {}
    for kept in all_kept(record):
        known = seen.get(kept.body) if kept.kind == "response" else None
        made = _written(writer, kept) if known is None else _revisit(writer, kept, known)
        if kept.kind == "response":
            seen.setdefault(kept.body, made)
        yield made


def _written(writer: WARCWriter, kept: Kept) -> Any:
    return writer.create_warc_record(
        kept.uri,
        kept.kind,
        BytesIO(kept.body),
        len(kept.body),
        warc_content_type=kept.content_type,
        warc_headers_dict=_headers(kept),
        http_headers=_http(kept),
    )


def _revisit(writer: WARCWriter, kept: Kept, known: Any) -> Any:
    header = known.rec_headers.get_header
    return writer.create_revisit_record(
        kept.uri,
        header("WARC-Payload-Digest"),
        header("WARC-Target-URI"),
        header("WARC-Date"),
        http_headers=_http(kept),
        warc_headers_dict={**_headers(kept), "WARC-Refers-To": header("WARC-Record-ID")},
    )


def _headers(kept: Kept) -> dict[str, str]:
    refers = {"WARC-Refers-To": kept.refers_to} if kept.refers_to else {}
    return {"WARC-Record-ID": kept.id, "WARC-Date": kept.at, **refers}


def _http(kept: Kept) -> StatusAndHeaders | None:
    if kept.http is None:
        return None
    line, headers = kept.http
    return StatusAndHeaders(line, list(headers), protocol="HTTP/1.1")


def _facts(body: bytes) -> list[tuple[Any, ...]]:
    """What a WARC says, record by record, whatever its gzip looks like."""
    return [
        (
            record.rec_type,
            *(record.rec_headers.get_header(name) for name in _SAID),
            record.http_headers and (record.http_headers.statusline, record.http_headers.headers),
            record.content_stream().read(),
        )
        for record in ArchiveIterator(BytesIO(body))
    ]
