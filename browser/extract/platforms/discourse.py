"""Discourse: topics, posts, users and lists on any forum that uses it."""

from __future__ import annotations

from dataclasses import replace
from html import unescape
from typing import Any

from browser.extract.platforms import (
    Platform,
    Record,
    RecordPaths,
    SitePage,
    opened_by,
)
from browser.net.url import join

_JSON_MARKERS = {"post_stream", "topic_list", "latest_posts", "cooked", "grouped_search_result"}
_TOPIC_FLAGS = ("closed", "archived", "pinned", "pinned_globally")
_LOCK = ".topic-status-info .d-icon-lock, .topic-statuses .d-icon-lock"
_API_TOPIC = RecordPaths(
    "topic", id="id", url="/t/{slug}/{id}", title="title", text="excerpt", published="created_at",
    tags="tags.name || tags",
    counts={"posts": "posts_count", "views": "views", "likes": "like_count",
            "replies": "reply_count"},
    fields={"category": "category_id", "solved_by": "accepted_answer.post_number",
            "last_post": "last_posted_at"},
    flags={"solved": "has_accepted_answer"},
)  # fmt: skip
_API_POST = RecordPaths(
    "post", id="id", url="/t/{topic_slug}/{topic_id}/{post_number}",
    title="topic_title", text="cooked", markup=True, author="name || username",
    handle="username", published="created_at", modified="updated_at", parent="reply_to_post_number",
    counts={"number": "post_number", "replies": "reply_count", "reads": "reads"},
    fields={"role": "user_title"}, flags={"accepted": "accepted_answer"},
)  # fmt: skip
_API_USER = RecordPaths(
    "profile", id="id", url="/u/{username}", author="name || username", handle="username",
    text="bio_cooked", markup=True, published="created_at",
    fields={"role": "title", "website": "website", "location": "location",
            "trust_level": "trust_level"},
)  # fmt: skip
_TOPIC = RecordPaths(
    "topic", title="#topic-title h1 a, #topic-title h1, h1 .fancy-title, h1 a, h1",
    tags=".discourse-tag",
    fields={"category": ".badge-category__name, .category-name, .category-title"},
)  # fmt: skip
_NAME = "[itemprop=author] [itemprop=name], .creator [itemprop=name], .creator a"
_CRAWLER_POST = RecordPaths(
    "post", ".crawler-post", id="@id -> post_(.+)", text="[itemprop=text], .post", author=_NAME,
    handle=_NAME, published="time@datetime", modified="meta[itemprop=dateModified]@content",
    counts={
        "number": "[itemprop=position]",
        "likes": "[itemprop=interactionStatistic] [itemprop=userInteractionCount]@content",
    },
)  # fmt: skip
_RENDERED_POST = RecordPaths(
    "post", "article[data-post-id]", id="@data-post-id", text=".cooked",
    author=".names .full-name, .names .username, .names a",
    handle=".names [data-user-card]@data-user-card",
    published=".post-date .relative-date@data-time",
    counts={"number": "@id -> post_(.+)", "likes": ".like-count"},
    fields={"state": "@class -> deleted", "role": ".names .user-title"},
    flags={"accepted": ".accepted, .accepted-text"},
)  # fmt: skip


class Discourse(Platform):
    """Reads a page's `.json` version or else its HTML, as served to crawlers or as rendered."""

    name = "discourse"
    marks = (b"Discourse ", b'"post_stream"')

    def claims(self, page: SitePage) -> bool:
        """Recognise pages by the generator that they declare, and JSON by its keys."""
        if page.json is None:
            return page.meta["generator"].startswith("Discourse")
        data = page.json if isinstance(page.json, dict) else {}
        user = data.get("user")
        known = isinstance(user, dict) and "trust_level" in user
        return known or not _JSON_MARKERS.isdisjoint(data)

    def parse(self, page: SitePage) -> Record | None:
        """Read a topic, a post, a user, or a list."""
        data = page.json
        if data is None:
            return _read_page(page)
        if "post_stream" in data:
            posts = data["post_stream"].get("posts") or []
            records = [_post(page, {"topic_slug": data.get("slug"), **post}) for post in posts]
            return opened_by(_topic(page, data), records) if records else _topic(page, data)
        if isinstance(data.get("user"), dict):
            return _API_USER.read(page, self.name, data["user"])
        if "topic_list" in data:
            users = {user["id"]: user["username"] for user in data.get("users") or []}
            topics = data["topic_list"].get("topics", [])
            items = tuple(_listed_topic(page, topic, users) for topic in topics)
        elif "grouped_search_result" in data:
            topics = {topic["id"]: topic for topic in data.get("topics") or []}
            posts = data.get("posts") or []
            items = tuple(
                _search_hit(page, post, topics.get(post.get("topic_id"), {})) for post in posts
            )
        elif "latest_posts" in data:
            items = tuple(_post(page, post) for post in data["latest_posts"])
        else:
            return _post(page, data)
        return Record(self.name, "listing", page.url, items=items)


def _read_page(page: SitePage) -> Record | None:
    """Read a topic with the posts on the page; None for any other page."""
    posts = _CRAWLER_POST.records(page, "discourse") or _RENDERED_POST.records(page, "discourse")
    if not posts or page.path[:1] != ("t",):
        return None
    topic = _TOPIC.read(page, "discourse", page.soup)
    closed = page.soup.select_one(_LOCK) is not None
    return opened_by(topic, posts).updated(
        url=page.canonical,
        id=next((part for part in page.path[1:] if part.isdecimal()), None),
        title=topic.title or page.meta.get("og:title"),
        counts=posts[0].counts,
        fields={"state": "closed" if closed else None},
    )


def _topic(page: SitePage, topic: dict[str, Any]) -> Record:
    """Read a topic's fields except its author."""
    record = _API_TOPIC.read(page, "discourse", topic)
    return record.updated(
        text=unescape(record.text),
        fields={"marks": ", ".join(mark for mark in _TOPIC_FLAGS if topic.get(mark))},
    )


def _listed_topic(page: SitePage, topic: dict[str, Any], users: dict[int, str]) -> Record:
    posters = topic.get("posters") or [{}]
    handle = users.get(posters[0].get("user_id", -1)) or topic.get("last_poster_username")
    return replace(_topic(page, topic), author=handle, handle=handle)


def _post(page: SitePage, post: dict[str, Any]) -> Record:
    record = _API_POST.read(page, "discourse", post)
    actions = post.get("actions_summary") or []
    gone = post.get("user_deleted") or post.get("deleted_at")
    options = [option for poll in post.get("polls") or [] for option in poll.get("options") or []]
    polled = [f"{page.body(o.get('html') or '')}: {o.get('votes')}" for o in options]
    cooked = SitePage(page.url, f"<p>{post.get('cooked') or ''}").soup
    pictures = cooked.select("img[src]:not(.emoji):not(.avatar)")
    return record.updated(
        counts={"likes": next((a.get("count") for a in actions if a.get("id") == 2), None)},
        fields={
            "state": "deleted" if gone else "hidden" if post.get("hidden") else None,
            "poll": "; ".join(polled),
        },
        media=tuple(join(page.url, str(picture["src"])) for picture in pictures),
    )


def _search_hit(page: SitePage, post: dict[str, Any], topic: dict[str, Any]) -> Record:
    """A search result: a post, with its topic's title."""
    record = _post(page, {**post, "topic_slug": topic.get("slug"), "cooked": ""})
    return replace(record, title=topic.get("title"), text=unescape(post.get("blurb") or ""))
