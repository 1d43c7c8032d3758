"""Discourse's topic pages: the plain ones for crawlers, and those that the application draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.extract.dates import iso_date
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import fields
from browser.extract.platforms.times import moment
from browser.extract.tree import text_content

if TYPE_CHECKING:
    from lxml import etree

    from browser.extract.platforms.source import Source

_TITLE = "#topic-title h1 a, #topic-title h1, h1 .fancy-title, h1 a, h1"
_LOCK = ".topic-status-info .d-icon-lock, .topic-statuses .d-icon-lock"
_CATEGORY = ".badge-category__name, .category-name, .category-title"


def read_page(source: Source) -> Record | None:
    """Read a topic with the posts that are on the page; None for any other page."""
    posts = [_crawled(source, node) for node in source.all(".crawler-post")]
    posts = posts or [_drawn(source, node) for node in source.all("article[data-post-id]")]
    if not posts or source.path[:1] != ("t",):
        return None
    name = next((part for part in source.path[1:] if part.isdecimal()), None)
    tags = (text_content(tag) for tag in source.all(".discourse-tag"))
    head = posts[0]
    return Record(
        "discourse", "topic", source.canonical, id=name, text=head.text, author=head.author,
        title=source.text(_TITLE) or source.meta.get("og:title"), handle=head.handle,
        published=head.published, counts=head.counts, tags=tuple(dict.fromkeys(tags)),
        fields=fields(category=source.text(_CATEGORY),
                      state="closed" if source.all(_LOCK) else None),
        items=tuple(posts[1:]),
    )  # fmt: skip


def _crawled(source: Source, node: etree._Element) -> Record:
    author = (
        source.text("[itemprop=author] [itemprop=name], .creator [itemprop=name], .creator a", node)
        or None
    )
    likes = source.attr("[itemprop=interactionStatistic] [itemprop=userInteractionCount]",
                        "content", node)  # fmt: skip
    return Record(
        "discourse", "post", id=(node.get("id") or "").removeprefix("post_") or None,
        text=source.body(source.first("[itemprop=text], .post", node)), author=author,
        handle=author, published=iso_date(source.attr("time", "datetime", node)),
        modified=iso_date(source.attr("meta[itemprop=dateModified]", "content", node)),
        counts=counts(number=source.text("[itemprop=position]", node) or None,
                      likes=likes or source.text(".post-likes", node) or None),
    )  # fmt: skip


def _drawn(source: Source, node: etree._Element) -> Record:
    handle = source.attr(".names [data-user-card]", "data-user-card", node)
    stamp = source.attr(".post-date .relative-date, .relative-date", "data-time", node)
    state = "deleted" if "deleted" in (node.get("class") or "") else None
    return Record(
        "discourse", "post", id=node.get("data-post-id"),
        text=source.body(source.first(".cooked", node)),
        author=source.text(".names .full-name, .names .username, .names a", node) or None,
        handle=handle or None, published=moment(stamp),
        counts=counts(number=(node.get("id") or "").removeprefix("post_") or None,
                      likes=source.text(".like-count, .button-count.like-count", node) or None),
        fields=fields(state=state, role=source.text(".names .user-title", node),
                      accepted="true" if source.all(".accepted, .accepted-text", node) else None),
    )  # fmt: skip
