"""Reddit's pages: the old ones first, then `t1_` and `t3_` blocks, and `shreddit-` elements."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from browser.extract.dates import iso_date
from browser.extract.platforms.numbers import counts, number
from browser.extract.platforms.record import Record, listing
from browser.extract.platforms.reddit_old import (
    OLD_POST,
    account,
    bare,
    old_page,
    old_post,
    place,
)
from browser.extract.platforms.source import Source, fields
from browser.net.url import strip_tracking

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml import etree

_ELEMENT_MARKS = {"stickied": "pinned", "pinned": "pinned", "locked": "locked", "nsfw": "nsfw",
                  "spoiler": "spoiler"}  # fmt: skip
_VOTES = "[id^=vote-arrows] div"


def read_page(source: Source) -> Record | None:
    """Read a post's page by whichever layout it has, or a list of posts."""
    if source.path[2:3] != ("comments",):
        return _listing(source)
    return old_page(source) or _elements(source) or _blocks(source)


def _listing(source: Source) -> Record | None:
    posts = [old_post(source, node) for node in source.all(OLD_POST)]
    posts = posts or [_element_post(source, node) for node in source.all("shreddit-post")]
    return listing("reddit", source.url, posts, source.text("title"))


def _elements(source: Source) -> Record | None:
    post = source.first("shreddit-post")
    if post is None:
        return None
    comments = tuple(_element_comment(source, node) for node in source.all("shreddit-comment"))
    return replace(_element_post(source, post), items=comments)


def _element_post(source: Source, post: etree._Element) -> Record:
    author = account(post.get("author"))
    body = source.first("[slot=text-body], [property='schema:articleBody']", post)
    return Record(
        "reddit", "post", place(post.get("permalink")), id=bare(post.get("id")),
        title=post.get("post-title") or source.text("h1"), text=source.body(body), author=author,
        handle=author, published=iso_date(post.get("created-timestamp") or ""),
        counts=counts(points=post.get("score"), comments=post.get("comment-count")),
        fields=fields(
            community=(post.get("subreddit-prefixed-name") or "").removeprefix("r/"),
            target=post.get("content-href"), type=post.get("post-type"),
            flair=source.text("shreddit-post-flair", post), domain=post.get("domain"),
            marks=", ".join(mark for name, mark in _ELEMENT_MARKS.items() if name in post.attrib),
        ),
        media=tuple(dict.fromkeys(e.get("src") or "" for e in source.all("gallery-carousel img"
                                                                         "[src]", post))),
    )  # fmt: skip


def _element_comment(source: Source, node: etree._Element) -> Record:
    author = account(node.get("author"))
    return Record(
        "reddit", "comment", place(node.get("permalink")), id=bare(node.get("thingid")),
        text=source.body(source.first("[slot=comment]", node)), author=author, handle=author,
        published=iso_date(source.attr("time", "datetime", node)),
        parent=bare(node.get("parentid")), counts=counts(points=node.get("score")),
    )  # fmt: skip


def _blocks(source: Source) -> Record | None:
    post = source.first("[id^=t3_][data-testid=post-container], div[id^=t3_]")
    title = source.text("h1") or source.text("title").rpartition(" : ")[0]
    if post is None or not title:
        return None
    link = source.text("[data-click-id=comments]", post)
    author = _account(source, post)
    return Record(
        "reddit", "post", source.canonical, id=bare(post.get("id")), title=title,
        text=source.body(source.first("[data-click-id=text]", post)), author=author, handle=author,
        counts=counts(points=source.text(_VOTES, post) or None, comments=link or None),
        fields=fields(community=source.path[1]), items=tuple(_block_comments(source)),
    )  # fmt: skip


def _block_comments(source: Source) -> Iterator[Record]:
    parents: list[str] = []
    for block in source.all("div[id^=t1_].Comment, div.Comment[class*=t1_], div[id^=t1_]"):
        name = bare(block.get("id"))
        body = source.first("[data-testid=comment]", block)
        if name is None or "-" in name or body is None:
            continue
        depth = (number(source.text("span", block)) or 1) - 1
        del parents[depth:]
        author = _account(source, block)
        yield Record(
            "reddit", "comment", id=name,
            url=strip_tracking(source.link("a[id^=CommentTopMeta--Created]", block)),
            text=source.body(body), author=author, handle=author,
            parent=parents[-1] if parents else None,
            counts=counts(points=source.text(_VOTES, block) or None),
        )  # fmt: skip
        parents.append(name)


def _account(source: Source, node: etree._Element) -> str | None:
    found = source.attr("a[href^='/user/'], a[href*='reddit.com/user/']", "href", node)
    return found.rstrip("/").rpartition("/user/")[2] or None
