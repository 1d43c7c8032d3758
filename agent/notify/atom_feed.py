"""Notices as an Atom feed (RFC 4287) in a file, for feed readers and web servers."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout
from lxml import etree

from agent.errors import NotSent
from agent.files import write_whole

if TYPE_CHECKING:
    from pathlib import Path

    from agent.notify.notice import Notice

_ATOM = "http://www.w3.org/2005/Atom"
_NAMES: Any = {None: _ATOM}  # the stubs know no default namespace
_MOST = 200
"""Entries: readers come by more often than that many notices are made."""
_WAIT_S = 10.0


def add_entry(path: Path, notice: Notice) -> None:
    """Put a notice at the top; one that is there already stays as it was. Raises `NotSent`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{path}.lock", timeout=_WAIT_S):
            feed = _read(path)
            entry = _entry(notice)
            name = entry.findtext(_tag("id"))
            old = feed.findall(_tag("entry"))
            if name not in {one.findtext(_tag("id")) for one in old}:
                _put(feed, entry, old)
                body = etree.tostring(
                    feed, xml_declaration=True, encoding="utf-8", pretty_print=True
                )
                write_whole(path, body)
    except (OSError, Timeout) as error:
        raise NotSent(f"cannot write {path}: {error}", hint="Name a file of yours.") from error


def _read(path: Path) -> etree._Element:
    if not path.exists():
        feed = etree.Element(_tag("feed"), nsmap=_NAMES)
        for name, text in (
            ("title", "Urchin"),
            ("id", f"urn:uuid:{uuid.uuid4()}"),
            ("updated", ""),
        ):
            etree.SubElement(feed, _tag(name)).text = text
        author = etree.SubElement(feed, _tag("author"))
        etree.SubElement(author, _tag("name")).text = "Urchin"
        return feed
    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_blank_text=True)
    try:
        feed = etree.fromstring(path.read_bytes(), parser)
    except etree.XMLSyntaxError as error:
        raise NotSent(f"{path} is no feed: {error}", hint="Name another file.") from error
    if feed.tag != _tag("feed"):
        raise NotSent(f"{path} is no Atom feed", hint="Name another file.")
    return feed


def _put(feed: etree._Element, entry: etree._Element, old: list[etree._Element]) -> None:
    updated = feed.find(_tag("updated"))
    if updated is not None:
        updated.text = entry.findtext(_tag("updated"))
    feed.insert(feed.index(old[0]) if old else len(feed), entry)
    for gone in old[_MOST - 1 :]:
        feed.remove(gone)


def _entry(notice: Notice) -> etree._Element:
    entry = etree.Element(_tag("entry"), nsmap=_NAMES)
    name = uuid.uuid5(uuid.NAMESPACE_URL, notice.id)
    for tag, text in (
        ("title", notice.subject),
        ("id", f"urn:uuid:{name}"),
        ("updated", notice.at.isoformat()),
        ("content", notice.text or notice.subject),
    ):
        etree.SubElement(entry, _tag(tag)).text = _sayable(text)
    if notice.url:
        etree.SubElement(entry, _tag("link"), href=_sayable(notice.url))
    return entry


def _sayable(text: str) -> str:
    """Leave out what XML 1.0 has no way to say."""
    return "".join(c for c in text if c in "\t\n\r" or (c >= " " and c not in "\ufffe\uffff"))


def _tag(name: str) -> str:
    return f"{{{_ATOM}}}{name}"
