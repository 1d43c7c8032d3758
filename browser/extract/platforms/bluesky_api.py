"""Replies of Bluesky's public API: threads, feeds, searches, profiles."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from browser.extract.dates import iso_date
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.record import Record, listing
from browser.extract.platforms.source import fields
from browser.types import Link

if TYPE_CHECKING:
    from browser.extract.platforms.source import Source

# Threads are answered as a tree; what is nested deeper than a person would read is left.
_DEEPEST = 60


def from_api(source: Source) -> Record | None:
    """Read a thread, a list of posts, or a profile."""
    data: dict[str, Any] = source.json if isinstance(source.json, dict) else {}
    if "feed" in data or "posts" in data:
        rows = data.get("feed") or data.get("posts") or []
        return listing("bluesky", source.url, filter(None, map(_thread, rows)))
    if "followersCount" in data and "handle" in data:
        return _profile(data)
    return _thread(data.get("thread", data))


def _thread(thread: dict[str, Any], depth: int = _DEEPEST) -> Record | None:
    post: dict[str, Any] = thread.get("post", thread)
    if "$type" in post and post["$type"].endswith(("#notFoundPost", "#blockedPost")):
        gone = "blocked" if post["$type"].endswith("#blockedPost") else "not found"
        return Record("bluesky", "unavailable", id=_key(post), fields=fields(reason=gone))
    record = _post(post)
    if record is None or depth == 0:
        return record
    replies = (_thread(reply, depth - 1) for reply in thread.get("replies") or [])
    reason = (thread.get("reason") or {}).get("by") or {}
    named = {**record.fields, **fields(reposted_by=reason.get("handle"))}
    return replace(record, items=(*record.items, *filter(None, replies)), fields=named)


def _key(post: dict[str, Any]) -> str | None:
    return str(post.get("uri", "")).rpartition("/")[2] or None


def _post(post: dict[str, Any]) -> Record | None:
    value: dict[str, Any] = post.get("record") or post.get("value") or {}
    if "text" not in value:
        return None
    author, key = post.get("author") or {}, _key(post)
    handle = author.get("handle")
    embedded: dict[str, Any] = post.get("embed") or next(iter(post.get("embeds") or []), {})
    media, quoted = _parts(embedded)
    card, images = media.get("external") or {}, media.get("images") or []
    answered = ((value.get("reply") or {}).get("parent") or {}).get("uri", "")
    labels = [label.get("val") for label in post.get("labels") or [] if label.get("val")]
    return Record(
        "bluesky", "post", f"https://bsky.app/profile/{handle}/post/{key}" if handle else "",
        id=key, text=value["text"], author=author.get("displayName") or handle, handle=handle,
        published=iso_date(value.get("createdAt", "")), parent=answered.rpartition("/")[2] or None,
        counts=counts(likes=post.get("likeCount"), replies=post.get("replyCount"),
                      reposts=post.get("repostCount"), quotes=post.get("quoteCount")),
        fields=fields(
            language=", ".join(value.get("langs") or []), labels=", ".join(labels),
            media_text="; ".join(image["alt"] for image in images if image.get("alt")),
        ),
        links=_links(value, card), items=(replace(quoted, kind="quoted"),) if quoted else (),
        media=tuple(u for i in (*images, media) if (u := i.get("fullsize") or i.get("playlist"))),
    )  # fmt: skip


def _parts(embedded: dict[str, Any]) -> tuple[dict[str, Any], Record | None]:
    """What is embedded: pictures, film or card, and the post that is quoted."""
    inner = embedded.get("record") or {}
    inner = inner.get("record", inner) if "author" not in inner else inner
    quoted = _post(inner) if "author" in inner else None
    media = embedded.get("media")
    return (media if isinstance(media, dict) else embedded), quoted


def _links(value: dict[str, Any], card: dict[str, Any]) -> tuple[Link, ...]:
    """The card, and links within the text, whose places are counted in bytes."""
    text = value["text"].encode()
    found = [Link(card["uri"], card.get("title", ""))] if card.get("uri") else []
    for facet in value.get("facets") or []:
        place = facet.get("index") or {}
        words = text[place.get("byteStart", 0) : place.get("byteEnd", 0)].decode(errors="replace")
        found += [Link(f["uri"], words) for f in facet.get("features") or [] if f.get("uri")]
    return tuple({link.url: link for link in reversed(found)}.values())[::-1]


def _profile(data: dict[str, Any]) -> Record:
    handle = data["handle"]
    return Record(
        "bluesky", "profile", f"https://bsky.app/profile/{handle}", id=data.get("did"),
        text=data.get("description") or "", author=data.get("displayName") or handle, handle=handle,
        published=iso_date(data.get("createdAt") or ""),
        counts=counts(followers=data.get("followersCount"), following=data.get("followsCount"),
                      posts=data.get("postsCount")),
    )  # fmt: skip
