"""Reddit: a post with its comments, from its JSON, the old pages, and both newer layouts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from browser.extract.platforms.base import Platform
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.record import Record
from browser.extract.platforms.reddit_pages import read_page
from browser.extract.platforms.source import Source, fields
from browser.extract.platforms.times import moment
from browser.types import Link

if TYPE_CHECKING:
    from collections.abc import Iterator

_SITE = "https://www.reddit.com"


class Reddit(Platform):
    """Listings of `t3` (posts), `t1` (comments) and `t5` (communities) in JSON; pages by layout."""

    name = "reddit"
    hosts = ("reddit.com",)

    def parse(self, source: Source) -> Record | None:
        """Read a post with its comments, or a listing with its posts."""
        if source.json is None:
            return read_page(source)
        things = list(_things(source.json))
        posts = [_record(data) for kind, data in things if kind == "t3"]
        comments = [_record(data, kind) for kind, data in things if kind == "t1"]
        if len(posts) == 1:
            return _with_items(posts[0], comments)
        if not posts and len(comments) == 1:
            return comments[0]
        items = tuple(posts or comments)
        return Record("reddit", "listing", source.url, items=items) if items else None


def _things(data: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Posts and comments in page order, replies after what they answer."""
    stack = [data]
    while stack:
        value = stack.pop()
        if isinstance(value, list):
            stack.extend(reversed(value))
        elif isinstance(value, dict) and isinstance(value.get("data"), dict):
            inner = value["data"]
            if value.get("kind") in {"t1", "t3"}:
                yield value["kind"], inner
                stack.append(inner.get("replies"))
            else:
                stack.append(inner.get("children") or inner.get("things"))


def _record(data: dict[str, Any], kind: str = "t3") -> Record:
    markup = data.get("selftext_html") or data.get("body_html") or ""
    plain = data.get("selftext") or data.get("body") or ""
    text = Source(_SITE, "").body(markup) if markup.startswith("<") else plain
    author, created = data.get("author"), data.get("created_utc")
    edited = data.get("edited")
    target = data.get("url") if not data.get("is_self") else None
    return Record(
        "reddit", "post" if kind == "t3" else "comment",
        _address(data), id=data.get("id"),
        title=data.get("title"), text=text, author=author, handle=author,
        published=moment(created), modified=moment(edited), parent=_parent(data),
        counts=counts(points=data.get("score"), comments=data.get("num_comments")),
        fields=fields(
            community=data.get("subreddit"), target=target, domain=data.get("domain"),
            flair=data.get("link_flair_text"),
        ),
        links=(Link(target, data.get("title") or ""),) if target else (),
    )  # fmt: skip


def _address(data: dict[str, Any]) -> str:
    if data.get("permalink"):
        return f"{_SITE}{data['permalink']}"
    post = str(data.get("link_id") or "").removeprefix("t3_")
    place = f"{_SITE}/r/{data.get('subreddit')}/comments/{post}/_/{data.get('id')}/"
    return place if post else ""


def _parent(data: dict[str, Any]) -> str | None:
    """The comment that is answered; a first-level comment answers none."""
    kind, _, name = str(data.get("parent_id") or "").partition("_")
    return name if kind == "t1" else None


def _with_items(post: Record, comments: list[Record]) -> Record:
    return Record(
        "reddit", "post", post.url, id=post.id, title=post.title, text=post.text,
        author=post.author, handle=post.handle, published=post.published, modified=post.modified,
        counts=post.counts, fields=post.fields, links=post.links, items=tuple(comments),
    )  # fmt: skip
