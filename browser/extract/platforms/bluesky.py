"""Bluesky: posts and profiles, from the page's JSON-LD and meta elements or the public API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from browser.extract.dates import iso_date
from browser.extract.platforms.base import Platform
from browser.extract.platforms.numbers import counts, number
from browser.extract.platforms.postings import author_of, date_of, node_of, statistics, words_of
from browser.extract.platforms.record import Record
from browser.types import Link

if TYPE_CHECKING:
    from browser.extract.platforms.source import Source

_LABELS = {"Likes": "likes", "Replies": "replies", "Reposts": "reposts", "Quotes": "quotes"}


class Bluesky(Platform):
    """`DiscussionForumPosting`; counts also stand in the card's labels."""

    name = "bluesky"
    hosts = ("bsky.app", "public.api.bsky.app", "api.bsky.app")

    def parse(self, source: Source) -> Record | None:
        """Read a post with what is embedded in it, an API thread, or a profile."""
        if source.json is not None:
            return _from_api(source.json)
        node = node_of(source, "DiscussionForumPosting", "SocialMediaPosting")
        text = words_of(node, "text", "articleBody") or source.meta.get("og:description", "")
        if not node and source.meta.get("og:type") != "article":
            return None
        author, handle = author_of(node)
        url = source.canonical
        picture = source.meta.get("og:image", "")
        return Record(
            self.name, "post", url, id=url.rpartition("/")[2], text=text, author=author,
            handle=handle or source.meta.get("profile:username"),
            published=date_of(node, "datePublished")
            or iso_date(source.meta.get("article:published_time", "")),
            counts=statistics(node) or _card_counts(source.meta),
            media=(picture,) if "/avatar/" not in picture and picture else (),
        )  # fmt: skip


def _card_counts(meta: dict[str, str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for place in range(1, 9):
        name = _LABELS.get(meta.get(f"twitter:label{place}", ""))
        amount = number(meta.get(f"twitter:value{place}"))
        if name and amount is not None:
            found[name] = amount
    return found


def _from_api(data: Any) -> Record | None:
    thread: dict[str, Any] = data.get("thread", data) if isinstance(data, dict) else {}
    post: dict[str, Any] = thread.get("post", thread)
    value: dict[str, Any] = post.get("record") or post.get("value") or {}
    if "text" not in value:
        return None
    author: dict[str, Any] = post.get("author") or {}
    key = str(post.get("uri", "")).rpartition("/")[2]
    handle = author.get("handle")
    replies = [_from_api(reply) for reply in thread.get("replies", [])]
    embedded = post.get("embed") or {}
    card, images = embedded.get("external") or {}, embedded.get("images") or []
    return Record(
        "bluesky", "post", f"https://bsky.app/profile/{handle}/post/{key}" if handle else "",
        id=key or None, text=value["text"], author=author.get("displayName") or handle,
        handle=handle, published=iso_date(value.get("createdAt", "")),
        counts=counts(likes=post.get("likeCount"), replies=post.get("replyCount"),
                      reposts=post.get("repostCount"), quotes=post.get("quoteCount")),
        links=(Link(card["uri"], card.get("title", "")),) if card.get("uri") else (),
        media=tuple(image["fullsize"] for image in images if image.get("fullsize")),
        items=tuple(reply for reply in replies if reply),
    )  # fmt: skip
