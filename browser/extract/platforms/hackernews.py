"""Hacker News: listings, and items with their comments, from the site's tables or its APIs."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bs4 import Tag

from browser.extract.platforms.paths import RecordPaths
from browser.extract.platforms.record import Record, listing
from browser.extract.platforms.site import Platform, SitePage, attribute, line
from browser.extract.platforms.values import counts, fields, number
from browser.types import Link

if TYPE_CHECKING:
    from collections.abc import Iterator

_ITEM = "https://news.ycombinator.com/item?id="
_TITLE = ".titleline > a, a.storylink, td.title > a:not(.morelink)"
_COMMENTS = re.compile(r"(\d+)\s*comments?")
# The site indents replies by a spacer picture of so many pixels a level.
_INDENT = 40
_ENTRY = RecordPaths(
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
        hits = (_entry(page, hit) for hit in data["hits"] if "objectID" in hit)
        return listing("hackernews", page.url, hits)
    if "id" not in data:
        return None
    return replace(_entry(page, data), items=tuple(_replies(page, data)))


def _replies(page: SitePage, data: dict[str, Any]) -> Iterator[Record]:
    stack = list(reversed(data.get("children") or []))
    while stack:
        child = stack.pop()
        yield _entry(page, child)
        stack.extend(reversed(child.get("children") or []))


def _entry(page: SitePage, data: dict[str, Any]) -> Record:
    record = _ENTRY.read(page, "hackernews", data)
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
