"""Discourse forums on any host: topics with posts, lists of topics, users; JSON and pages."""

from __future__ import annotations

from html import unescape
from typing import TYPE_CHECKING, Any

from browser.extract.dates import iso_date
from browser.extract.platforms.base import Platform
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import Source, fields
from browser.net.url import origin

if TYPE_CHECKING:
    from lxml import etree

_SHAPES = ("post_stream", "topic_list", "latest_posts", "cooked", "topic_id", "user_badges")


class Discourse(Platform):
    """The `.json` form of every page; the crawler's page where only HTML is at hand."""

    name = "discourse"

    def claims(self, source: Source) -> bool:
        """By the generator that its pages name, or by the shape of its JSON."""
        if source.json is None:
            return source.meta.get("generator", "").startswith("Discourse")
        return isinstance(source.json, dict) and any(key in source.json for key in _SHAPES[:4])

    def parse(self, source: Source) -> Record | None:
        """Read a topic, a post, or a list."""
        data, site = source.json, origin(source.url)
        if data is None:
            return _page(source)
        if "post_stream" in data:
            return _topic(data, site)
        if "topic_list" in data:
            users = {user["id"]: user["username"] for user in data.get("users") or []}
            items = [_listed(topic, site, users) for topic in data["topic_list"].get("topics", [])]
            return Record(self.name, "listing", source.url, items=tuple(items))
        if "latest_posts" in data:
            posts = tuple(_post(post, site) for post in data["latest_posts"])
            return Record(self.name, "listing", source.url, items=posts)
        return _post(data, site)


def _topic(data: dict[str, Any], site: str) -> Record:
    posts = [_post(post, site) for post in data["post_stream"].get("posts") or []]
    first = posts[0] if posts else Record("discourse", "post")
    return Record(
        "discourse", "topic", f"{site}/t/{data.get('slug')}/{data.get('id')}",
        id=str(data.get("id")), title=data.get("title"), text=first.text, author=first.author,
        handle=first.handle, published=_date(data.get("created_at")) or first.published,
        modified=_date(data.get("last_posted_at")), tags=tuple(_tags(data)),
        counts=counts(posts=data.get("posts_count"), views=data.get("views"),
                      likes=data.get("like_count"), replies=data.get("reply_count")),
        items=tuple(posts[1:]),
    )  # fmt: skip


def _listed(topic: dict[str, Any], site: str, users: dict[int, str]) -> Record:
    posters = topic.get("posters") or [{}]
    handle = users.get(posters[0].get("user_id", -1)) or topic.get("last_poster_username")
    return Record(
        "discourse", "topic", f"{site}/t/{topic.get('slug')}/{topic.get('id')}",
        id=str(topic.get("id")), title=topic.get("title"), author=handle, handle=handle,
        text=unescape(topic.get("excerpt") or ""), published=_date(topic.get("created_at")),
        modified=_date(topic.get("last_posted_at")), tags=tuple(_tags(topic)),
        counts=counts(posts=topic.get("posts_count"), views=topic.get("views"),
                      likes=topic.get("like_count"), replies=topic.get("reply_count")),
    )  # fmt: skip


def _post(post: dict[str, Any], site: str) -> Record:
    number, answered = post.get("post_number"), post.get("reply_to_post_number")
    slug, topic = post.get("topic_slug"), post.get("topic_id")
    likes = next(
        (a.get("count") for a in post.get("actions_summary") or [] if a.get("id") == 2), None
    )
    return Record(
        "discourse", "post", f"{site}/t/{slug}/{topic}/{number}" if topic else "",
        id=str(post.get("id")), text=Source(site, "").body(post.get("cooked") or ""),
        title=post.get("topic_title"), author=post.get("name") or post.get("username"),
        handle=post.get("username"), published=_date(post.get("created_at")),
        modified=_date(post.get("updated_at")), parent=str(answered) if answered else None,
        counts=counts(number=number, replies=post.get("reply_count"), reads=post.get("reads"),
                      likes=likes),
        fields=fields(role=post.get("user_title")),
    )  # fmt: skip


def _page(source: Source) -> Record | None:
    posts = [
        _crawled(source, node) for node in source.all(".topic-body.crawler-post, .crawler-post")
    ]
    if not posts or source.path[:1] != ("t",):
        return None
    title = source.text("h1 a, h1") or source.meta.get("og:title")
    head = posts[0]
    return Record(
        "discourse", "topic", source.canonical, id=source.path[-1], title=title, text=head.text,
        author=head.author, handle=head.handle, published=head.published, items=tuple(posts[1:]),
    )  # fmt: skip


def _crawled(source: Source, node: etree._Element) -> Record:
    author = source.text("[itemprop=author] [itemprop=name], .creator a", node) or None
    return Record(
        "discourse", "post", text=source.body(source.first("[itemprop=text], .post", node)),
        author=author, handle=author, published=_date(source.attr("time", "datetime", node)),
        counts=counts(number=source.text("[itemprop=position]", node) or None),
    )  # fmt: skip


def _tags(topic: dict[str, Any]) -> list[str]:
    return [tag if isinstance(tag, str) else tag.get("name", "") for tag in topic.get("tags") or []]


def _date(value: object) -> str | None:
    return iso_date(value) if isinstance(value, str) else None
