"""X (Twitter): posts and their conversation, from the web client and from the pages of before."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from browser.extract.platforms.paths import RecordPaths
from browser.extract.platforms.site import Platform, Record, attribute, fields, line, number
from browser.net.url import join
from browser.types import Link

if TYPE_CHECKING:
    from bs4 import Tag

    from browser.extract.platforms.site import SitePage

_STATUS = re.compile(r"/([A-Za-z0-9_]{1,15})/status/(\d+)")
# `Ann (@ann) on X`, `Ann on X: "…" / X`; in other languages the name stands elsewhere.
_CARD = re.compile(r"(.{1,80}?)(?: \(@\w{1,15}\))? on (?:X|Twitter)(?::.*)?", re.DOTALL)
_GONE = "[data-testid=error-detail], [data-testid=emptyState], [data-testid=empty_state_body_text]"
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
_OLD = RecordPaths(
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
        posts = [_drawn(page, node) for node in page.all("article[data-testid=tweet]")]
        posts = posts or [_old(page, node) for node in page.all(_OLD.at)]
        found = _STATUS.search("/" + "/".join(page.path))
        if not posts:
            reason = page.text(_GONE)
            gone = Record(self.name, "unavailable", page.url, fields=fields(reason=reason))
            return gone if reason else _declared(page, found)
        if not found:
            return Record(self.name, "timeline", page.url, items=tuple(posts))
        head = next((post for post in posts if post.id == found[2]), posts[0])
        rest = tuple(post for post in posts if post is not head)
        return replace(head, items=(*head.items, *rest))


def _declared(page: SitePage, found: re.Match[str] | None) -> Record | None:
    """What a post's page says without a drawn post: an article alone, or its card."""
    body, said = page.first(_ARTICLE), page.meta.get("og:description", "")
    card = _CARD.fullmatch(page.meta.get("og:title", ""))
    if found is None or (body is None and not (card and said)):
        return None
    picture = page.meta.get("og:image", "")
    return Record(
        "x", "post" if body is None else "article", f"https://x.com{found[0]}", id=found[2],
        title=page.text("[data-testid=twitter-article-title]") or None, handle=found[1],
        text=said.strip("“”\" ") if body is None else page.body(body),
        author=card[1].strip() if card else None,
        media=(picture,) if "/profile_images/" not in picture and picture else (),
    )  # fmt: skip


def _old(page: SitePage, node: Tag) -> Record:
    """A post on the pages until 2020."""
    return replace(_OLD.read(page, "x", node), links=_links(page, page.first(".tweet-text", node)))


def _drawn(page: SitePage, node: Tag) -> Record:
    """A post with its text, pictures, counts and buttons; the post that it quotes is its item."""
    quoted = [block.extract() for block in page.all(_QUOTED, node) if block is not node][:1]
    time = page.first(_TIME, node)
    anchor = attribute(time.parent, "href") if time is not None and time.parent else page.url
    found = _STATUS.search(anchor)
    article = page.first(_ARTICLE, node)
    body = article if article is not None else page.first("[data-testid=tweetText]", node)
    handle = page.attr("[data-testid=User-Name] a[href^='/']", "href", node).strip("/")
    pictures = page.all("[data-testid=tweetPhoto] img", node)
    media = [attribute(e, "src") for e in pictures]
    media += [attribute(e, "poster") for e in page.all("video[poster]", node)]
    # A picture without a description is called `Image`.
    said = [
        alt for e in pictures if (alt := attribute(e, "alt")) not in ("", "Image", "Bild", "画像")
    ]
    name = page.first("[data-testid=User-Name] a span, [data-testid=User-Name] span", node)
    record = _POST.read(page, "x", node)
    return replace(
        record, kind="article" if article is not None else "post",
        url=join("https://x.com/", found[0]) if found else page.url, id=found[2] if found else None,
        text=_with_emoji(page, body), author=_with_emoji(page, name) or None,
        handle=handle or (found[1] if found else None), parent=_answered(page, node),
        counts=_counts(page, node), links=_links(page, body),
        media=tuple(dict.fromkeys(filter(None, media))),
        fields={**record.fields, **fields(media_text="; ".join(said))},
        items=tuple(replace(_drawn(page, part), kind="quoted") for part in quoted),
    )  # fmt: skip


def _with_emoji(page: SitePage, body: Tag | None) -> str:
    """Text with the emoji that the client draws as pictures."""
    for picture in page.all("img[alt][src*='/emoji/']", body) if body is not None else []:
        picture.replace_with(attribute(picture, "alt"))
    return page.body(body)


def _answered(page: SitePage, node: Tag) -> str | None:
    """Whom a reply answers, where the client says so above its text."""
    for link in page.all("a[href^='/'][dir=ltr], div[dir=ltr] > a[href^='/']", node):
        inside = link.find_parent(attrs={"data-testid": ["tweetText", "User-Name"]})
        if line(link).startswith("@") and inside is None:
            return line(link)
    return None


def _counts(page: SitePage, node: Tag) -> dict[str, int]:
    label = page.attr("[role=group][aria-label]", "aria-label", node)
    found = {"reposts" if word.startswith("repost") else _LABELLED[word[:3]]: number(amount)
             for amount, word in _LABEL.findall(label)}  # fmt: skip
    for name, css in _BUTTONS.items():
        button = page.first(css, node)
        if name not in found and button is not None:
            found[name] = number(attribute(button, "aria-label")) or number(line(button))
    return {name: value for name, value in found.items() if value is not None}


def _links(page: SitePage, body: Tag | None) -> tuple[Link, ...]:
    anchors = page.all("a[href^=http]", body) if body is not None else []
    return tuple(Link(attribute(e, "href"), e.get_text().strip()) for e in anchors)
