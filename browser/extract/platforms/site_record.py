"""The typed record that a parser returns, and its conversion to lines of text for citing."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from browser.extract.platforms.parsing import number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from browser.types import Link

# The kind of these items is not shown, as their title and text are enough.
_PLAIN_KINDS = frozenset(("comment", "reply", "answer", "post", "section", "transcript"))
# Replies are read down to this depth; deeper nesting is an attack, or is not a thread.
_MAX_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Record:
    """One item on a platform, such as a post, repository, video, question, paper or listing.

    `kind` is its type; `author` is the displayed name, `handle` the account; dates are ISO 8601.
    `counts` maps plain names to numbers (`likes`, `replies`, `stars`, `points`, `views`); `fields`
    contains values specific to this kind, as strings. Both may be given as the page shows them:
    `1.2k` becomes 1200, and values that are None, empty or not a number are left out. `items` are
    the comments, answers or entries in page order; for a reply, `parent` is the item that it
    answers. A field that the page does not have is None or empty, never guessed.
    """

    platform: str
    kind: str
    url: str = ""
    id: str | None = None
    title: str | None = None
    text: str = ""
    author: str | None = None
    handle: str | None = None
    published: str | None = None
    modified: str | None = None
    parent: str | None = None
    counts: Mapping[str, Any] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    media: tuple[str, ...] = ()
    items: tuple[Record, ...] = ()

    def __post_init__(self) -> None:
        """Convert counts to integers and fields to strings."""
        amounts = {name: number(value) for name, value in self.counts.items()}
        counts = {name: amount for name, amount in amounts.items() if amount is not None}
        fields = {
            name: str(value).lower() if isinstance(value, bool) else str(value)
            for name, value in self.fields.items()
            if value not in (None, "", [])
        }
        object.__setattr__(self, "counts", counts)  # the class is frozen
        object.__setattr__(self, "fields", fields)

    def updated(self, **changes: Any) -> Record:
        """Return a copy with these values; `counts` and `fields` are added to existing ones."""
        added = Record("", "", counts=changes.get("counts", {}), fields=changes.get("fields", {}))
        changes["counts"] = {**self.counts, **added.counts}
        changes["fields"] = {**self.fields, **added.fields}
        return replace(self, **changes)


def listing(
    platform: str, url: str, items: Iterable[Record | None], title: str | None = None
) -> Record | None:
    """Return a record for a page that lists `items`; None if there are none."""
    found = tuple(item for item in items if item is not None)
    return Record(platform, "listing", url, title=title, items=found) if found else None


def thread(posts: Iterable[Record], wanted: str | None = None) -> Record:
    """Return the `wanted` post, or else the first one; the other posts are added to its items."""
    rest = list(posts)
    head = next((post for post in rest if post.id == wanted), rest[0])
    return replace(head, items=(*head.items, *(post for post in rest if post is not head)))


def opened_by(topic: Record, posts: Iterable[Record]) -> Record:
    """Return a topic with the first post's text and author, and the other posts as items."""
    first, *rest = posts
    published = topic.published or first.published
    return replace(topic, text=first.text, author=first.author, handle=first.handle,
                   published=published, items=tuple(rest))  # fmt: skip


def nested(comments: Iterable[tuple[int, Record]]) -> tuple[Record, ...]:
    """Set each comment's `parent`: the closest comment above it that is less indented."""
    found: list[Record] = []
    above: list[str | None] = []
    for depth, comment in comments:
        del above[depth:]
        found.append(replace(comment, parent=above[-1] if above else None))
        above.append(comment.id)
    return tuple(found)


def byline(record: Record) -> str:
    """Format the name and account as `Ann (@ann)`; only one of them if they are the same."""
    if record.handle and record.author and record.handle != record.author:
        return f"{record.author} (@{record.handle})"
    return record.author or record.handle or ""


def facts(record: Record) -> dict[str, str]:
    """Return a record's facts other than its text, by plain names; missing ones are left out."""
    named = {
        "kind": f"{record.platform} {record.kind}",
        "id": record.id,
        "author": byline(record),
        "published": record.published,
        "modified": record.modified,
        "in reply to": record.parent,
        **{name: str(amount) for name, amount in record.counts.items()},
        "accepted answer": next((byline(i) for i in record.items if "accepted" in i.fields), ""),
        **record.fields,
        "tags": ", ".join(record.tags),
    }
    return {name: value for name, value in named.items() if value}


def fact_lines(record: Record) -> str:
    """Format the facts as a list, one per line."""
    return "\n".join(f"- {name}: {' '.join(v.split())}" for name, v in facts(record).items())


def item_blocks(record: Record, depth: int = _MAX_DEPTH) -> Iterator[str]:
    """Yield a block for each item, with its author and date; nested items follow their parent."""
    for item in record.items if depth else ():
        kind = "" if item.kind in _PLAIN_KINDS else item.kind.replace("_", " ")
        counted = (f"{name} {amount}" for name, amount in item.counts.items())
        head = ", ".join(filter(None, (kind, byline(item), item.published, *counted)))
        more = "; ".join(f"{name}: {value}" for name, value in item.fields.items())
        body = "\n".join(filter(None, (item.title, item.text, more)))
        yield (f"{head}: {body}" if head else body).strip()
        yield from item_blocks(item, depth - 1)
