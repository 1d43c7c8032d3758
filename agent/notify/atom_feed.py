"""Writes notices to an Atom feed (RFC 4287) in a file, for feed readers and web servers."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout
from lxml import etree
from lxml.builder import ElementMaker  # type: ignore[import-not-found] # no stubs for it

from agent.errors import NotSent
from agent.files import xml_text
from browser.files import write_atomic

if TYPE_CHECKING:
    from pathlib import Path

    from agent.notify.notice import Notice

_ATOM = "http://www.w3.org/2005/Atom"
_NAMESPACES: Any = {None: _ATOM}  # the type stubs do not allow a default namespace
_element: Any = ElementMaker(namespace=_ATOM, nsmap=_NAMESPACES)
_MAX_ENTRIES = 200
"""Maximum number of entries: feed readers poll before this many new ones are added."""
_LOCK_TIMEOUT_S = 10.0  # seconds for another process to release the feed


def add_entry(path: Path, notice: Notice) -> None:
    """Add a notice at the top of a feed, unless it is already there. Raises `NotSent`."""
    entry = _element.entry(
        _element.title(xml_text(notice.subject)),
        _element.id(f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, notice.id)}"),
        _element.updated(notice.at.isoformat()),
        _element.content(xml_text(notice.text or notice.subject)),
        *([_element.link(href=xml_text(notice.url))] if notice.url else []),
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{path}.lock", timeout=_LOCK_TIMEOUT_S):
            feed = _read(path)
            entries = feed.findall("entry", _NAMESPACES)
            ids = {existing.findtext("id", None, _NAMESPACES) for existing in entries}
            if entry.findtext("id", None, _NAMESPACES) in ids:
                return
            for updated in feed.findall("updated", _NAMESPACES):
                updated.text = notice.at.isoformat()
            feed.insert(feed.index(entries[0]) if entries else len(feed), entry)
            for old in entries[_MAX_ENTRIES - 1 :]:
                feed.remove(old)
            body = etree.tostring(feed, xml_declaration=True, encoding="utf-8", pretty_print=True)
            write_atomic(path, body)
    except (OSError, Timeout) as error:
        raise NotSent(
            f"cannot write {path}: {error}", hint="Choose a file that you can write to."
        ) from error


def _read(path: Path) -> etree._Element:
    """Read a feed; return a new one if the file does not exist. Raises `NotSent`."""
    if not path.exists():
        name = f"urn:uuid:{uuid.uuid4()}"
        feed: etree._Element = _element.feed(
            _element.title("Urchin"),
            _element.id(name),
            _element.updated(),
            _element.author(_element.name("Urchin")),
        )
        return feed
    # The file may come from anyone, so its XML entities must not read other files.
    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_blank_text=True)
    try:
        feed = etree.fromstring(path.read_bytes(), parser)
    except etree.XMLSyntaxError as error:
        raise NotSent(f"{path} is not a feed: {error}", hint="Choose another file.") from error
    if feed.tag != f"{{{_ATOM}}}feed":
        raise NotSent(f"{path} is not an Atom feed", hint="Choose another file.")
    return feed
