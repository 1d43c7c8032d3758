"""Bluesky: posts, threads and profiles, from its API and its pages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from browser.extract.platforms import (
    Platform,
    Record,
    RecordPaths,
    SitePage,
    listing,
    thread,
)
from browser.types import Link

if TYPE_CHECKING:
    from bs4 import Tag


_LABELS = {"Likes": "likes", "Replies": "replies", "Reposts": "reposts", "Quotes": "quotes"}
# Threads are returned as a tree; replies nested more deeply than this are left out.
_MAX_DEPTH = 60
_LAST_SEGMENT = " -> [^/]+$"
_API_POST = RecordPaths(
    "post", id=f"uri{_LAST_SEGMENT}", url=f"https://bsky.app/profile/{{author.handle}}/post/{{uri{_LAST_SEGMENT}}}",
    author="author.displayName || author.handle", handle="author.handle",
    published="record.createdAt || value.createdAt",
    parent=f"record.reply.parent.uri{_LAST_SEGMENT} || value.reply.parent.uri{_LAST_SEGMENT}",
    counts={"likes": "likeCount", "replies": "replyCount", "reposts": "repostCount",
            "quotes": "quoteCount"},
    fields={"labels": "labels.val", "language": "record.langs || value.langs"},
)  # fmt: skip
_API_PROFILE = RecordPaths(
    "profile", id="did", url="https://bsky.app/profile/{handle}", text="description",
    author="displayName || handle", handle="handle", published="createdAt",
    counts={"followers": "followersCount", "following": "followsCount", "posts": "postsCount"},
)  # fmt: skip
_PROFILE = "a[href^='/profile/']:not([href*='/post/'])"
_PICTURES = "img[src*='/feed_thumbnail/'], img[src*='/feed_fullsize/']"
# The main post shows its counts as text; the labels of its buttons contain the exact numbers.
_POST = RecordPaths(
    "post", text="[data-word-wrap], [data-testid=postText]", media=_PICTURES,
    # The displayed name is the first text in a profile link that is not a handle.
    author=f"{_PROFILE} [dir=auto], {_PROFILE}:not(:has([dir=auto])) -> ^[^@].*",
    handle="@data-testid -> -by-(.+)",
    published="a[href*='/post/'][data-tooltip]@data-tooltip"
    " || a[href*='/post/'][aria-label]@aria-label",
    counts={
        "replies": "[data-testid=replyBtn]@aria-label", "likes": "[data-testid=likeBtn]@aria-label",
        "reposts": "[data-testid=repostCount-expanded] || [data-testid=repostCount]",
        "quotes": "[data-testid=quoteCount-expanded]",
        "bookmarks": "[data-testid=bookmarkCount-expanded]",
    },
    fields={"media_text": f"* {_PICTURES}@alt"},
)  # fmt: skip


class Bluesky(Platform):
    """Uses thread items on rendered pages, or else `DiscussionForumPosting` and card labels."""

    name = "bluesky"
    hosts = ("bsky.app", "public.api.bsky.app", "api.bsky.app")

    def parse(self, page: SitePage) -> Record | None:
        """Read a post with its embeds, an API thread, or a profile."""
        if page.json is not None:
            return _from_api(page, page.json if isinstance(page.json, dict) else {})
        wanted = page.path[3] if page.path[2:3] == ("post",) and len(page.path) > 3 else ""
        nodes = page.soup.select("[data-testid^='postThreadItem-by-']")
        nodes = nodes or page.soup.select("[data-testid^='feedItem-by-']")
        posts, declared = [_post(page, node) for node in nodes], _declared_post(page)
        if declared is not None and wanted in ("", declared.id):
            mine = next((post for post in posts if post.id == declared.id), declared)
            rest = tuple(post for post in posts if post is not mine)
            return replace(declared, items=rest, fields=mine.fields,
                           media=mine.media or declared.media)  # fmt: skip
        if posts and wanted:
            return thread(posts, wanted)
        if posts:
            return Record(self.name, "timeline", page.url, items=tuple(posts))
        profile = page.linked_data("ProfilePage", "Person") or page.meta["og:type"] == "profile"
        return page.declared(self.name, "profile") if profile else None


def _from_api(page: SitePage, data: dict[str, Any]) -> Record | None:
    """Read a thread, a list of posts, or a profile."""
    if "feed" in data or "posts" in data:
        rows = data.get("feed") or data.get("posts") or []
        return listing("bluesky", page.url, (_thread(page, row) for row in rows))
    if "followersCount" in data and "handle" in data:
        return _API_PROFILE.read(page, "bluesky", data)
    return _thread(page, data.get("thread", data))


def _thread(page: SitePage, node: dict[str, Any], depth: int = _MAX_DEPTH) -> Record | None:
    post: dict[str, Any] = node.get("post", node)
    kind = str(post.get("$type", "")).rpartition("#")[2]
    if kind in ("notFoundPost", "blockedPost"):
        reason = "blocked" if kind == "blockedPost" else "not found"
        key = str(post.get("uri") or "").rpartition("/")[2] or None
        return Record("bluesky", "unavailable", id=key, fields={"reason": reason})
    record = _api_post(page, post)
    if record is None or depth == 0:
        return record
    replies = (_thread(page, reply, depth - 1) for reply in node.get("replies") or [])
    by = ((node.get("reason") or {}).get("by") or {}).get("handle")
    return record.updated(items=(*record.items, *filter(None, replies)), fields={"reposted_by": by})


def _api_post(page: SitePage, post: dict[str, Any]) -> Record | None:
    value: dict[str, Any] = post.get("record") or post.get("value") or {}
    if "text" not in value:
        return None
    embedded: dict[str, Any] = post.get("embed") or next(iter(post.get("embeds") or []), {})
    # The embedded content: pictures, a video or a card, and the quoted post.
    inner = embedded.get("record") or {}
    inner = inner.get("record", inner) if "author" not in inner else inner
    quoted = _api_post(page, inner) if "author" in inner else None
    media = embedded["media"] if isinstance(embedded.get("media"), dict) else embedded
    images = media.get("images") or []
    return _API_POST.read(page, "bluesky", post).updated(
        text=value["text"],
        fields={"media_text": "; ".join(image["alt"] for image in images if image.get("alt"))},
        links=_links(value, media.get("external") or {}),
        items=(replace(quoted, kind="quoted"),) if quoted else (),
        media=tuple(u for i in (*images, media) if (u := i.get("fullsize") or i.get("playlist"))),
    )


def _links(value: dict[str, Any], card: dict[str, Any]) -> tuple[Link, ...]:
    """The card's link and the links in the text, whose positions are counted in bytes."""
    text = value["text"].encode()
    found = [Link(card["uri"], card.get("title", ""))] if card.get("uri") else []
    for facet in value.get("facets") or []:
        place = facet.get("index") or {}
        words = text[place.get("byteStart", 0) : place.get("byteEnd", 0)].decode(errors="replace")
        found += [Link(f["uri"], words) for f in facet.get("features") or [] if f.get("uri")]
    return tuple({link.url: link for link in reversed(found)}.values())[::-1]


def _declared_post(page: SitePage) -> Record | None:
    """The post that the server put into the page; it remains there if the client opens another."""
    types = ("DiscussionForumPosting", "SocialMediaPosting")
    if not page.linked_data(*types) and page.meta["og:type"] != "article":
        return None
    # Its ShareAction counts reposts and quotes together; the card separates them.
    labels = {_LABELS.get(page.meta[f"twitter:label{n}"]): n for n in range(1, 9)}
    return page.declared("bluesky", "post", *types).updated(
        counts={name: page.meta[f"twitter:value{n}"] for name, n in labels.items() if name}
    )


def _post(page: SitePage, node: Tag) -> Record:
    """Read a post that the client rendered on the page."""
    record = _POST.read(page, "bluesky", node)
    profile = f"/profile/{record.handle}"
    key = page.attr(f"a[href*='{profile}/post/']", "href", node).rpartition("/post/")[2]
    key = key.partition("/")[0]
    url = f"https://bsky.app{profile}/post/{key}" if key else ""
    return replace(record, id=key or None, url=url)
