"""Hacker News: listings, and items with their comments, from the site's tables or its API."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from browser.extract.platforms.base import Platform
from browser.extract.platforms.numbers import counts, number
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import Source, fields
from browser.extract.tree import text_content
from browser.types import Link

if TYPE_CHECKING:
    from lxml import etree

_ITEM = "https://news.ycombinator.com/item?id="
_COMMENTS = re.compile(r"(\d+)\s*comments?")
# The site indents replies by a spacer picture of so many pixels a level.
_INDENT = 40


class HackerNews(Platform):
    """`tr.athing` rows with the line below them; comments by indentation."""

    name = "hackernews"
    hosts = ("news.ycombinator.com", "hacker-news.firebaseio.com")

    def parse(self, source: Source) -> Record | None:
        """Read an item, or a listing with its stories as items."""
        if source.json is not None:
            return _from_api(source.json)
        stories = [_story(source, row) for row in source.all("tr.athing") if _is_story(source, row)]
        if not stories:
            return None
        if source.path[:1] != ("item",) and source.first(".comment-tree, .fatitem") is None:
            title = source.text("title")
            return Record(self.name, "listing", source.url, title=title, items=tuple(stories))
        item = stories[0]
        return Record(
            self.name, "story", f"{_ITEM}{item.id}", id=item.id, title=item.title,
            text=source.body(source.first(".fatitem .toptext")), author=item.author,
            handle=item.handle, published=item.published, counts=item.counts, fields=item.fields,
            links=item.links, items=tuple(_comments(source)),
        )  # fmt: skip


def _is_story(source: Source, row: etree._Element) -> bool:
    return source.first(".titleline > a, a.storylink", row) is not None


def _story(source: Source, row: etree._Element) -> Record:
    below = row.getnext()
    line = below if below is not None else row
    user = source.text(".hnuser", line) or None
    target, title = source.link(".titleline > a", row), source.text(".titleline > a", row)
    comments = _COMMENTS.search(text_content(line))
    return Record(
        "hackernews", "story", f"{_ITEM}{row.get('id')}", id=row.get("id"), title=title,
        author=user, handle=user, published=_age(source, line),
        counts=counts(
            points=source.text(".score", line), rank=source.text(".rank", row),
            comments=comments[1] if comments else None,
        ),
        fields=fields(target=target, site=source.text(".sitestr", row)),
        links=(Link(target, title),),
    )  # fmt: skip


def _comments(source: Source) -> list[Record]:
    found: list[Record] = []
    parents: list[str] = []
    for row in source.all("tr.comtr"):
        width = number(source.attr(".ind img", "width", row)) or 0
        depth = number(source.attr(".ind", "indent", row)) or width // _INDENT
        name, user = row.get("id") or "", source.text(".hnuser", row) or None
        del parents[depth:]
        found.append(
            Record(
                "hackernews", "comment", f"{_ITEM}{name}", id=name, author=user, handle=user,
                text=source.body(source.first(".commtext", row)), published=_age(source, row),
                parent=parents[-1] if parents else None,
                counts=counts(points=source.text(".score", row) or None),
            )
        )  # fmt: skip
        parents.append(name)
    return found


def _age(source: Source, node: etree._Element) -> str | None:
    return source.attr(".age", "title", node).split(" ")[0] or None


def _from_api(item: Any) -> Record | None:
    if not isinstance(item, dict) or "id" not in item:
        return None
    name = str(item["id"])
    return Record(
        "hackernews", item.get("type", "story"), f"{_ITEM}{name}", id=name,
        title=item.get("title"), text=Source("", "").body(item.get("text", "")),
        author=item.get("by"), handle=item.get("by"),
        counts=counts(points=item.get("score"), comments=item.get("descendants")),
        fields=fields(target=item.get("url")),
    )  # fmt: skip
