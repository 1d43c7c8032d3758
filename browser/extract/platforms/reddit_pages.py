"""Reddit's pages: `.thing` of the old ones, `t1_`/`t3_` blocks and `shreddit-` elements later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.extract.dates import iso_date
from browser.extract.platforms.numbers import counts, number
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import Source, fields
from browser.net.url import strip_tracking

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml import etree

_SITE = "https://www.reddit.com"
_VOTES = "[id^=vote-arrows] div"


def read_page(source: Source) -> Record | None:
    """Read a post's page by whichever layout it has; None for any other page."""
    if source.path[2:3] != ("comments",):
        return None
    return _old(source) or _elements(source) or _blocks(source)


def _old(source: Source) -> Record | None:
    post = source.first(".thing.link")
    if post is None:
        return None
    author = post.get("data-author")
    return Record(
        "reddit", "post", f"{_SITE}{post.get('data-permalink')}", id=source.path[3],
        title=source.text("a.title", post), text=source.body(source.first(".usertext-body", post)),
        author=author, handle=author, published=iso_date(source.attr("time", "datetime", post)),
        counts=counts(points=post.get("data-score"), comments=post.get("data-comments-count")),
        fields=fields(community=post.get("data-subreddit"), target=post.get("data-url")),
        items=tuple(_old_comment(source, thing) for thing in source.all(".thing.comment")),
    )  # fmt: skip


def _old_comment(source: Source, thing: etree._Element) -> Record:
    outer = (
        node for node in thing.iterancestors() if "comment" in (node.get("class") or "").split()
    )
    parent = next(outer, None)
    entry = source.first(".entry", thing)
    return Record(
        "reddit", "comment", f"{_SITE}{thing.get('data-permalink')}",
        id=_bare(thing.get("data-fullname")),
        text=source.body(source.first(".usertext-body", entry)), author=thing.get("data-author"),
        handle=thing.get("data-author"), published=iso_date(source.attr("time", "datetime", entry)),
        parent=_bare(parent.get("data-fullname")) if parent is not None else None,
        counts=counts(points=source.text(".score.unvoted", entry) or None),
    )  # fmt: skip


def _elements(source: Source) -> Record | None:
    post = source.first("shreddit-post")
    if post is None:
        return None
    author = post.get("author")
    body = source.first("[slot=text-body], [property='schema:articleBody']", post)
    return Record(
        "reddit", "post", f"{_SITE}{post.get('permalink')}", id=_bare(post.get("id")),
        title=post.get("post-title") or source.text("h1"), text=source.body(body), author=author,
        handle=author, published=iso_date(post.get("created-timestamp") or ""),
        counts=counts(points=post.get("score"), comments=post.get("comment-count")),
        fields=fields(community=(post.get("subreddit-prefixed-name") or "").removeprefix("r/"),
                      target=post.get("content-href")),
        items=tuple(_element_comment(source, node) for node in source.all("shreddit-comment")),
    )  # fmt: skip


def _element_comment(source: Source, node: etree._Element) -> Record:
    return Record(
        "reddit", "comment", f"{_SITE}{node.get('permalink')}", id=_bare(node.get("thingid")),
        text=source.body(source.first("[slot=comment]", node)), author=node.get("author"),
        handle=node.get("author"), published=iso_date(source.attr("time", "datetime", node)),
        parent=_bare(node.get("parentid")), counts=counts(points=node.get("score")),
    )  # fmt: skip


def _blocks(source: Source) -> Record | None:
    post = source.first("[id^=t3_][data-testid=post-container], div[id^=t3_]")
    title = source.text("h1") or source.text("title").rpartition(" : ")[0]
    if post is None or not title:
        return None
    link = source.text("[data-click-id=comments]", post)
    author = _account(source, post)
    return Record(
        "reddit", "post", source.canonical, id=_bare(post.get("id")), title=title,
        text=source.body(source.first("[data-click-id=text]", post)), author=author, handle=author,
        counts=counts(points=source.text(_VOTES, post) or None, comments=link or None),
        fields=fields(community=source.path[1]), items=tuple(_block_comments(source)),
    )  # fmt: skip


def _block_comments(source: Source) -> Iterator[Record]:
    parents: list[str] = []
    for block in source.all("div[id^=t1_].Comment, div.Comment[class*=t1_], div[id^=t1_]"):
        name = _bare(block.get("id"))
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


def _bare(fullname: str | None) -> str | None:
    return fullname.partition("_")[2] if fullname else None
