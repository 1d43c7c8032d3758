"""Hacker News: stories, comments and lists, from its pages and both of its APIs."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from browser.extract.platforms import (
    Platform,
    Record,
    RecordPaths,
    SitePage,
    find_objects,
    line,
    listing,
    nested,
    number,
)
from browser.types import Link

if TYPE_CHECKING:
    from bs4 import Tag

_ITEM = "https://news.ycombinator.com/item?id="
_AGE = r".age@title -> ^\S+"
_TITLE = ".titleline > a, a.storylink"
_COMMENTS = re.compile(r"(\d+)\s*comments?")
# The site indents replies with a spacer image this many pixels wide per level.
_INDENT = 40
_API_ITEM = RecordPaths(
    "story", id="id || objectID", url=_ITEM + "{id || objectID}", title="title",
    author="by || author", handle="by || author",
    text="text || story_text || comment_text", published="time || created_at",
    parent="parent || parent_id", markup=True,
    counts={"points": "score || points", "comments": "descendants || num_comments"},
    fields={"target": "url"},
)  # fmt: skip
_STORY = RecordPaths("story", id="@id", url=_ITEM + "{@id}", title=_TITLE)
_POSTER = RecordPaths("poster", author=".hnuser", handle=".hnuser", published=_AGE)
_COMMENT = RecordPaths(
    "comment", id="@id", url=_ITEM + "{@id}", text=".commtext", author=".hnuser", handle=".hnuser",
    published=_AGE, counts={"points": ".score"},
)  # fmt: skip


class HackerNews(Platform):
    """Reads `tr.athing` rows and the rows below them; indentation shows a comment's depth."""

    name = "hackernews"
    hosts = ("news.ycombinator.com", "hacker-news.firebaseio.com", "hn.algolia.com")

    def parse(self, page: SitePage) -> Record | None:
        """Read an item, or a listing with its stories as items."""
        if page.json is not None:
            return _from_api(page, page.json if isinstance(page.json, dict) else {})
        rows = page.soup.select("tr.athing:not(.comtr)")
        stories = [_story(page, row) for row in rows if row.select_one(_TITLE) is not None]
        if page.path[:1] != ("item",) and page.soup.select_one(".comment-tree, .fatitem") is None:
            return listing(self.name, page.url, stories, page.text("title"))
        rows = page.soup.select("tr.comtr")
        comments = nested((_depth(page, row), _comment(page, row)) for row in rows)
        if not stories:
            return _one_comment(page, comments)
        text = page.body(page.soup.select_one(".fatitem .toptext"))
        return replace(stories[0], text=text, items=comments)


def _from_api(page: SitePage, data: dict[str, Any]) -> Record | None:
    """Read an item with the replies that the API returned, or a page of search results."""
    if isinstance(data.get("hits"), list):
        hits = (_api_item(page, hit) for hit in data["hits"] if "objectID" in hit)
        return listing("hackernews", page.url, hits)
    if "id" not in data:
        return None
    replies = find_objects(data.get("children") or [], "id")
    return replace(_api_item(page, data), items=tuple(_api_item(page, reply) for reply in replies))


def _api_item(page: SitePage, data: dict[str, Any]) -> Record:
    return _API_ITEM.read(page, "hackernews", data).updated(
        kind=data.get("type") or ("comment" if data.get("comment_text") else "story"),
        fields={"state": next((name for name in ("deleted", "dead") if data.get(name)), None)},
    )


def _story(page: SitePage, row: Tag) -> Record:
    below = row.find_next_sibling("tr") or row
    poster = _POSTER.read(page, "hackernews", below)
    record, target = _STORY.read(page, "hackernews", row), page.link(_TITLE, row)
    other = target if target != record.url else None
    # Only job advertisements have neither a poster nor points.
    points = page.text(".score", below)
    comments = _COMMENTS.search(line(below))
    section = (record.title or "").partition(" HN")[0]
    return record.updated(
        kind="story" if poster.author or points else "job",
        author=poster.author,
        handle=poster.handle,
        published=poster.published,
        counts={
            "points": points,
            "rank": page.text(".rank", row),
            "comments": comments and comments[1],
        },
        fields={
            "target": other,
            "section": section.lower() if section in ("Ask", "Show", "Tell", "Launch") else None,
            "site": page.text(".sitestr", row) or page.text(".comhead", row).strip(" ()"),
        },
        links=(Link(other, record.title or ""),) if other else (),
    )


def _one_comment(page: SitePage, replies: tuple[Record, ...]) -> Record | None:
    """Read the page of a single comment: the comment, with the story that it belongs to."""
    row = page.soup.select_one(".fatitem tr.athing")
    if row is None:
        return None
    answered = page.link(".navs a[href^='item']", row).rpartition("id=")[2]
    story = {"story": page.text(".onstory a", row), "story_url": page.link(".onstory a", row)}
    comment = _comment(page, row)
    return replace(
        comment,
        parent=answered.partition("#")[0] or None,
        fields={**story, **comment.fields},
        items=replies,
    )


def _depth(page: SitePage, row: Tag) -> int:
    width = number(page.attr(".ind img", "width", row)) or 0
    return number(page.attr(".ind", "indent", row)) or width // _INDENT


def _comment(page: SitePage, row: Tag) -> Record:
    gone = page.text(".comment", row).strip(" []") if row.select_one(".commtext") is None else ""
    state = "dead" if "[dead]" in page.text(".comhead", row) else gone
    return _COMMENT.read(page, "hackernews", row).updated(fields={"state": state})
