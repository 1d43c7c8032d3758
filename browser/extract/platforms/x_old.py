"""Posts on Twitter's pages until 2020."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.extract.platforms.numbers import counts, number
from browser.extract.platforms.record import Record
from browser.extract.platforms.times import moment
from browser.extract.tree import raw_text
from browser.net.url import join
from browser.types import Link

if TYPE_CHECKING:
    from lxml import etree

    from browser.extract.platforms.source import Source

_MEDIA = ".AdaptiveMedia-photoContainer img"
_STAT = ".ProfileTweet-action--{} [data-tweet-stat-count]"


def old_post(source: Source, node: etree._Element) -> Record:
    """Read a `.tweet` element."""
    seconds = number(source.attr("[data-time]", "data-time", node))
    body = source.first(".tweet-text", node)
    anchors = source.all("a[href^=http]", body) if body is not None else []
    values = {name: source.attr(_STAT.format(name), "data-tweet-stat-count", node) or None
              for name in ("reply", "retweet", "favorite")}  # fmt: skip
    return Record(
        "x", "post", join("https://x.com/", node.get("data-permalink-path") or ""),
        id=node.get("data-tweet-id"), text=source.body(body), author=node.get("data-name"),
        handle=node.get("data-screen-name"), published=moment(seconds),
        counts=counts(replies=values["reply"], reposts=values["retweet"], likes=values["favorite"]),
        links=tuple(Link(e.get("href", ""), raw_text(e).strip()) for e in anchors),
        media=tuple(e.get("src", "") for e in source.all(_MEDIA, node)),
    )  # fmt: skip
