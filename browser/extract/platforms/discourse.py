"""Discourse forums on any host: topics with posts, lists of topics, users; JSON and pages."""

from __future__ import annotations

from dataclasses import replace
from html import unescape
from typing import TYPE_CHECKING, Any

from browser.extract.dates import iso_date
from browser.extract.platforms.base import Platform
from browser.extract.platforms.discourse_pages import read_page
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import Source, fields
from browser.net.url import join, origin

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHAPES = {"post_stream", "topic_list", "latest_posts", "cooked", "grouped_search_result"}
_MARKS = ("closed", "archived", "pinned", "pinned_globally")


class Discourse(Platform):
    """The `.json` form of every page; the crawler's page where only HTML is at hand."""

    name = "discourse"
    marks = (b"Discourse ", b'"post_stream"')

    def claims(self, source: Source) -> bool:
        """By the generator that its pages name, or by the shape of its JSON."""
        if source.json is None:
            return source.meta.get("generator", "").startswith("Discourse")
        if not isinstance(source.json, dict):
            return False
        user = source.json.get("user")
        return (
            isinstance(user, dict) and "trust_level" in user
        ) or _SHAPES & source.json.keys() != set()

    def parse(self, source: Source) -> Record | None:
        """Read a topic, a post, a user, or a list."""
        data, site = source.json, origin(source.url)
        if data is None:
            return read_page(source)
        if "post_stream" in data:
            return _topic(data, site)
        if isinstance(data.get("user"), dict):
            return _user(data["user"], site)
        if "topic_list" in data:
            users = {user["id"]: user["username"] for user in data.get("users") or []}
            items = [_listed(topic, site, users) for topic in data["topic_list"].get("topics", [])]
            return Record(self.name, "listing", source.url, items=tuple(items))
        if "grouped_search_result" in data:
            return _found(data, source.url, site)
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
        fields=fields(
            category=data.get("category_id"), marks=_marks(data),
            solved_by=(data.get("accepted_answer") or {}).get("post_number"),
        ),
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
        fields=fields(category=topic.get("category_id"), marks=_marks(topic),
                      solved="true" if topic.get("has_accepted_answer") else None),
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
        media=tuple(_pictures(post.get("cooked") or "", site)),
        counts=counts(number=number, replies=post.get("reply_count"), reads=post.get("reads"),
                      likes=likes),
        fields=fields(
            role=post.get("user_title"), accepted="true" if post.get("accepted_answer") else None,
            state="deleted" if post.get("user_deleted") or post.get("deleted_at")
            else "hidden" if post.get("hidden") else None,
            poll="; ".join(_polls(post.get("polls") or [])),
        ),
    )  # fmt: skip


def _pictures(cooked: str, site: str) -> Iterator[str]:
    for picture in Source(site, cooked).all("img[src]:not(.emoji):not(.avatar)"):
        yield join(site, picture.get("src") or "")


def _marks(topic: dict[str, Any]) -> str:
    return ", ".join(mark for mark in _MARKS if topic.get(mark))


def _polls(polls: list[dict[str, Any]]) -> list[str]:
    options = (option for poll in polls for option in poll.get("options") or [])
    body = Source("", "").body
    return [f"{body(option.get('html') or '')}: {option.get('votes')}" for option in options]


def _user(user: dict[str, Any], site: str) -> Record:
    name = user.get("username")
    return Record(
        "discourse", "profile", f"{site}/u/{name}", id=str(user.get("id")), handle=name,
        author=user.get("name") or name, text=Source(site, "").body(user.get("bio_cooked") or ""),
        published=_date(user.get("created_at")),
        fields=fields(role=user.get("title"), website=user.get("website"),
                      location=user.get("location"), trust_level=user.get("trust_level")),
    )  # fmt: skip


def _found(data: dict[str, Any], url: str, site: str) -> Record:
    """A page of search results: posts, each under the title of its topic."""
    titles = {topic["id"]: topic for topic in data.get("topics") or []}
    rows = []
    for post in data.get("posts") or []:
        topic = titles.get(post.get("topic_id"), {})
        record = _post({**post, "topic_slug": topic.get("slug"), "cooked": ""}, site)
        said = unescape(post.get("blurb") or "")
        rows.append(replace(record, title=topic.get("title"), text=said))
    return Record("discourse", "listing", url, items=tuple(rows))


def _tags(topic: dict[str, Any]) -> list[str]:
    return [tag if isinstance(tag, str) else tag.get("name", "") for tag in topic.get("tags") or []]


def _date(value: object) -> str | None:
    return iso_date(value) if isinstance(value, str) else None
