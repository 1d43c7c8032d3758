"""Discourse's topic pages: the plain ones for crawlers, and those that the application draws."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from browser.extract.platforms.drawn import Drawn

if TYPE_CHECKING:
    from browser.extract.platforms.record import Record
    from browser.extract.platforms.source import Source

_LOCK = ".topic-status-info .d-icon-lock, .topic-statuses .d-icon-lock"
_TOPIC = Drawn(
    "topic",
    title="#topic-title h1 a, #topic-title h1, h1 .fancy-title, h1 a, h1",
    tags=".discourse-tag",
    fields={"category": ".badge-category__name, .category-name, .category-title"},
)
_CRAWLED = Drawn(
    "post",
    at=".crawler-post",
    id="@id -> post_(.+)",
    text="[itemprop=text], .post",
    author="[itemprop=author] [itemprop=name], .creator [itemprop=name], .creator a",
    handle="[itemprop=author] [itemprop=name], .creator [itemprop=name], .creator a",
    published="time@datetime",
    modified="meta[itemprop=dateModified]@content",
    counts={
        "number": "[itemprop=position]",
        "likes": "[itemprop=interactionStatistic] [itemprop=userInteractionCount]@content"
        " || .post-likes",
    },
)
_DRAWN = Drawn(
    "post",
    at="article[data-post-id]",
    id="@data-post-id",
    text=".cooked",
    author=".names .full-name, .names .username, .names a",
    handle=".names [data-user-card]@data-user-card",
    published=".post-date .relative-date@data-time",
    counts={"number": "@id -> post_(.+)", "likes": ".like-count"},
    fields={
        "state": "@class -> deleted",
        "role": ".names .user-title",
    },
    flags={"accepted": ".accepted, .accepted-text"},
)


def read_page(source: Source) -> Record | None:
    """Read a topic with the posts that are on the page; None for any other page."""
    posts = _CRAWLED.records(source, "discourse") or _DRAWN.records(source, "discourse")
    if not posts or source.path[:1] != ("t",):
        return None
    head, topic = posts[0], _TOPIC.read(source, "discourse", source.root)
    state = {"state": "closed"} if source.all(_LOCK) else {}
    return replace(
        topic, url=source.canonical, title=topic.title or source.meta.get("og:title"),
        id=next((part for part in source.path[1:] if part.isdecimal()), None),
        text=head.text, author=head.author, handle=head.handle, published=head.published,
        counts=head.counts, fields={**topic.fields, **state}, items=posts[1:],
    )  # fmt: skip
