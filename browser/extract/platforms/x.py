"""X (Twitter): posts and their conversation, from the web client and from the pages of before."""

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
    line,
    number,
    thread,
)
from browser.net.url import join
from browser.types import Link

if TYPE_CHECKING:
    from bs4 import Tag


_STATUS = re.compile(r"/([A-Za-z0-9_]{1,15})/status/(\d+)")
# `Ann (@ann) on X`, `Ann on X: "…" / X`; in other languages the name stands elsewhere.
_CARD = re.compile(r"(.{1,80}?)(?: \(@\w{1,15}\))? on (?:X|Twitter)(?::.*)?", re.DOTALL)
_ERROR = "[data-testid=error-detail]"
_TIME = "a[href*='/status/'] > time"
_ARTICLE = "[data-testid=twitterArticleRichTextView]"
# A quoted post is a block within the post that can be clicked as a whole.
_QUOTED = "div[role=link]:has([data-testid=User-Name])"
# The buttons, whose ids are the same in every language; their labels begin with the exact count.
_BUTTONS = {
    "replies": "[data-testid=reply]", "reposts": "[data-testid=retweet], [data-testid=unretweet]",
    "likes": "[data-testid=like], [data-testid=unlike]",
    "bookmarks": "[data-testid=bookmark], [data-testid=removeBookmark]",
    "views": "a[href$='/analytics']",
}  # fmt: skip
_LABEL = re.compile(
    r"([\d.,]+)\s+(quotes?|bookmarks?|views?|likes?|re(?:posts|post|tweets?)|repl\w+)"
)
_LABELLED = {"quo": "quotes", "boo": "bookmarks", "vie": "views", "lik": "likes",
             "rep": "replies", "ret": "reposts"}  # fmt: skip
_POST = RecordPaths(
    "post", published=f"{_TIME}@datetime || time@datetime",
    title="[data-testid=twitter-article-title]",
    fields={"context": "[data-testid=socialContext]", "note": "[data-testid=birdwatch-pivot]",
            "poll": "* [data-testid=cardPoll] :is([role=listitem], li, [role=radio])"},
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
    """`article[data-testid=tweet]`; before it, `.tweet[data-tweet-id]`."""

    name = "x"
    hosts = ("x.com", "twitter.com")

    def parse(self, page: SitePage) -> Record | None:
        """Read the post that the address names, the rest of the page as items; else a timeline."""
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
    """The post of a page without drawn posts: an article alone, or what its card says."""
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
    """A post with its text, pictures, counts and buttons; the post that it quotes is its item."""
    quoted = [block.extract() for block in node.select(_QUOTED) if block is not node][:1]
    time = node.select_one(_TIME)
    status = _STATUS.search(attribute(time.parent, "href") if time is not None else page.url)
    article = node.select_one(_ARTICLE)
    body = article or node.select_one("[data-testid=tweetText]")
    name = node.select_one("[data-testid=User-Name] a span, [data-testid=User-Name] span")
    handle = page.attr("[data-testid=User-Name] a[href^='/']", "href", node).strip("/")
    pictures = node.select("[data-testid=tweetPhoto] img")
    media = [attribute(picture, "src") for picture in pictures]
    media += [attribute(film, "poster") for film in node.select("video[poster]")]
    # A picture without a description is called `Image`.
    described = [
        alt for e in pictures if (alt := attribute(e, "alt")) not in ("", "Image", "Bild", "画像")
    ]
    return _POST.read(page, "x", node).updated(
        kind="article" if article else "post",
        url=join("https://x.com/", status[0]) if status else page.url,
        id=status[2] if status else None,
        text=_with_emoji(page, body),
        author=_with_emoji(page, name) or None,
        handle=handle or (status[1] if status else None),
        parent=_answered(node),
        counts=_counts(page, node),
        links=_links(body),
        media=tuple(dict.fromkeys(filter(None, media))),
        fields={"media_text": "; ".join(described)},
        items=tuple(replace(_post(page, part), kind="quoted") for part in quoted),
    )


def _with_emoji(page: SitePage, body: Tag | None) -> str:
    """Text with the emoji that the client draws as pictures."""
    for picture in body.select("img[alt][src*='/emoji/']") if body else ():
        picture.replace_with(attribute(picture, "alt"))
    return page.body(body)


def _answered(node: Tag) -> str | None:
    """Whom a reply answers, where the client says so above its text."""
    for link in node.select("a[href^='/'][dir=ltr], div[dir=ltr] > a[href^='/']"):
        inside = link.find_parent(attrs={"data-testid": ["tweetText", "User-Name"]})
        if line(link).startswith("@") and inside is None:
            return line(link)
    return None


def _counts(page: SitePage, node: Tag) -> dict[str, int | None]:
    """The counts in the label of the row of buttons, else those of its buttons."""
    label = page.attr("[role=group][aria-label]", "aria-label", node)
    found = {"reposts" if word.startswith("repost") else _LABELLED[word[:3]]: number(amount)
             for amount, word in _LABEL.findall(label)}  # fmt: skip
    for name, css in _BUTTONS.items():
        button = node.select_one(css)
        if name not in found and button is not None:
            found[name] = number(attribute(button, "aria-label")) or number(line(button))
    return found


def _links(body: Tag | None) -> tuple[Link, ...]:
    anchors = body.select("a[href^=http]") if body else ()
    return tuple(Link(attribute(a, "href"), a.get_text().strip()) for a in anchors)
