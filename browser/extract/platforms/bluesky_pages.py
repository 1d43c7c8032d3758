"""Bluesky's pages as its client draws them: threads and feeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.extract.dates import iso_date
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import fields
from browser.extract.tree import text_content

if TYPE_CHECKING:
    from lxml import etree

    from browser.extract.platforms.source import Source

_ITEMS = ("postThreadItem-by-", "feedItem-by-")
_WORDS = "[data-word-wrap], [data-testid=postText]"
_PICTURES = "img[src*='/feed_thumbnail/'], img[src*='/feed_fullsize/']"
_WHEN = "a[href*='/post/'][data-tooltip], a[href*='/post/'][aria-label]"
# The post in front has counts written out; its buttons' labels hold the exact ones.
_REPOSTS = "[data-testid=repostCount-expanded], [data-testid=repostCount]"


def drawn_posts(source: Source) -> list[Record]:
    """Every post on the page, in page order; nothing where the client drew none."""
    kind = next((k for k in _ITEMS if source.first(f"[data-testid^='{k}']") is not None), None)
    return [_post(source, e, kind) for e in source.all(f"[data-testid^='{kind}']")] if kind else []


def _post(source: Source, node: etree._Element, kind: str) -> Record:
    handle = (node.get("data-testid") or "").removeprefix(kind)
    url = source.link(f"a[href*='/profile/{handle}/post/']", node)
    key = url.rpartition("/post/")[2].partition("/")[0]
    when, pictures = source.first(_WHEN, node), source.all(_PICTURES, node)
    said = (when.get("data-tooltip") or when.get("aria-label") or "") if when is not None else ""
    return Record(
        "bluesky", "post", f"https://bsky.app/profile/{handle}/post/{key}" if key else "",
        id=key or None, text=source.body(source.first(_WORDS, node)), handle=handle,
        author=_name(source, node), published=iso_date(said),
        counts=counts(
            replies=source.attr("[data-testid=replyBtn]", "aria-label", node) or None,
            reposts=source.text(_REPOSTS, node) or None,
            quotes=source.text("[data-testid=quoteCount-expanded]", node) or None,
            likes=source.attr("[data-testid=likeBtn]", "aria-label", node) or None,
            bookmarks=source.text("[data-testid=bookmarkCount-expanded]", node) or None,
        ),
        fields=fields(media_text="; ".join(alt for e in pictures if (alt := e.get("alt")))),
        media=tuple(e.get("src") or "" for e in pictures),
    )  # fmt: skip


def _name(source: Source, node: etree._Element) -> str | None:
    """The name shown: the first text in a link to the profile that is no handle."""
    for link in source.all("a[href^='/profile/']:not([href*='/post/'])", node):
        leaves = source.all("[dir=auto]", link) or [link]
        for text in map(text_content, leaves):
            if text and not text.startswith("@"):
                return text
    return None
