"""GitHub's page of a file: its lines, or what is said where they are not shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from browser.extract.platforms.embedded import decoded, walk
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import fields
from browser.extract.tree import raw_text

if TYPE_CHECKING:
    from browser.extract.platforms.source import Source

_STATE = "script[data-target='react-app.embeddedData']"
_LINES = "td.blob-code, .react-file-line"
_NOT_SHOWN = "Stored with Git LFS"


def read_file(source: Source) -> Record | None:
    """Read a file from the page's state, else from its lines; its path stands in the address."""
    name = "/".join(source.path[4:])
    blob, header = _blob(source)
    lines = blob.get("rawLines")
    text = "\n".join(lines) if isinstance(lines, list) else _shown(source)
    size, lfs = header.get("blobSize"), header.get("isGitLfs") or _NOT_SHOWN in _said(source)
    rich = blob.get("richText")
    if not text and isinstance(rich, str):
        text = source.body(rich)
    if not (text or size or lfs):
        return None
    about = header.get("lineInfo") or {}
    return Record(
        "github", "file", source.url, id=name, title=name, text=text,
        counts=counts(lines=about.get("truncatedLoc") or (text.count("\n") + 1 if text else None)),
        fields=fields(
            repository="/".join(source.path[:2]), branch=source.path[3], size=size,
            language=blob.get("language"), lfs="true" if lfs else None,
            truncated="true" if blob.get("truncated") else None,
            picture="true" if blob.get("image") else None,
        ),
        media=(blob["rawBlobUrl"],) if blob.get("rawBlobUrl") and blob.get("image") else (),
    )  # fmt: skip


def _blob(source: Source) -> tuple[dict[str, Any], dict[str, Any]]:
    """The file in the state of the page, and what its header says."""
    states = [decoded(script.text or "") for script in source.all(_STATE)]
    blobs = (node["blob"] for node in walk(states) if isinstance(node.get("blob"), dict))
    blob: dict[str, Any] = next(blobs, {})
    return blob, blob.get("headerInfo") or {}


def _shown(source: Source) -> str:
    area = source.first("#read-only-cursor-text-area")
    if area is not None and raw_text(area).strip():
        return raw_text(area).strip("\n")
    lines = source.all(_LINES)
    text = "\n".join(raw_text(line).rstrip("\n") for line in lines)
    return text or source.body(source.first("article.markdown-body"))


def _said(source: Source) -> str:
    box = source.first("#repo-content-pjax-container, .file, [data-testid=blob-viewer]")
    return raw_text(box) if box is not None else ""
