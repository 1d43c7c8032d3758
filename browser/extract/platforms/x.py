"""X (Twitter): posts and their conversations, from the web client and from older pages."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from browser.extract.platforms import (
    Platform,
    Record,
    RecordPaths,
    SitePage,
    attribute,
    thread,
)
from browser.types import Link

if TYPE_CHECKING:
    from bs4 import Tag


_STATUS = re.compile(r"/([A-Za-z0-9_]{1,15})/status/(\d+)")
# `Ann (@ann) on X`, `Ann on X: "…" / X`; in other languages, the name is in a different position.
_CARD = re.compile(r"(.{1,80}?)(?: \(@\w{1,15}\))? on (?:X|Twitter)(?::.*)?", re.DOTALL)
_ERROR = "[data-testid=error-detail]"
_TIME = "a[href*='/status/'] > time"
_ARTICLE = "[data-testid=twitterArticleRichTextView]"
# A quoted post is a single clickable block within the post.
_QUOTED = "div[role=link]:has([data-testid=User-Name])"
# The label of the button row has the exact counts, but in English. The buttons' ids are the same in
# every language, and their labels begin with the count.
_COUNT_LABEL = r"[role=group][aria-label]@aria-label -> ([\d.,]+)\s+"
_COUNTS = {
    name: rf"{_COUNT_LABEL}{word} || {css}@aria-label -> \d.* || {css}"
    for name, word, css in (
        ("replies", "repl", "[data-testid=reply]"),
        ("reposts", "re(?:post|tweet)", ":is([data-testid=retweet], [data-testid=unretweet])"),
        ("likes", "like", ":is([data-testid=like], [data-testid=unlike])"),
        ("bookmarks", "bookmark", ":is([data-testid=bookmark], [data-testid=removeBookmark])"),
        ("views", "view", "a[href$='/analytics']"),
        ("quotes", "quote", "a[href$='/quotes']"),
    )
}
_LINK = "a[href*='/status/']:has(> time)@href -> "
_OUTSIDE_TEXT = ":not([data-testid=tweetText] *, [data-testid=User-Name] *)"
_POST = RecordPaths(
    "post", id=rf"{_LINK}/status/(\d+) || :url -> /status/(\d+)",
    url=rf"https://x.com{{{_LINK}/\w+/status/\d+ || :url -> /\w+/status/\d+}} || :url",
    handle=f"[data-testid=User-Name] a[href^='/']@href -> [^/]+"
    rf" || {_LINK}(\w+)/status/ || :url -> (\w+)/status/",
    title="[data-testid=twitter-article-title]", published=f"{_TIME}@datetime || time@datetime",
    # The account that a reply answers, if the client shows it above the text.
    parent=f"a[href^='/'][dir=ltr]{_OUTSIDE_TEXT},"
    f" div[dir=ltr] > a[href^='/']{_OUTSIDE_TEXT} -> ^@.+",
    counts=_COUNTS,
    fields={"context": "[data-testid=socialContext]", "note": "[data-testid=birdwatch-pivot]",
            "poll": "* [data-testid=cardPoll] :is([role=listitem], li, [role=radio])",
            # A picture without a description is called `Image`.
            "media_text": "* [data-testid=tweetPhoto]"
            " img:not([alt=Image], [alt=Bild], [alt='画像'])@alt"},
    flags={"verified": "[data-testid=icon-verified]", "truncated": "[data-testid$=show-more-link]"},
)  # fmt: skip
_STAT = ".ProfileTweet-action--{} [data-tweet-stat-count]@data-tweet-stat-count"
_OLD_POST = RecordPaths(
    "post", ".tweet[data-tweet-id]", id="@data-tweet-id", url="https://x.com{@data-permalink-path}",
    text=".tweet-text", author="@data-name", handle="@data-screen-name",
    published="[data-time]@data-time", media=".AdaptiveMedia-photoContainer img",
    counts={"replies": _STAT.format("reply"), "reposts": _STAT.format("retweet"),
            "likes": _STAT.format("favorite")},
)  # fmt: skip


class X(Platform):
    """Uses `article[data-testid=tweet]` or, in the older layout, `.tweet[data-tweet-id]`."""

    name = "x"
    hosts = ("x.com", "twitter.com")

    def parse(self, page: SitePage) -> Record | None:
        """Read the post in the address, with the page's other posts as items, or a timeline."""
        posts = [_post(page, node) for node in page.soup.select("article[data-testid=tweet]")]
        posts = posts or [
            _OLD_POST.read(page, "x", node).updated(links=_links(node.select_one(".tweet-text")))
            for node in page.soup.select(_OLD_POST.at)
        ]
        status = _STATUS.search("/" + "/".join(page.path))
        if not posts:
            reason = page.text(_ERROR)
            gone = Record(self.name, "unavailable", page.url, fields={"reason": reason})
            return gone if reason else _card(page, status)
        if not status:
            return Record(self.name, "timeline", page.url, items=tuple(posts))
        return thread(posts, status[2])


def _card(page: SitePage, status: re.Match[str] | None) -> Record | None:
    """Read the post of a page without rendered posts: an article, or the data of its card."""
    body, text = page.soup.select_one(_ARTICLE), page.meta["og:description"]
    card = _CARD.fullmatch(page.meta["og:title"])
    if status is None or (body is None and not (card and text)):
        return None
    picture = page.meta["og:image"]
    return Record(
        "x", "post" if body is None else "article", f"https://x.com{status[0]}", id=status[2],
        title=page.text("[data-testid=twitter-article-title]") or None, handle=status[1],
        text=text.strip("“”\" ") if body is None else page.body(body),
        author=card[1].strip() if card else None,
        media=(picture,) if "/profile_images/" not in picture and picture else (),
    )  # fmt: skip


def _post(page: SitePage, node: Tag) -> Record:
    """Read a post's text, pictures, counts and buttons; a quoted post becomes an item."""
    quoted = [block.extract() for block in node.select(_QUOTED) if block is not node][:1]
    article = node.select_one(_ARTICLE)
    body = article or node.select_one("[data-testid=tweetText]")
    name = node.select_one("[data-testid=User-Name] a span, [data-testid=User-Name] span")
    media = [attribute(e, "src") for e in node.select("[data-testid=tweetPhoto] img")]
    media += [attribute(film, "poster") for film in node.select("video[poster]")]
    return _POST.read(page, "x", node).updated(
        kind="article" if article else "post",
        text=_with_emoji(page, body),
        author=_with_emoji(page, name) or None,
        links=_links(body),
        media=tuple(dict.fromkeys(filter(None, media))),
        items=tuple(replace(_post(page, part), kind="quoted") for part in quoted),
    )


def _with_emoji(page: SitePage, body: Tag | None) -> str:
    """Return the text, including the emoji that the client shows as pictures."""
    for picture in body.select("img[alt][src*='/emoji/']") if body else ():
        picture.replace_with(attribute(picture, "alt"))
    return page.body(body)


def _links(body: Tag | None) -> tuple[Link, ...]:
    anchors = body.select("a[href^=http]") if body else ()
    return tuple(Link(attribute(a, "href"), a.get_text().strip()) for a in anchors)
