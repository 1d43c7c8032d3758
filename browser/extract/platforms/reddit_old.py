"""Reddit's old pages: `.thing` blocks of posts and comments."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from browser.extract.dates import iso_date
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import Source, fields

if TYPE_CHECKING:
    from lxml import etree

_SITE = "https://www.reddit.com"
# A post of the old pages; what is promoted is an advertisement.
OLD_POST = ".thing.link:not(.promoted):not(.promotedlink)"
_OLD_MARKS = {"stickied": "pinned", "locked": "locked", "over18": "nsfw", "spoiler": "spoiler"}


def account(name: str | None) -> str | None:
    """An author's name; None for one whose account or post was deleted."""
    return None if name in (None, "", "[deleted]", "[removed]") else name


def old_page(source: Source) -> Record | None:
    """A post with its comments; None where the page has another layout."""
    post = source.first(OLD_POST)
    if post is None:
        return None
    comments = tuple(_old_comment(source, thing) for thing in source.all(".thing.comment"))
    return replace(old_post(source, post), items=comments)


def old_post(source: Source, post: etree._Element) -> Record:
    """A post, on a page of its own or in a list."""
    author, marks = account(post.get("data-author")), (post.get("class") or "").split()
    return Record(
        "reddit", "post", place(post.get("data-permalink")), author=author, handle=author,
        id=bare(post.get("data-fullname")) or next(iter(source.path[3:4]), None),
        title=source.text("a.title", post), text=source.body(source.first(".usertext-body", post)),
        published=iso_date(source.attr("time", "datetime", post)),
        modified=iso_date(source.attr("time.edited-timestamp", "datetime", post)),
        counts=counts(points=post.get("data-score"), comments=post.get("data-comments-count")),
        fields=fields(
            community=post.get("data-subreddit"), target=post.get("data-url"),
            flair=source.text(".linkflairlabel", post),
            marks=", ".join(mark for name, mark in _OLD_MARKS.items() if name in marks),
        ),
    )  # fmt: skip


def _old_comment(source: Source, thing: etree._Element) -> Record:
    outer = (
        node for node in thing.iterancestors() if "comment" in (node.get("class") or "").split()
    )
    parent = next(outer, None)
    entry, author = source.first(".entry", thing), account(thing.get("data-author"))
    return Record(
        "reddit", "comment", place(thing.get("data-permalink")),
        id=bare(thing.get("data-fullname")),
        text=source.body(source.first(".usertext-body", entry)), author=author, handle=author,
        published=iso_date(source.attr("time", "datetime", entry)),
        parent=bare(parent.get("data-fullname")) if parent is not None else None,
        modified=iso_date(source.attr("time.edited-timestamp", "datetime", entry)),
        counts=counts(points=source.text(".score.unvoted", entry) or None),
    )  # fmt: skip


def place(path: str | None) -> str:
    """The address of a path on the site."""
    return f"{_SITE}{path}" if path else ""


def bare(fullname: str | None) -> str | None:
    """The id without the kind before it: of `t3_abc`, `abc`."""
    return fullname.partition("_")[2] if fullname else None
