"""What platform parsers give: one typed record, with records in it for replies and entries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from browser.types import Link, Table


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
