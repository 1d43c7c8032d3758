"""The memory as pages of a wiki, and a person's edits of the wiki back in the memory.

`memories.md` has a section for each remembered key: what is edited there is remembered, what is
taken out is forgotten. Pages that people write become memories of kind `page`, as long as they are
there. The other pages are written anew each time; what the web said stands quoted in them, with its
address, and is never taken back as a person's word.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from agent.jsvalues import well_formed
from agent.memory import kinds
from agent.memory.records import MemoryDraft, pack, unpack
from agent.wiki.wiki_files import Folder
from agent.wiki.wiki_index import GENERATED, Wiki, plain

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from agent.limits import WikiRules
    from agent.memory.entries import Entries
    from agent.memory.memory_api import Memory
MEMORIES = "memories.md"
_STATE = "wiki"
_UNSAFE = re.compile(r"[^\w.-]+")


def sync(
    memory: Memory, folder: str | os.PathLike[str], rules: WikiRules | None = None
) -> list[str]:
    """Read what people edited in a folder, then write all pages; returns the paths that changed."""
    entries, wiki = memory.entries, Wiki(Folder(folder), rules=rules)
    taken = [*_forget_deleted(entries, wiki), *_remember_edited(entries, wiki)]
    changed = [path for path, text in _pages(entries) if _write(wiki, path, text)]
    entries.notes.write(_STATE, {row.key: _digest(_shown(row)) for row in _remembered(entries)})
    log = f"took up {len(taken)} edits: {', '.join(taken)}" if taken else None
    return [*changed, *wiki.sync(log=log)]


def _remember_edited(entries: Entries, wiki: Wiki) -> list[str]:
    published = entries.notes.read(_STATE) or {}
    known = {row.key for row in _remembered(entries)}
    drafts = []
    for key, text in _sections(wiki.files.read_file(MEMORIES) or ""):
        edited = published.get(key) != _digest(text) if key in published else key not in known
        if edited and not key.startswith(("_", "session_")):
            drafts.append(MemoryDraft(text, kinds.REMEMBERED, key, source="wiki"))
    for path in wiki.pages():
        text = wiki.files.read_file(path) or ""
        if path != MEMORIES and GENERATED not in text and not _same(entries, path, text):
            drafts.append(MemoryDraft(text, kinds.PAGE, path, source="wiki"))
    entries.put_all(drafts)
    return [str(draft.key) for draft in drafts]


def _forget_deleted(entries: Entries, wiki: Wiki) -> list[str]:
    """Forget what people deleted: sections that were published and not changed since, pages."""
    published = entries.notes.read(_STATE) or {}
    text, gone = wiki.files.read_file(MEMORIES), []
    if text is not None and text.strip():  # a file that is not there, or cut short, says nothing
        left = {key for key, _ in _sections(text)}
        shown = [row for row in _remembered(entries) if _fits(row.key) and row.key not in left]
        same = [row for row in shown if published.get(row.key) == _digest(_shown(row))]
        gone = [(kinds.REMEMBERED, row.key) for row in same]
    paths = set(wiki.pages())
    if paths:
        pages = entries.all([kinds.PAGE])
        gone += [(kinds.PAGE, row.key) for row in pages if row.key and row.key not in paths]
    for kind, key in gone:
        entries.delete([kind], key)
    return [key for _, key in gone]


def _same(entries: Entries, path: str, text: str) -> bool:
    row = entries.get([kinds.PAGE], path)
    return row is not None and row.text == text


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """Read `## key` sections; a heading inside a value is written with a backslash before it."""
    for part in f"\n{text}".split("\n## ")[1:]:
        key, _, value = part.partition("\n")
        yield key.strip(), f"\n{value.strip()}".replace("\n\\#", "\n#")[1:]


def _pages(entries: Entries) -> Iterator[tuple[str, str]]:
    rows = [row for row in _remembered(entries) if _fits(row.key)]
    yield MEMORIES, "# Memories\n" + "".join(f"\n## {row.key}\n{_section(row)}\n" for row in rows)
    for kind, title in ((kinds.INSIGHT, "Insights"), (kinds.PLAYBOOK, "Playbooks")):
        found = entries.all([kind])
        if found:
            yield f"{title.lower()}.md", _page(title, found)
    by_host: dict[str, list[Any]] = defaultdict(list)
    for row in entries.all([kinds.FACT]):
        by_host[urlsplit(row.url or "").hostname or "unknown"].append(row)
    for host, facts in sorted(by_host.items()):
        yield f"facts/{_UNSAFE.sub('_', host)}.md", _page(f"Facts from {host}", facts)


def _fits(key: str) -> bool:
    """Tell whether a key comes back from a heading as it was."""
    return "\n" not in key and key == key.strip()


def _page(title: str, rows: Sequence[Any]) -> str:
    lines = [f"# {plain(title)}", "", GENERATED, ""]
    for row in rows:
        where = f" ({plain(row.url)})" if row.url else ""
        mark = "- " if row.trusted else "> "
        lines += [mark + plain(row.text) + where, ""]
    return "\n".join(lines)


def _section(row: Any) -> str:
    return f"\n{_shown(row)}".replace("\n#", "\n\\#")[1:]


def _shown(row: Any) -> str:
    value = unpack(row)
    return well_formed(value).strip() if isinstance(value, str) else pack(value)[0]


def _remembered(entries: Entries) -> list[Any]:
    return entries.all([kinds.REMEMBERED])


def _digest(text: str) -> str:
    return hashlib.sha256(json.dumps(text).encode()).hexdigest()[:16]


def _write(wiki: Wiki, path: str, text: str) -> bool:
    if wiki.files.read_file(path) == text:
        return False
    wiki.files.write_file(path, text)
    return True
