"""Renders the pages that a run read as a web archive (WARC).

A page read over HTTP is a `response`: its status, the headers that describe the document (without
cookies, for example), and its decompressed body. The DOM of a live page, a file, or a screenshot is
a `resource`. The text extracted from a body is a `conversion` of its record; a search snippet is
`metadata` of its page.
"""

from __future__ import annotations

import uuid
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed
from warcio.statusandheaders import StatusAndHeaders, StatusAndHeadersParserException
from warcio.warcwriter import WARCWriter

from agent.evidence.store import result_text
from agent.export.finished_run import FinishedRun

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WARC_VERSION: Final = "1.1"
_TEXT = "text/plain; charset=utf-8"
_PICTURES = {".png": "image/png", ".jpg": "image/jpeg"}
_STATUS_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_HEADERS = ("WARC-Record-ID", "WARC-Target-URI", "WARC-Date", "WARC-Refers-To", "Content-Type")
"""The record headers that are compared; lengths and digests depend on the bytes."""


@dataclass(frozen=True, slots=True)
class WarcEntry:
    """One WARC record to be written; `at` is UTC, `http` the status line and headers of a page."""

    id: str
    kind: str
    uri: str
    at: str
    content_type: str
    body: bytes
    refers_to: str = ""
    http: tuple[str, list[tuple[str, str]]] | None = None


def render_warc(folder: Path) -> bytes:
    """Render the run's pages as WARC 1.1; the same run always produces the same bytes."""
    out = BytesIO()
    writer = WARCWriter(out, gzip=True, warc_version=WARC_VERSION)
    responses: dict[bytes, Any] = {}
    for entry in _entries(FinishedRun.read(folder)):
        headers = {"WARC-Record-ID": entry.id, "WARC-Date": entry.at}
        if entry.refers_to:
            headers["WARC-Refers-To"] = entry.refers_to
        http = StatusAndHeaders(*entry.http, protocol="HTTP/1.1") if entry.http else None
        earlier = responses.get(entry.body) if entry.http else None
        if earlier is None:
            record = writer.create_warc_record(
                entry.uri,
                entry.kind,
                BytesIO(entry.body),
                len(entry.body),
                warc_content_type=entry.content_type,
                warc_headers_dict=headers,
                http_headers=http,
            )
        else:  # a repeated body is stored once and referenced
            header = earlier.rec_headers.get_header
            record = writer.create_revisit_record(
                entry.uri,
                header("WARC-Payload-Digest"),
                header("WARC-Target-URI"),
                header("WARC-Date"),
                http_headers=http,
                warc_headers_dict={**headers, "WARC-Refers-To": header("WARC-Record-ID")},
            )
        if entry.http:
            responses.setdefault(entry.body, record)
        writer.write_record(record)
    return out.getvalue()


def is_warc_of(folder: Path, body: bytes) -> bool:
    """Return whether a WARC contains exactly the pages of a run."""
    try:
        return _contents(body) == _contents(render_warc(folder))
    except (ArchiveLoadFailed, StatusAndHeadersParserException, zlib.error, EOFError, ValueError):
        return False


def _contents(body: bytes) -> list[tuple[Any, ...]]:
    """Return the contents of a WARC, record by record, regardless of its compression."""
    return [
        (
            record.rec_type,
            *(record.rec_headers.get_header(name) for name in _HEADERS),
            record.http_headers and (record.http_headers.statusline, record.http_headers.headers),
            record.content_stream().read(),
        )
        for record in ArchiveIterator(BytesIO(body))
    ]


def _entries(record: FinishedRun) -> Iterator[WarcEntry]:
    """Yield the records of a run in order; the first one describes the WARC file."""
    run, blob = record.report.run, record.folder.blob

    def record_id(name: str) -> str:
        # Derived from run and place, so that the ids are always the same.
        return f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'urchin:{run}/{name}')}>"

    info = (
        "software: urchin-research\r\n"
        f"format: WARC File Format {WARC_VERSION}\r\n"
        f"description: pages read by run {run}\r\n"
    )
    started, fields = record.events[0].at, "application/warc-fields"
    yield WarcEntry(record_id("info"), "warcinfo", "", started, fields, info.encode())
    for event in record.events:
        data = event.data
        if event.type == "source.added":
            uri, at = _header_value(data["url"]), _warc_time(data["fetched_at"])
            text, text_id = blob(data["text"]), record_id(f"S{data['n']}/text")
            if not data["body"]:
                yield WarcEntry(text_id, "metadata", uri, at, _TEXT, text)
                continue
            body_id = record_id(f"S{data['n']}/body")
            yield _page(body_id, uri, at, data, blob(data["body"]))
            yield WarcEntry(text_id, "conversion", uri, at, _TEXT, text, body_id)
        elif event.type == "results.added":
            at = _warc_time(data["fetched_at"])
            for row in data["results"]:
                text = result_text(row["title"], row["snippet"]).encode("utf-8", "replace")
                uri, text_id = _header_value(row["url"]), record_id(f"S{row['n']}/text")
                yield WarcEntry(text_id, "metadata", uri, at, _TEXT, text)
        elif event.type == "tool.result":
            for name, digest in data["blobs"].items():
                if kind := _PICTURES.get(name[name.rfind(".") :]):
                    uri = f"urn:urchin:{run}/{event.place}/{_header_value(name)}"
                    picture_id = record_id(f"{event.place}/{name}")
                    yield WarcEntry(picture_id, "resource", uri, event.at, kind, blob(digest))


def _page(id_: str, uri: str, at: str, data: dict[str, Any], body: bytes) -> WarcEntry:
    content_type = _header_value(data["content_type"]) or "application/octet-stream"
    status = data.get("status")
    if data["via"] != "http" or status is None:
        return WarcEntry(id_, "resource", uri, at, content_type, body)
    headers = [(str(name), _header_value(value, " ")) for name, value in data.get("headers", ())]
    if not any(name.lower() == "content-type" for name, _ in headers):
        headers.append(("Content-Type", content_type))
    headers.append(("Content-Length", str(len(body))))
    line = f"{status} {_STATUS_PHRASES.get(status, '')}".strip()
    return WarcEntry(id_, "response", uri, at, "", body, http=(line, headers))


def _warc_time(at: str) -> str:
    return datetime.fromisoformat(at).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _header_value(text: str | None, joined: str = "") -> str:
    """Put text on one line, as headers require; whitespace becomes `joined`."""
    return joined.join((text or "").split()).encode("utf-8", "replace").decode()
