"""A record as lines that a reader can cite: what it is, what was said, who answered what."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from browser.extract.platforms.record import Record

# Beside these the title and the text of an item say what it is.
_PLAIN_KINDS = frozenset(("comment", "reply", "answer", "post", "section", "transcript"))
# A reply's reply's reply is read as one thread; deeper is hostile or data.
_DEEPEST = 8


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
