"""Bluesky: posts and profiles, from the page as drawn or declared, or the public API."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from browser.extract.dates import iso_date
from browser.extract.platforms.base import Platform
from browser.extract.platforms.bluesky_api import from_api
from browser.extract.platforms.bluesky_pages import drawn_posts
from browser.extract.platforms.numbers import number
from browser.extract.platforms.postings import author_of, date_of, node_of, statistics, words_of
from browser.extract.platforms.record import Record

if TYPE_CHECKING:
    from browser.extract.platforms.source import Source

_LABELS = {"Likes": "likes", "Replies": "replies", "Reposts": "reposts", "Quotes": "quotes"}


class Bluesky(Platform):
    """Thread items of the drawn page; `DiscussionForumPosting` and the card's labels before."""

    name = "bluesky"
    hosts = ("bsky.app", "public.api.bsky.app", "api.bsky.app")

    def parse(self, source: Source) -> Record | None:
        """Read a post with what is embedded in it, an API thread, or a profile."""
        if source.json is not None:
            return from_api(source)
        wanted = source.path[3] if source.path[2:3] == ("post",) and len(source.path) > 3 else ""
        posts, declared = drawn_posts(source), _declared(source)
        if declared is not None and wanted in ("", declared.id):
            mine = next((post for post in posts if post.id == declared.id), declared)
            rest = tuple(post for post in posts if post is not mine)
            return replace(declared, items=rest, fields=mine.fields,
                           media=mine.media or declared.media)  # fmt: skip
        if posts and wanted:
            head = next((post for post in posts if post.id == wanted), posts[0])
            return replace(head, items=tuple(post for post in posts if post is not head))
        if posts:
            return Record(self.name, "timeline", source.url, items=tuple(posts))
        return _profile(source)


def _declared(source: Source) -> Record | None:
    """The post that the server wrote into the page; a client that went on leaves it standing."""
    node = node_of(source, "DiscussionForumPosting", "SocialMediaPosting")
    text = words_of(node, "text", "articleBody") or source.meta.get("og:description", "")
    if not node and source.meta.get("og:type") != "article":
        return None
    author, handle = author_of(node)
    url = source.canonical
    picture = source.meta.get("og:image", "")
    return Record(
        "bluesky", "post", url, id=url.rpartition("/")[2], text=text, author=author,
        handle=handle or source.meta.get("profile:username"),
        published=date_of(node, "datePublished")
        or iso_date(source.meta.get("article:published_time", "")),
        counts=statistics(node) or _card_counts(source.meta),
        media=(picture,) if "/avatar/" not in picture and picture else (),
    )  # fmt: skip


def _profile(source: Source) -> Record | None:
    node = node_of(source, "ProfilePage", "Person")
    name, _, handle = source.meta.get("og:title", "").partition(" (@")
    if not node and source.meta.get("og:type") != "profile":
        return None
    return Record(
        "bluesky", "profile", source.canonical, id=source.path[-1] if source.path else None,
        text=source.meta.get("og:description", ""), author=name or None,
        handle=source.meta.get("profile:username") or handle.rstrip(")") or None,
    )  # fmt: skip


def _card_counts(meta: dict[str, str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for place in range(1, 9):
        name = _LABELS.get(meta.get(f"twitter:label{place}", ""))
        amount = number(meta.get(f"twitter:value{place}"))
        if name and amount is not None:
            found[name] = amount
    return found
