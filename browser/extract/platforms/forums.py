"""Forums of discussions: Discourse, Hacker News."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from typing import TYPE_CHECKING, Any

from bs4 import Tag

from browser.extract.platforms.paths import RecordPaths
from browser.extract.platforms.site import (
    Platform,
    Record,
    SitePage,
    attribute,
    counts,
    fields,
    line,
    listing,
    number,
)
from browser.net.url import join, origin
from browser.types import Link

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHAPES = {"post_stream", "topic_list", "latest_posts", "cooked", "grouped_search_result"}
_MARKS = ("closed", "archived", "pinned", "pinned_globally")
_LOCK = ".topic-status-info .d-icon-lock, .topic-statuses .d-icon-lock"
_TOPIC = RecordPaths(
    "topic", id="id", title="title", text="excerpt", published="created_at",
    tags="tags.name || tags",
    counts={"posts": "posts_count", "views": "views", "likes": "like_count",
            "replies": "reply_count"},
    fields={"category": "category_id", "solved_by": "accepted_answer.post_number",
            "last_post": "last_posted_at"},
    flags={"solved": "has_accepted_answer"},
)  # fmt: skip
_DISCOURSE_POST = RecordPaths(
    "post", id="id", title="topic_title", text="cooked", markup=True, author="name || username",
    handle="username", published="created_at", modified="updated_at", parent="reply_to_post_number",
    counts={"number": "post_number", "replies": "reply_count", "reads": "reads"},
    fields={"role": "user_title"}, flags={"accepted": "accepted_answer"},
)  # fmt: skip
_DISCOURSE_USER = RecordPaths(
    "profile", id="id", author="name || username", handle="username", text="bio_cooked",
    markup=True, published="created_at",
    fields={"role": "title", "website": "website", "location": "location",
            "trust_level": "trust_level"},
)  # fmt: skip
_HEAD = RecordPaths(
    "topic", title="#topic-title h1 a, #topic-title h1, h1 .fancy-title, h1 a, h1",
    tags=".discourse-tag",
    fields={"category": ".badge-category__name, .category-name, .category-title"},
)  # fmt: skip
_NAME = "[itemprop=author] [itemprop=name], .creator [itemprop=name], .creator a"
_CRAWLED = RecordPaths(
    "post", ".crawler-post", id="@id -> post_(.+)", text="[itemprop=text], .post", author=_NAME,
    handle=_NAME, published="time@datetime", modified="meta[itemprop=dateModified]@content",
    counts={
        "number": "[itemprop=position]",
        "likes": "[itemprop=interactionStatistic] [itemprop=userInteractionCount]@content"
        " || .post-likes",
    },
)  # fmt: skip
_DRAWN = RecordPaths(
    "post", "article[data-post-id]", id="@data-post-id", text=".cooked",
    author=".names .full-name, .names .username, .names a",
    handle=".names [data-user-card]@data-user-card",
    published=".post-date .relative-date@data-time",
    counts={"number": "@id -> post_(.+)", "likes": ".like-count"},
    fields={"state": "@class -> deleted", "role": ".names .user-title"},
    flags={"accepted": ".accepted, .accepted-text"},
)  # fmt: skip


class Discourse(Platform):
    """The `.json` form of every page; the crawler's page where only HTML is at hand."""

    name = "discourse"
    marks = (b"Discourse ", b'"post_stream"')

    def claims(self, page: SitePage) -> bool:
        """By the generator that its pages name, or by the shape of its JSON."""
        if page.json is None:
            return page.meta.get("generator", "").startswith("Discourse")
        data = page.json if isinstance(page.json, dict) else {}
        user = data.get("user")
        known = isinstance(user, dict) and "trust_level" in user
        return known or not _SHAPES.isdisjoint(data)

    def parse(self, page: SitePage) -> Record | None:
        """Read a topic, a post, a user, or a list."""
        data = page.json
        if data is None:
            return _read_page(page)
        if "post_stream" in data:
            return _topic(page, data)
        if isinstance(data.get("user"), dict):
            user = _DISCOURSE_USER.read(page, self.name, data["user"])
            return replace(user, url=f"{origin(page.url)}/u/{user.handle}")
        if "topic_list" in data:
            users = {user["id"]: user["username"] for user in data.get("users") or []}
            topics = data["topic_list"].get("topics", [])
            items = tuple(_listed(page, topic, users) for topic in topics)
        elif "grouped_search_result" in data:
            topics = {topic["id"]: topic for topic in data.get("topics") or []}
            posts = data.get("posts") or []
            items = tuple(_hit(page, post, topics.get(post.get("topic_id"), {})) for post in posts)
        elif "latest_posts" in data:
            items = tuple(_discourse_post(page, post) for post in data["latest_posts"])
        else:
            return _discourse_post(page, data)
        return Record(self.name, "listing", page.url, items=items)


def _read_page(page: SitePage) -> Record | None:
    """Read a topic with the posts that are on the page; None for any other page."""
    posts = _CRAWLED.records(page, "discourse") or _DRAWN.records(page, "discourse")
    if not posts or page.path[:1] != ("t",):
        return None
    head, topic = posts[0], _HEAD.read(page, "discourse", page.soup)
    state = fields(state="closed" if page.first(_LOCK) is not None else None)
    return replace(
        topic, url=page.canonical, title=topic.title or page.meta.get("og:title"),
        id=next((part for part in page.path[1:] if part.isdecimal()), None),
        text=head.text, author=head.author, handle=head.handle, published=head.published,
        counts=head.counts, fields={**topic.fields, **state}, items=posts[1:],
    )  # fmt: skip


def _topic(page: SitePage, data: dict[str, Any]) -> Record:
    posts = [
        _discourse_post(page, {"topic_slug": data.get("slug"), **post})
        for post in data["post_stream"].get("posts") or []
    ]
    first, topic = posts[0] if posts else Record("discourse", "post"), _stated(page, data)
    return replace(topic, text=first.text, author=first.author, handle=first.handle,
                   published=topic.published or first.published,
                   items=tuple(posts[1:]))  # fmt: skip


def _stated(page: SitePage, topic: dict[str, Any]) -> Record:
    """A topic, without who wrote it."""
    record = _TOPIC.read(page, "discourse", topic)
    marks = ", ".join(mark for mark in _MARKS if topic.get(mark))
    return replace(
        record, url=_address(page, topic.get("slug"), topic.get("id")), text=unescape(record.text),
        fields={**record.fields, **fields(marks=marks)},
    )  # fmt: skip


def _listed(page: SitePage, topic: dict[str, Any], users: dict[int, str]) -> Record:
    posters = topic.get("posters") or [{}]
    handle = users.get(posters[0].get("user_id", -1)) or topic.get("last_poster_username")
    return replace(_stated(page, topic), author=handle, handle=handle)


def _discourse_post(page: SitePage, post: dict[str, Any]) -> Record:
    record = _DISCOURSE_POST.read(page, "discourse", post)
    actions = post.get("actions_summary") or []
    likes = next((action.get("count") for action in actions if action.get("id") == 2), None)
    gone = post.get("user_deleted") or post.get("deleted_at")
    options = [option for poll in post.get("polls") or [] for option in poll.get("options") or []]
    polled = [f"{page.body(o.get('html') or '')}: {o.get('votes')}" for o in options]
    more = fields(state="deleted" if gone else "hidden" if post.get("hidden") else None,
                  poll="; ".join(polled))  # fmt: skip
    pictures = SitePage(page.url, f"<p>{post.get('cooked') or ''}").all(
        "img[src]:not(.emoji):not(.avatar)"
    )
    return replace(
        record, url=_address(page, post.get("topic_slug"), post.get("topic_id"), record),
        counts={**record.counts, **counts(likes=likes)}, fields={**record.fields, **more},
        media=tuple(join(page.url, str(picture["src"])) for picture in pictures),
    )  # fmt: skip


def _address(page: SitePage, slug: object, topic: object, post: Record | None = None) -> str:
    """The address of a topic or of a post in it; empty where the reply does not give its parts."""
    number = f"/{post.counts['number']}" if post and "number" in post.counts else ""
    known = slug and topic and (number or post is None)
    return f"{origin(page.url)}/t/{slug}/{topic}{number}" if known else ""


def _hit(page: SitePage, post: dict[str, Any], topic: dict[str, Any]) -> Record:
    """A result of a search: a post under the title of its topic."""
    record = _discourse_post(page, {**post, "topic_slug": topic.get("slug"), "cooked": ""})
    return replace(record, title=topic.get("title"), text=unescape(post.get("blurb") or ""))


_ITEM = "https://news.ycombinator.com/item?id="
_TITLE = ".titleline > a, a.storylink, td.title > a:not(.morelink)"
_COMMENTS = re.compile(r"(\d+)\s*comments?")
# The site indents replies by a spacer picture of so many pixels a level.
_INDENT = 40
_HACKERNEWS_ENTRY = RecordPaths(
    "story", id="id || objectID", title="title", author="by || author", handle="by || author",
    text="text || story_text || comment_text", published="time || created_at",
    parent="parent || parent_id", markup=True,
    counts={"points": "score || points", "comments": "descendants || num_comments"},
    fields={"target": "url"}, flags={"deleted": "deleted", "dead": "dead"},
)  # fmt: skip


class HackerNews(Platform):
    """`tr.athing` rows with the line below them; comments by indentation."""

    name = "hackernews"
    hosts = ("news.ycombinator.com", "hacker-news.firebaseio.com", "hn.algolia.com")

    def parse(self, page: SitePage) -> Record | None:
        """Read an item, or a listing with its stories as items."""
        if page.json is not None:
            return _from_api(page)
        rows = page.all("tr.athing:not(.comtr)")
        stories = [_story(page, row) for row in rows if page.first(_TITLE, row) is not None]
        if page.path[:1] != ("item",) and page.first(".comment-tree, .fatitem") is None:
            return listing(self.name, page.url, stories, page.text("title"))
        comments = _comments(page)
        if not stories:
            return _one_comment(page, comments)
        text = page.body(page.first(".fatitem .toptext"))
        return replace(stories[0], text=text, items=comments)


def _from_api(page: SitePage) -> Record | None:
    """Read an item with the replies that came with it, or a page of hits."""
    data = page.json if isinstance(page.json, dict) else {}
    if isinstance(data.get("hits"), list):
        hits = (_hackernews_entry(page, hit) for hit in data["hits"] if "objectID" in hit)
        return listing("hackernews", page.url, hits)
    if "id" not in data:
        return None
    return replace(_hackernews_entry(page, data), items=tuple(_replies(page, data)))


def _replies(page: SitePage, data: dict[str, Any]) -> Iterator[Record]:
    stack = list(reversed(data.get("children") or []))
    while stack:
        child = stack.pop()
        yield _hackernews_entry(page, child)
        stack.extend(reversed(child.get("children") or []))


def _hackernews_entry(page: SitePage, data: dict[str, Any]) -> Record:
    record = _HACKERNEWS_ENTRY.read(page, "hackernews", data)
    said = {name: value for name, value in record.fields.items() if name not in ("deleted", "dead")}
    state = next((name for name in ("deleted", "dead") if name in record.fields), None)
    kind = data.get("type") or ("comment" if data.get("comment_text") else "story")
    return replace(record, kind=kind, url=f"{_ITEM}{record.id}",
                   fields={**said, **fields(state=state)})  # fmt: skip


def _story(page: SitePage, row: Tag) -> Record:
    below = row.find_next_sibling("tr")
    below = below if isinstance(below, Tag) else row
    user = page.text(".hnuser", below) or None
    target, title = page.link(_TITLE, row), page.text(_TITLE, row)
    name = attribute(row, "id")
    comments, section = _COMMENTS.search(line(below)), title.partition(" HN")[0]
    # Only job advertisements have neither a poster nor points.
    kind = "story" if user or page.first(".score", below) is not None else "job"
    said = section.lower() if section in ("Ask", "Show", "Tell", "Launch") else None
    other = target if target != f"{_ITEM}{name}" else None
    return Record(
        "hackernews", kind, f"{_ITEM}{name}", id=name, title=title, author=user, handle=user,
        published=_age(page, below),
        counts=counts(points=page.text(".score", below) or None, rank=page.text(".rank", row),
                      comments=comments[1] if comments else None),
        fields=fields(
            target=other, section=said,
            site=page.text(".sitestr", row) or page.text(".comhead", row).strip(" ()"),
        ),
        links=(Link(other, title),) if other else (),
    )  # fmt: skip


def _one_comment(page: SitePage, replies: tuple[Record, ...]) -> Record | None:
    """A comment on a page of its own, with the story that it belongs to."""
    row = page.first(".fatitem tr.athing")
    if row is None:
        return None
    answered = page.link(".par a, .navs a[href^='item']", row).rpartition("id=")[2]
    comment = _comment(page, row, answered.partition("#")[0] or None)
    story = fields(story=page.text(".onstory a", row), story_url=page.link(".onstory a", row))
    return replace(comment, fields={**story, **comment.fields}, items=replies)


def _comments(page: SitePage) -> tuple[Record, ...]:
    found: list[Record] = []
    parents: list[str] = []
    for row in page.all("tr.comtr"):
        width = number(page.attr(".ind img", "width", row)) or 0
        del parents[number(page.attr(".ind", "indent", row)) or width // _INDENT :]
        found.append(_comment(page, row, parents[-1] if parents else None))
        parents.append(attribute(row, "id"))
    return tuple(found)


def _comment(page: SitePage, row: Tag, parent: str | None = None) -> Record:
    name, user = attribute(row, "id"), page.text(".hnuser", row) or None
    words = page.first(".commtext", row)
    gone = page.text(".comment", row).strip(" []") if words is None else ""
    state = "dead" if "[dead]" in page.text(".comhead", row) else gone
    return Record(
        "hackernews", "comment", f"{_ITEM}{name}", id=name, author=user, handle=user,
        text=page.body(words), published=_age(page, row), parent=parent,
        counts=counts(points=page.text(".score", row) or None), fields=fields(state=state),
    )  # fmt: skip


def _age(page: SitePage, node: Tag) -> str | None:
    return page.attr(".age", "title", node).split(" ")[0] or None
