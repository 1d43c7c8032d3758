"""The pages of a run as WARC, gzipped record by record: what web archives keep and replay.

A body as it came is a `resource` record (the run keeps bodies, not the headers around them), the
text read from it a `conversion` of that record, a search snippet `metadata` of the page it is
about, and a screenshot a `resource` under a `urn:` of its own.
"""

from __future__ import annotations

import uuid
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from typing import TYPE_CHECKING

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed
from warcio.statusandheaders import StatusAndHeadersParserException
from warcio.warcwriter import WARCWriter

from agent.export.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from agent.journal import Event

_VERSION = "1.1"
_PLAIN = "text/plain; charset=utf-8"
_PICTURES = {".png": "image/png", ".jpg": "image/jpeg"}


@dataclass(frozen=True, slots=True)
class _Kept:
    """One record: its kind, what it is about, when (UTC), its type and its bytes."""

    name: str
    kind: str
    uri: str
    at: str
    content_type: str
    body: bytes
    refers_to: str = ""


def render(folder: Path, _ending: str) -> bytes:
    """Write the run's pages as WARC 1.1; the same run gives the same bytes."""
    record = Record.read(folder)
    out = BytesIO()
    writer = WARCWriter(out, gzip=True, warc_version=_VERSION)
    for kept in _all(record):
        headers = {
            "WARC-Record-ID": _record_id(record, kept.name),
            "WARC-Date": kept.at,
            **({"WARC-Refers-To": _record_id(record, kept.refers_to)} if kept.refers_to else {}),
        }
        made = writer.create_warc_record(
            kept.uri,
            kept.kind,
            BytesIO(kept.body),
            len(kept.body),
            warc_content_type=kept.content_type,
            warc_headers_dict=headers,
        )
        writer.write_record(made)
    return out.getvalue()


def is_warc_of(folder: Path, body: bytes) -> bool:
    """Whether a WARC holds the pages of a run, all of them, and nothing else."""
    wanted = [(k.kind, k.uri, k.body) for k in _all(Record.read(folder)) if k.kind != "warcinfo"]
    try:
        found = [
            (r.rec_type, r.rec_headers.get_header("WARC-Target-URI"), r.content_stream().read())
            for r in ArchiveIterator(BytesIO(body))
            if r.rec_type != "warcinfo"
        ]
    except (ArchiveLoadFailed, StatusAndHeadersParserException, zlib.error, EOFError, ValueError):
        return False
    return found == wanted


def _all(record: Record) -> Iterator[_Kept]:
    info = (
        "software: urchin-research\r\n"
        f"format: WARC File Format {_VERSION}\r\n"
        f"description: pages read by run {record.report.run}\r\n"
    )
    started = record.events[0].at
    yield _Kept("info", "warcinfo", "", started, "application/warc-fields", info.encode())
    for event in record.events:
        if event.type == "source.added":
            yield from _source(record, event.data)
        elif event.type == "tool.result":
            yield from _pictures(record, event)


def _source(record: Record, data: dict[str, Any]) -> Iterator[_Kept]:
    name, uri, at = f"S{data['n']}", _one_line(data["url"]), _utc(data["fetched_at"])
    text = record.folder.blob(data["text"])
    if not data["body"]:
        yield _Kept(f"{name}/text", "metadata", uri, at, _PLAIN, text)
        return
    content_type = _one_line(data["content_type"]) or "application/octet-stream"
    body = record.folder.blob(data["body"])
    yield _Kept(f"{name}/body", "resource", uri, at, content_type, body)
    yield _Kept(f"{name}/text", "conversion", uri, at, _PLAIN, text, f"{name}/body")


def _pictures(record: Record, event: Event) -> Iterator[_Kept]:
    for name, digest in event.data["blobs"].items():
        content_type = _PICTURES.get(name[name.rfind(".") :])
        if content_type:
            uri = f"urn:urchin:{record.report.run}/{event.place}/{_one_line(name)}"
            body = record.folder.blob(digest)
            yield _Kept(f"{event.place}/{name}", "resource", uri, event.at, content_type, body)


def _record_id(record: Record, name: str) -> str:
    """Name a record by its run and place, so that writing it again names it the same."""
    return f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'urchin:{record.report.run}/{name}')}>"


def _utc(at: str) -> str:
    return datetime.fromisoformat(at).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _one_line(text: str | None) -> str:
    """A header is one line, whatever a server or a page says."""
    return "".join((text or "").split()).encode("utf-8", "replace").decode()
