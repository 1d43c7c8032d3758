"""What platform parsers give: one typed record, and the lines in which a reader can cite it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from browser.types import Link, Table

# Beside these the title and the text of an item say what it is.
_PLAIN_KINDS = frozenset(("comment", "reply", "answer", "post", "section", "transcript"))
# A reply's reply's reply is read as one thread; deeper is hostile or data.
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Record:
    """One thing on a platform: a post, a repository, a video, a question, a paper, a listing.

    `kind` says what it is; `author` is the name shown, `handle` the account; dates are ISO 8601.
    `counts` holds numbers under plain names (`likes`, `replies`, `stars`, `points`, `views`);
    `fields` what only this kind has, as text. `items` are the comments, answers or entries in
    page order; a reply names what it answers in `parent`. A field that the page does not hold is
    None or empty, never guessed.
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
    counts: Mapping[str, int] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    media: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    items: tuple[Record, ...] = ()


def listing(
    platform: str, url: str, items: Iterable[Record], title: str | None = None
) -> Record | None:
    """A page that lists things, as a record whose items they are; None where it lists nothing."""
    found = tuple(items)
    return Record(platform, "listing", url, title=title, items=found) if found else None


def facts(record: Record) -> dict[str, str]:
    """What a record says beside its text, by plain names; what it does not say is left out."""
    said = {
        "kind": f"{record.platform} {record.kind}",
        "id": record.id,
        "author": byline(record),
        "published": record.published,
        "modified": record.modified,
        "answers": record.parent,
        **{name: str(amount) for name, amount in record.counts.items()},
        **record.fields,
        "tags": ", ".join(record.tags),
    }
    return {name: value for name, value in said.items() if value}


def fact_lines(record: Record) -> str:
    """The facts as a list, a line each."""
    return "\n".join(f"- {name}: {' '.join(v.split())}" for name, v in facts(record).items())


def item_blocks(record: Record) -> Iterator[str]:
    """A block for each item, with who said it and when; items of items after theirs."""
    yield from _blocks(record, _DEEPEST)


def byline(record: Record) -> str:
    """Name and account, as `Ann (@ann)`; one of them where they are the same."""
    if record.handle and record.author and record.handle != record.author:
        return f"{record.author} (@{record.handle})"
    return record.author or record.handle or ""


def _blocks(record: Record, depth: int) -> Iterator[str]:
    for item in record.items if depth else ():
        yield _block(item)
        yield from _blocks(item, depth - 1)


def _block(item: Record) -> str:
    kind = "" if item.kind in _PLAIN_KINDS else item.kind.replace("_", " ")
    counted = [f"{name} {amount}" for name, amount in item.counts.items()]
    more = [f"{name}: {value}" for name, value in item.fields.items()]
    head = ", ".join(part for part in (kind, byline(item), item.published or "", *counted) if part)
    title = f"{item.title}\n" if item.title else ""
    rest = "\n".join(part for part in (item.text, "; ".join(more)) if part)
    return f"{head}: {title}{rest}".strip() if head else f"{title}{rest}".strip()
