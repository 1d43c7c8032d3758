"""What a run kept of the web, as the records of a web archive.

A page over HTTP is a `response`: its status, the headers that tell of the document (cookies and
the like are not kept), and its body, unpacked from what it travelled in. The DOM of a live page, a
file and a screenshot are `resource`s. The text read from a body is a `conversion` of its record, a
search snippet `metadata` of the page that it is about.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from agent.evidence.store import result_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from agent.export.record import Record
    from agent.journal import Event

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


def all_kept(record: Record) -> Iterator[Kept]:
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


def _result(record: Record, found: dict[str, Any], row: dict[str, Any]) -> Kept:
    text = result_text(row["title"], row["snippet"]).encode("utf-8", "replace")
    id_, at = _record_id(record, f"S{row['n']}/text"), _utc(found["fetched_at"])
    return Kept(id_, "metadata", _one_line(row["url"]), at, _PLAIN, text)


def _source(record: Record, data: dict[str, Any]) -> Iterator[Kept]:
    name, uri, at = f"S{data['n']}", _one_line(data["url"]), _utc(data["fetched_at"])
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


def _pictures(record: Record, event: Event) -> Iterator[Kept]:
    for name, digest in event.data["blobs"].items():
        content_type = _PICTURES.get(name[name.rfind(".") :])
        if content_type:
            uri = f"urn:urchin:{record.report.run}/{event.place}/{_one_line(name)}"
            body, id_ = record.folder.blob(digest), _record_id(record, f"{event.place}/{name}")
            yield Kept(id_, "resource", uri, event.at, content_type, body)


def _record_id(record: Record, name: str) -> str:
    """Name a record by its run and place, so that writing it again names it the same."""
    return f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'urchin:{record.report.run}/{name}')}>"


def _utc(at: str) -> str:
    return datetime.fromisoformat(at).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _one_line(text: str | None, joined: str = "") -> str:
    """A header is one line, whatever a server or a page says."""
    return joined.join((text or "").split()).encode("utf-8", "replace").decode()
