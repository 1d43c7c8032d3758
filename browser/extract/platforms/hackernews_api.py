"""Hacker News by its two APIs: Firebase's items, Algolia's items with replies and searches."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from browser.extract.dates import iso_date
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.record import Record, listing
from browser.extract.platforms.source import Source, fields
from browser.extract.platforms.times import moment

if TYPE_CHECKING:
    from collections.abc import Iterator

ITEM: Final = "https://news.ycombinator.com/item?id="
"""What stands before an item's number in its address."""


def from_api(source: Source) -> Record | None:
    """Read an item with the replies that came with it, or a page of hits."""
    data = source.json
    if isinstance(data, dict) and isinstance(data.get("hits"), list):
        hits = (_item(hit) for hit in data["hits"] if "objectID" in hit)
        return listing("hackernews", source.url, hits)
    if not isinstance(data, dict) or "id" not in data:
        return None
    return replace(_item(data), items=tuple(_replies(data)))


def _replies(data: dict[str, Any]) -> Iterator[Record]:
    stack = list(reversed(data.get("children") or []))
    while stack:
        child = stack.pop()
        yield _item(child)
        stack.extend(reversed(child.get("children") or []))


def _item(data: dict[str, Any]) -> Record:
    name = str(data.get("id") or data.get("objectID"))
    author = data.get("by") or data.get("author")
    text = data.get("text") or data.get("story_text") or data.get("comment_text") or ""
    parent = data.get("parent") or data.get("parent_id")
    state = "deleted" if data.get("deleted") else "dead" if data.get("dead") else None
    return Record(
        "hackernews", data.get("type") or ("comment" if data.get("comment_text") else "story"),
        f"{ITEM}{name}", id=name, title=data.get("title"), text=Source("", "").body(text),
        author=author, handle=author, parent=str(parent) if parent else None,
        published=moment(data.get("time")) or iso_date(data.get("created_at") or ""),
        counts=counts(points=data.get("score", data.get("points")),
                      comments=data.get("descendants", data.get("num_comments"))),
        fields=fields(target=data.get("url"), state=state),
    )  # fmt: skip
