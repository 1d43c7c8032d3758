"""Reddit: a post with its comments, from its JSON, the old pages, and both newer layouts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from browser.extract.platforms.base import Platform
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.record import Record, listing
from browser.extract.platforms.reddit_old import account
from browser.extract.platforms.reddit_pages import read_page
from browser.extract.platforms.source import Source, fields
from browser.extract.platforms.times import moment
from browser.types import Link

if TYPE_CHECKING:
    from collections.abc import Iterator

_SITE = "https://www.reddit.com"
_MARKS = {"stickied": "pinned", "locked": "locked", "archived": "archived", "over_18": "nsfw",
          "spoiler": "spoiler", "distinguished": "distinguished"}  # fmt: skip


class Reddit(Platform):
    """Listings of `t3` (posts), `t1` (comments) and `t5` (communities) in JSON; pages by layout."""

    name = "reddit"
    hosts = ("reddit.com",)

    def parse(self, source: Source) -> Record | None:
        """Read a post with its comments, or a listing with its posts."""
        if source.json is None:
            return read_page(source)
        if isinstance(source.json, dict) and source.json.get("reason") and "error" in source.json:
            said = fields(reason=source.json["reason"], status=source.json["error"])
            return Record(self.name, "unavailable", source.url, fields=said)
        things = list(_things(source.json))
        posts = [_post(data) for kind, data in things if kind == "t3"]
        comments = [_comment(data) for kind, data in things if kind == "t1"]
        if len(posts) == 1:
            return replace(posts[0], items=tuple(comments))
        if not posts and len(comments) == 1:
            return comments[0]
        return listing(self.name, source.url, posts or comments)


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


def _post(data: dict[str, Any]) -> Record:
    target = data.get("url") if not data.get("is_self") else None
    crossed = (data.get("crosspost_parent_list") or [{}])[0]
    author = account(data.get("author"))
    return Record(
        "reddit", "post", _address(data), id=data.get("id"), title=data.get("title"),
        text=_written(data, "selftext"), author=author, handle=author,
        published=moment(data.get("created_utc")), modified=moment(data.get("edited")),
        counts=counts(points=data.get("score"), comments=data.get("num_comments"),
                      crossposts=data.get("num_crossposts") or None),
        fields=fields(
            community=data.get("subreddit"), target=target, domain=data.get("domain"),
            flair=data.get("link_flair_text"), ratio=data.get("upvote_ratio"),
            crosspost_of=_address(crossed) or None, poll=_poll(data.get("poll_data")),
            marks=", ".join(mark for key, mark in _MARKS.items() if data.get(key)),
            removed=data.get("removed_by_category"),
        ),
        links=(Link(target, data.get("title") or ""),) if target else (), media=_media(data),
    )  # fmt: skip


def _comment(data: dict[str, Any]) -> Record:
    author = account(data.get("author"))
    return Record(
        "reddit", "comment", _address(data), id=data.get("id"), text=_written(data, "body"),
        author=author, handle=author, published=moment(data.get("created_utc")),
        modified=moment(data.get("edited")), parent=_parent(data),
        counts=counts(points=None if data.get("score_hidden") else data.get("score")),
        fields=fields(community=data.get("subreddit"),
                      marks=", ".join(m for key, m in _MARKS.items() if data.get(key))),
    )  # fmt: skip


def _written(data: dict[str, Any], key: str) -> str:
    markup, plain = data.get(f"{key}_html") or "", data.get(key) or ""
    return Source(_SITE, "").body(markup) if markup.startswith("<") else plain


def _poll(poll: dict[str, Any] | None) -> str:
    options = (poll or {}).get("options") or []
    rows = ((option.get("text", ""), option.get("vote_count")) for option in options)
    return "; ".join(text if votes is None else f"{text}: {votes}" for text, votes in rows)


def _media(data: dict[str, Any]) -> tuple[str, ...]:
    """A gallery's pictures in its order, a film, or the picture that is the post."""
    parts = data.get("media_metadata") or {}
    order = [item.get("media_id") for item in (data.get("gallery_data") or {}).get("items") or []]
    shown = [(parts.get(name) or {}).get("s") or {} for name in order or parts]
    gallery = [str(part.get("u") or part.get("mp4") or "") for part in shown]
    film = ((data.get("media") or {}).get("reddit_video") or {}).get("fallback_url")
    alone = data.get("url") if data.get("post_hint") == "image" else None
    return tuple(address for address in (*gallery, film, alone) if address)


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
