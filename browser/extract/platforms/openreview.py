"""OpenReview: submissions with their reviews and decisions, from the page's state or the API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from browser.extract.platforms.base import Platform
from browser.extract.platforms.citations import cited_paper
from browser.extract.platforms.embedded import objects
from browser.extract.platforms.record import Record, listing
from browser.extract.platforms.source import fields
from browser.extract.platforms.times import moment
from browser.net.url import join
from browser.types import Link

if TYPE_CHECKING:
    from collections.abc import Container

    from browser.extract.platforms.source import Source

_SITE = "https://openreview.net"
# Of a submission, what the record holds elsewhere; all else goes into `fields`.
_OWN = frozenset(
    ("title", "abstract", "authors", "authorids", "keywords", "pdf", "_bibtex", "html")
)
# Ratings come with a few words; what is longer was written to be read.
_LONGEST_VALUE = 80


class OpenReview(Platform):
    """Notes: `content` fields with or without `value`; `replyto` makes the thread."""

    name = "openreview"
    hosts = ("openreview.net",)
    verified = False

    def parse(self, source: Source) -> Record | None:
        """Read a forum with its replies, a list of submissions, or the meta elements."""
        notes = {
            note["id"]: {"forum": note["id"], **note}
            for note in objects(source, "id", "content")
            if isinstance(note["content"], dict)
        }
        heads = [note for note in notes.values() if note["forum"] == note["id"]]
        replies = tuple(_reply(note) for note in notes.values() if note["forum"] != note["id"])
        if len(heads) == 1:
            return _paper(heads[0], replies)
        papers = tuple(_paper(note, ()) for note in heads)
        if found := listing(self.name, source.url, papers or replies):
            return found
        return cited_paper(source, self.name) if source.json is None else None


def _values(note: dict[str, Any]) -> dict[str, Any]:
    """A note's fields: version 2 wraps each in `{"value": …}`."""
    given = note["content"].items()
    return {key: v.get("value") if isinstance(v, dict) and "value" in v else v for key, v in given}


def _paper(note: dict[str, Any], replies: tuple[Record, ...]) -> Record:
    content, name = _values(note), note["id"]
    pdf, keywords = content.get("pdf"), content.get("keywords") or ()
    return Record(
        "openreview", "paper", f"{_SITE}/forum?id={name}", id=name, title=content.get("title"),
        text=content.get("abstract") or "", author=_said(content.get("authors")) or None,
        published=moment(note.get("pdate") or note.get("odate") or note.get("cdate")),
        modified=moment(note.get("mdate") or note.get("tmdate")),
        tags=(keywords,) if isinstance(keywords, str) else tuple(keywords),
        links=(Link(join(_SITE, pdf), "PDF"),) if isinstance(pdf, str) else (),
        fields={**fields(number=note.get("number")), **_short(content, _OWN)}, items=replies,
    )  # fmt: skip


def _reply(note: dict[str, Any]) -> Record:
    content, parent = _values(note), note.get("replyto")
    named = note.get("invitations") or [note.get("invitation") or ""]
    kind = str(named[0]).rpartition("/")[2].lower()
    signature = next((str(s) for s in note.get("signatures") or []), "").rpartition("/")[2]
    return Record(
        "openreview", kind or "reply", f"{_SITE}/forum?id={note['forum']}&noteId={note['id']}",
        id=note["id"], title=content.get("title") or None, text=_written(content),
        author=signature.replace("_", " ") or None, handle=signature or None,
        published=moment(note.get("cdate") or note.get("tcdate")),
        modified=moment(note.get("mdate")), parent=parent if parent != note["forum"] else None,
        fields=_short({k: v for k, v in content.items() if not _is_long(v)}, ("title",)),
    )  # fmt: skip


def _written(content: dict[str, Any]) -> str:
    """What a reply says at length, a heading before each part."""
    parts = [(key, value) for key, value in content.items() if key != "title" and _is_long(value)]
    named = len(parts) > 1
    return "\n\n".join(f"## {key.replace('_', ' ')}\n\n{v}" if named else v for key, v in parts)


def _short(content: dict[str, Any], elsewhere: Container[str]) -> dict[str, str]:
    said = {key: _said(value) for key, value in content.items() if key not in elsewhere}
    return {key: value for key, value in said.items() if value}


def _is_long(value: object) -> bool:
    return isinstance(value, str) and (len(value) > _LONGEST_VALUE or "\n" in value)


def _said(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    return str(value) if isinstance(value, str | int | float) else ""
