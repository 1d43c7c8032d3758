"""Hacker News: listings, and items with their comments, from the site's tables or its APIs."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from browser.extract.platforms.base import Platform
from browser.extract.platforms.hackernews_api import ITEM, from_api
from browser.extract.platforms.numbers import counts, number
from browser.extract.platforms.record import Record, listing
from browser.extract.platforms.source import fields
from browser.extract.tree import text_content
from browser.types import Link

if TYPE_CHECKING:
    from lxml import etree

    from browser.extract.platforms.source import Source

_TITLE = ".titleline > a, a.storylink, td.title > a:not(.morelink)"
_COMMENTS = re.compile(r"(\d+)\s*comments?")
# The site indents replies by a spacer picture of so many pixels a level.
_INDENT = 40
_PREFIX = re.compile(r"(Ask|Show|Tell|Launch) HN\b")


class HackerNews(Platform):
    """`tr.athing` rows with the line below them; comments by indentation."""

    name = "hackernews"
    hosts = ("news.ycombinator.com", "hacker-news.firebaseio.com", "hn.algolia.com")

    def parse(self, source: Source) -> Record | None:
        """Read an item, or a listing with its stories as items."""
        if source.json is not None:
            return from_api(source)
        rows = source.all("tr.athing:not(.comtr)")
        stories = [_story(source, row) for row in rows if source.first(_TITLE, row) is not None]
        if source.path[:1] != ("item",) and source.first(".comment-tree, .fatitem") is None:
            return listing(self.name, source.url, stories, source.text("title"))
        comments = tuple(_comments(source))
        if not stories:
            return _one_comment(source, comments)
        text = source.body(source.first(".fatitem .toptext")) or _text_of_old(source)
        return replace(stories[0], text=text, items=(*_options(source), *comments))


def _story(source: Source, row: etree._Element) -> Record:
    below = row.getnext()
    line = below if below is not None else row
    user = source.text(".hnuser", line) or None
    target, title = source.link(_TITLE, row), source.text(_TITLE, row)
    own = f"{ITEM}{row.get('id')}"
    comments, said = _COMMENTS.search(text_content(line)), _PREFIX.match(title)
    # Only job advertisements have neither a poster nor points; only polls have options.
    kind = "story" if user or source.first(".score", line) is not None else "job"
    poll = source.path[:1] == ("item",) and bool(_options(source))
    return Record(
        "hackernews", "poll" if poll else kind, own, id=row.get("id"), title=title,
        author=user, handle=user, published=_age(source, line),
        counts=counts(
            points=source.text(".score", line) or None, rank=source.text(".rank", row),
            comments=comments[1] if comments else None,
        ),
        fields=fields(
            target=target if target != own else None, section=said[1].lower() if said else None,
            site=source.text(".sitestr", row) or source.text(".comhead", row).strip(" ()"),
        ),
        links=(Link(target, title),) if target and target != own else (),
    )  # fmt: skip


def _text_of_old(source: Source) -> str:
    """The text of a question as it stood until 2022: alone in a cell of the head's table."""
    cells = source.all(".fatitem > tr > td:nth-child(2), .fatitem > tbody > tr > td:nth-child(2)")
    spare = [cell for cell in cells if not source.all(f".subtext, form, .comment, {_TITLE}", cell)]
    texts = [source.body(cell) for cell in spare if not (cell.get("class") or "")]
    return next((text for text in texts if text), "")


def _options(source: Source) -> tuple[Record, ...]:
    """What may be voted for in a poll: rows with a text and points, but no poster."""
    rows = [row for row in source.all(".fatitem tr.athing")
            if source.first(".comment", row) is not None
            and source.first(".hnuser", row) is None]  # fmt: skip
    found = []
    for row in rows:
        below = row.getnext()
        points = source.text(".score", below if below is not None else row) or None
        text = source.text(".commtext, .comment", row)
        found.append(Record("hackernews", "option", id=row.get("id"), text=text,
                            counts=counts(points=points)))  # fmt: skip
    return tuple(found)


def _one_comment(source: Source, replies: tuple[Record, ...]) -> Record | None:
    """A comment on a page of its own, with the story that it belongs to."""
    row = source.first(".fatitem tr.athing")
    if row is None:
        return None
    answered = source.link(".par a, .navs a[href^='item']", row).rpartition("id=")[2]
    comment = _comment(source, row, answered.partition("#")[0] or None)
    story = fields(story=source.text(".onstory a", row), story_url=source.link(".onstory a", row))
    return replace(comment, fields={**story, **comment.fields}, items=replies)


def _comments(source: Source) -> list[Record]:
    found: list[Record] = []
    parents: list[str] = []
    for row in source.all("tr.comtr"):
        width = number(source.attr(".ind img", "width", row)) or 0
        depth = number(source.attr(".ind", "indent", row)) or width // _INDENT
        del parents[depth:]
        found.append(_comment(source, row, parents[-1] if parents else None))
        parents.append(row.get("id") or "")
    return found


def _comment(source: Source, row: etree._Element, parent: str | None = None) -> Record:
    name, user = row.get("id") or "", source.text(".hnuser", row) or None
    words = source.first(".commtext", row)
    gone = source.text(".comment", row).strip(" []") if words is None else ""
    state = "dead" if "[dead]" in source.text(".comhead", row) else gone
    return Record(
        "hackernews", "comment", f"{ITEM}{name}", id=name, author=user, handle=user,
        text=source.body(words), published=_age(source, row), parent=parent,
        counts=counts(points=source.text(".score", row) or None), fields=fields(state=state),
    )  # fmt: skip


def _age(source: Source, node: etree._Element) -> str | None:
    return source.attr(".age", "title", node).split(" ")[0] or None
