"""What a run kept of the web, as the records of a web archive.

A page over HTTP is a `response`: its status, the headers that tell of the document (cookies and
the like are not kept), and its body, unpacked from what it travelled in. The DOM of a live page, a
file and a screenshot are `resource`s. The text read from a body is a `conversion` of its record, a
search snippet `metadata` of the page that it is about.
"""

from __future__ import annotations

import uuid
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from io import BytesIO
from typing import TYPE_CHECKING, Final

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed
from warcio.statusandheaders import StatusAndHeaders, StatusAndHeadersParserException
from warcio.warcwriter import WARCWriter

from agent.evidence.store import result_text
from agent.export.run_record import FinishedRun

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from agent.journal.events import Event


WARC_VERSION: Final = "1.1"
_PLAIN = "text/plain; charset=utf-8"
_PICTURES = {".png": "image/png", ".jpg": "image/jpeg"}
_REASONS = {status.value: status.phrase for status in HTTPStatus}


@dataclass(frozen=True, slots=True)
class Kept:
    """One record: its id, its kind, what it is about, when (UTC), its type and its bytes.

    `http` is the head of a `response`: the status line and the headers.
    """

    id: str
    kind: str
    uri: str
    at: str
    content_type: str
    body: bytes
    refers_to: str = ""
    http: tuple[str, tuple[tuple[str, str], ...]] | None = None


def all_kept(record: FinishedRun) -> Iterator[Kept]:
    """Give the records of a run, in the order in which they came; the first tells of the file."""
    info = (
        "software: urchin-research\r\n"
        f"format: WARC File Format {WARC_VERSION}\r\n"
        f"description: pages read by run {record.report.run}\r\n"
    )
    started = record.events[0].at
    id_ = _record_id(record, "info")
    yield Kept(id_, "warcinfo", "", started, "application/warc-fields", info.encode())
    for event in record.events:
        if event.type == "source.added":
            yield from _source(record, event.data)
        elif event.type == "results.added":
            yield from (_result(record, event.data, row) for row in event.data["results"])
        elif event.type == "tool.result":
            yield from _pictures(record, event)


def _result(record: FinishedRun, found: dict[str, Any], row: dict[str, Any]) -> Kept:
    text = result_text(row["title"], row["snippet"]).encode("utf-8", "replace")
    id_, at = _record_id(record, f"S{row['n']}/text"), _warc_time(found["fetched_at"])
    return Kept(id_, "metadata", _one_line(row["url"]), at, _PLAIN, text)


def _source(record: FinishedRun, data: dict[str, Any]) -> Iterator[Kept]:
    name, uri, at = f"S{data['n']}", _one_line(data["url"]), _warc_time(data["fetched_at"])
    text, text_id = record.folder.blob(data["text"]), _record_id(record, f"{name}/text")
    if not data["body"]:
        yield Kept(text_id, "metadata", uri, at, _PLAIN, text)
        return
    body, body_id = record.folder.blob(data["body"]), _record_id(record, f"{name}/body")
    yield _body(body_id, uri, at, data, body)
    yield Kept(text_id, "conversion", uri, at, _PLAIN, text, body_id)


def _body(id_: str, uri: str, at: str, data: dict[str, Any], body: bytes) -> Kept:
    content_type = _one_line(data["content_type"]) or "application/octet-stream"
    status = data.get("status")
    if data["via"] != "http" or status is None:
        return Kept(id_, "resource", uri, at, content_type, body)
    line = f"{status} {_REASONS.get(status, '')}".strip()
    headers = [(str(name), _one_line(value, " ")) for name, value in data.get("headers", ())]
    if not any(name.lower() == "content-type" for name, _ in headers):
        headers.append(("Content-Type", content_type))
    headers.append(("Content-Length", str(len(body))))
    return Kept(id_, "response", uri, at, "", body, http=(line, tuple(headers)))


def _pictures(record: FinishedRun, event: Event) -> Iterator[Kept]:
    for name, digest in event.data["blobs"].items():
        content_type = _PICTURES.get(name[name.rfind(".") :])
        if content_type:
            uri = f"urn:urchin:{record.report.run}/{event.place}/{_one_line(name)}"
            body, id_ = record.folder.blob(digest), _record_id(record, f"{event.place}/{name}")
            yield Kept(id_, "resource", uri, event.at, content_type, body)


def _record_id(record: FinishedRun, name: str) -> str:
    """Name a record by its run and place, so that writing it again names it the same."""
    return f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'urchin:{record.report.run}/{name}')}>"


def _warc_time(at: str) -> str:
    return datetime.fromisoformat(at).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _one_line(text: str | None, joined: str = "") -> str:
    """A header is one line, whatever a server or a page says."""
    return joined.join((text or "").split()).encode("utf-8", "replace").decode()


_SAID = ("WARC-Record-ID", "WARC-Target-URI", "WARC-Date", "WARC-Refers-To", "Content-Type")
"""The headers of a record that we write; lengths and digests follow from its bytes."""


def render_warc(folder: Path) -> bytes:
    """Write the run's pages as WARC 1.1; the same run gives the same bytes."""
    out = BytesIO()
    writer = WARCWriter(out, gzip=True, warc_version=WARC_VERSION)
    for made in _records(writer, FinishedRun.read(folder)):
        writer.write_record(made)
    return out.getvalue()


def is_warc_of(folder: Path, body: bytes) -> bool:
    """Whether a WARC holds the pages of a run, all of them, as they came, and nothing else."""
    try:
        return _facts(body) == _facts(render_warc(folder))
    except (ArchiveLoadFailed, StatusAndHeadersParserException, zlib.error, EOFError, ValueError):
        return False


def _records(writer: WARCWriter, record: FinishedRun) -> Iterator[Any]:
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
