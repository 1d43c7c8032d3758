"""Substack: notes on substack.com, posts of publications on any host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.extract.dates import iso_date
from browser.extract.platforms.base import Platform
from browser.extract.platforms.numbers import counts, number
from browser.extract.platforms.postings import author_of, date_of, node_of, statistics, words_of
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import fields

if TYPE_CHECKING:
    from browser.extract.platforms.source import Source

_LIKES = ".like-button-container .label"
_NOTE = "[class*=feedPermalinkUnit]"


class Substack(Platform):
    """JSON-LD of notes and posts; the permalink unit and `.available-content` without it."""

    name = "substack"
    hosts = ("substack.com",)

    def claims(self, source: Source) -> bool:
        """Its own hosts; publications under names of their own by what they load."""
        if super().claims(source):
            return True
        return source.json is None and source.first(
            "link[href*='substackcdn.com'], script[src*='substackcdn.com']"
        ) is not None  # fmt: skip

    def parse(self, source: Source) -> Record | None:
        """Read a note or a post."""
        return _note(source) if "note" in source.path else _post(source)


def _note(source: Source) -> Record | None:
    node = node_of(source, "SocialMediaPosting")
    name, _, account = source.meta.get("og:title", "").partition(" (@")
    body = source.first(f"{_NOTE} .ProseMirror")
    text = source.body(body) or words_of(node, "text") or source.meta.get("og:description", "")
    if not text:
        return None
    pictures = source.all(f"{_NOTE} [class*=imageGrid] img")
    return Record(
        "substack", "note", source.canonical, id=source.path[-1], text=text,
        author=author_of(node)[0] or name or None, handle=account.rstrip(")") or None,
        published=date_of(node, "dateCreated", "datePublished")
        or iso_date(source.meta.get("og:published_time", "")),
        modified=date_of(node, "dateModified"), counts=statistics(node),
        media=tuple(picture.get("src", "") for picture in pictures),
    )  # fmt: skip


def _post(source: Source) -> Record | None:
    node = node_of(source, "NewsArticle", "BlogPosting", "Article")
    body = source.first(".available-content .body, .available-content, .body.markup")
    title = source.text("h1.post-title") or words_of(node, "headline")
    if body is None or not title:
        return None
    author, handle = author_of(node)
    free = node.get("isAccessibleForFree")
    return Record(
        "substack", "post", source.canonical, id=source.path[-1] if source.path else None,
        title=title, text=source.body(body), author=author or source.meta.get("author"),
        handle=handle, published=date_of(node, "datePublished"),
        modified=date_of(node, "dateModified"),
        counts=statistics(node) or counts(likes=number(source.text(_LIKES))),
        fields=fields(
            subtitle=source.text("h3.subtitle"), publication=source.meta.get("og:site_name"),
            free=None if free is None else str(free).lower(),
        ),
    )  # fmt: skip
