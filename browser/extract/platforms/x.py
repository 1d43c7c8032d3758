"""X (Twitter): posts and their conversation, from the web client and from the pages of before."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from browser.extract.dates import iso_date
from browser.extract.platforms.base import Platform
from browser.extract.platforms.numbers import counts, number
from browser.extract.platforms.record import Record
from browser.extract.platforms.times import moment
from browser.net.url import join
from browser.types import Link

if TYPE_CHECKING:
    from lxml import etree

    from browser.extract.platforms.source import Source

_STATUS = re.compile(r"^/([A-Za-z0-9_]{1,15})/status/(\d+)")
_OLD_MEDIA = ".AdaptiveMedia-photoContainer img"
_LABEL = re.compile(
    r"([\d,.]+)\s+(repl(?:y|ies)|reposts?|retweets?|likes?|bookmarks?|views?|quotes?)"
)
_NAMES = {"rep": "replies", "ret": "reposts", "lik": "likes", "boo": "bookmarks",
          "vie": "views", "quo": "quotes"}  # fmt: skip


class X(Platform):
    """`article[data-testid=tweet]`; before it, `.tweet[data-tweet-id]`."""

    name = "x"
    hosts = ("x.com", "twitter.com")

    def parse(self, source: Source) -> Record | None:
        """Read the post that the address names, the rest of the page as items; else a timeline."""
        posts = [_post(source, node) for node in source.all("article[data-testid=tweet]")]
        posts = posts or [_old_post(source, node) for node in source.all(".tweet[data-tweet-id]")]
        found = _STATUS.match("/" + "/".join(source.path))
        if not posts:
            return None
        main = next((post for post in posts if found and post.id == found[2]), None)
        if main is None and not found:
            return Record(self.name, "timeline", source.url, items=tuple(posts))
        head = main or posts[0]
        rest = tuple(post for post in posts if post is not head)
        return Record(
            self.name, head.kind, head.url, id=head.id, title=head.title, text=head.text,
            author=head.author, handle=head.handle, published=head.published, counts=head.counts,
            links=head.links, media=head.media, items=rest,
        )  # fmt: skip


def _post(source: Source, node: etree._Element) -> Record:
    href = source.attr("a[href*='/status/']:has(> time)", "href", node)
    href = href or "/" + "/".join(source.path)
    found = _STATUS.match(href)
    article = source.first("[data-testid=twitterArticleRichTextView]", node)
    body = article if article is not None else source.first("[data-testid=tweetText]", node)
    handle = source.attr("[data-testid=User-Name] a[href^='/']", "href", node).strip("/")
    label = source.attr("[role=group][aria-label]", "aria-label", node)
    return Record(
        "x", "article" if article is not None else "post", join("https://x.com/", href),
        id=found[2] if found else None, text=source.body(body),
        title=source.text("[data-testid=twitter-article-title]", node) or None,
        author=source.text("[data-testid=User-Name] a span", node) or None,
        handle=handle or (found[1] if found else None),
        published=iso_date(source.attr("time", "datetime", node)),
        counts=_counts(label) or _buttons(source, node), links=_links(source, body),
        media=tuple(e.get("src", "") for e in source.all("[data-testid=tweetPhoto] img", node)),
    )  # fmt: skip


def _counts(label: str) -> dict[str, int]:
    found = {_name(word): number(amount) for amount, word in _LABEL.findall(label)}
    return {name: value for name, value in found.items() if value is not None}


def _name(word: str) -> str:
    return "reposts" if word.startswith("repost") else _NAMES[word[:3]]


def _buttons(source: Source, node: etree._Element) -> dict[str, int]:
    read = {name: source.text(f"[data-testid={name}], [data-testid=un{name}]", node) or None
            for name in ("reply", "retweet", "like", "bookmark")}  # fmt: skip
    return counts(replies=read["reply"], reposts=read["retweet"], likes=read["like"],
                  bookmarks=read["bookmark"])  # fmt: skip


def _links(source: Source, body: etree._Element | None) -> tuple[Link, ...]:
    anchors = source.all("a[href^=http]", body) if body is not None else []
    return tuple(Link(e.get("href", ""), "".join(map(str, e.itertext())).strip()) for e in anchors)


def _old_post(source: Source, node: etree._Element) -> Record:
    seconds = number(source.attr("[data-time]", "data-time", node))
    body = source.first(".tweet-text", node)
    stat = ".ProfileTweet-action--{} [data-tweet-stat-count]"
    values = {name: source.attr(stat.format(name), "data-tweet-stat-count", node) or None
              for name in ("reply", "retweet", "favorite")}  # fmt: skip
    return Record(
        "x", "post", join("https://x.com/", node.get("data-permalink-path") or ""),
        id=node.get("data-tweet-id"), text=source.body(body), author=node.get("data-name"),
        handle=node.get("data-screen-name"), published=moment(seconds),
        counts=counts(replies=values["reply"], reposts=values["retweet"], likes=values["favorite"]),
        links=_links(source, body),
        media=tuple(e.get("src", "") for e in source.all(_OLD_MEDIA, node)),
    )  # fmt: skip
