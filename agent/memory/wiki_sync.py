"""Writes the memory as wiki pages, and reads back a user's edits to them.

`memories.md` has a section for each saved key: editing a section changes the value, removing it
deletes the value. Pages that users write are memories of kind `page` for as long as they exist. All
other pages are rewritten each time. They quote web text with its URL, and this text is never read
back as text by the user.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from agent.jsvalues import well_formed
from agent.memory import kinds
from agent.memory.entries import MemoryDraft, pack, unpack
from agent.wiki import GENERATED, Wiki, plain
from browser.net.url import host

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from agent.limits import WikiRules
    from agent.memory.entries import Entries
    from agent.memory.memory_api import Memory

MEMORIES = "memories.md"
_DIGESTS_NOTE = "wiki"
"""Name of the note that stores a digest for each key in `memories.md` as last written."""
_UNSAFE = re.compile(r"[^\w.-]+")


def sync_wiki(
    memory: Memory, folder: str | os.PathLike[str], rules: WikiRules | None = None
) -> list[str]:
    """Read users' edits in a folder, then write all pages; returns the changed paths."""
    entries, wiki = memory.entries, Wiki(folder, rules)
    published = entries.notes.read(_DIGESTS_NOTE) or {}
    edited = [
        *_forget_deleted(entries, wiki, published),
        *_remember_edited(entries, wiki, published),
    ]
    changed = [path for path, text in _pages(entries) if wiki.write_file(path, text)]
    digests = {row.key: _digest(_text(row)) for row in entries.all(kinds.REMEMBERED)}
    entries.notes.write(_DIGESTS_NOTE, digests)
    log = f"applied {len(edited)} edits: {', '.join(edited)}" if edited else None
    return [*changed, *wiki.sync(log=log)]


def _forget_deleted(entries: Entries, wiki: Wiki, published: dict[str, str]) -> list[str]:
    """Delete the memories for removed sections and pages; returns their keys.

    A value that has changed since its section was written is kept.
    """
    text = wiki.read_file(MEMORIES)
    deleted: list[tuple[str, str]] = []
    if text is not None and text.strip():  # a missing or empty file does not delete anything
        remaining = {key for key, _ in _sections(text)}
        for row in entries.all(kinds.REMEMBERED):
            is_unchanged = published.get(row.key) == _digest(_text(row))
            if row.key not in remaining and is_unchanged and _fits_heading(row.key):
                deleted.append((kinds.REMEMBERED, row.key))
    paths = set(wiki.pages())
    if paths:
        pages = entries.all(kinds.PAGE)
        deleted += [(kinds.PAGE, row.key) for row in pages if row.key and row.key not in paths]
    for kind, key in deleted:
        entries.delete(kind, key)
    return [key for _, key in deleted]


def _remember_edited(entries: Entries, wiki: Wiki, published: dict[str, str]) -> list[str]:
    """Save sections that users changed or added, and pages that they wrote; returns their keys."""
    known = {row.key for row in entries.all(kinds.REMEMBERED)}
    drafts = []
    for key, text in _sections(wiki.read_file(MEMORIES) or ""):
        is_edited = published[key] != _digest(text) if key in published else key not in known
        if is_edited and not key.startswith(("_", "session_")):
            drafts.append(MemoryDraft(text, kinds.REMEMBERED, key, source="wiki"))
    pages = {row.key: row.text for row in entries.all(kinds.PAGE)}
    for path in wiki.pages():
        text = wiki.read_file(path) or ""
        if path != MEMORIES and GENERATED not in text and pages.get(path) != text:
            drafts.append(MemoryDraft(text, kinds.PAGE, path, source="wiki"))
    entries.put(*drafts)
    return [str(draft.key) for draft in drafts]


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """Parse `## key` sections; headings within a value are escaped with a backslash."""
    for part in f"\n{text}".split("\n## ")[1:]:
        key, _, value = part.partition("\n")
        yield key.strip(), f"\n{value.strip()}".replace("\n\\#", "\n#")[1:]


def _pages(entries: Entries) -> Iterator[tuple[str, str]]:
    """Yield (path, text) for each page."""
    sections = ""
    for row in entries.all(kinds.REMEMBERED):
        if _fits_heading(row.key):
            text = f"\n{_text(row)}".replace("\n#", "\n\\#")[1:]
            sections += f"\n## {row.key}\n{text}\n"
    yield MEMORIES, f"# Memories\n{sections}"
    for kind, title in ((kinds.INSIGHT, "Insights"), (kinds.PLAYBOOK, "Playbooks")):
        found = entries.all(kind)
        if found:
            yield f"{title.lower()}.md", _page(title, found)
    by_host: dict[str, list[Any]] = defaultdict(list)
    for row in entries.all(kinds.FACT):
        by_host[host(row.url or "") or "unknown"].append(row)
    for name, facts in sorted(by_host.items()):
        yield f"facts/{_UNSAFE.sub('_', name)}.md", _page(f"Facts from {name}", facts)


def _page(title: str, rows: Sequence[Any]) -> str:
    lines = [f"# {plain(title)}", "", GENERATED, ""]
    for row in rows:
        where = f" ({plain(row.url)})" if row.url else ""
        lines += [f"{'-' if row.trusted else '>'} {plain(row.text)}{where}", ""]
    return "\n".join(lines)


def _fits_heading(key: str) -> bool:
    """Return whether a key is unchanged after being written as a heading and parsed again."""
    return "\n" not in key and key == key.strip()


def _text(row: Any) -> str:
    value = unpack(row)
    return well_formed(value).strip() if isinstance(value, str) else pack(value)[0]


def _digest(text: str) -> str:
    return hashlib.sha256(json.dumps(text).encode()).hexdigest()[:16]
