"""A post of X as the web client draws it, with what it quotes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from browser.extract.dates import iso_date
from browser.extract.platforms.numbers import number
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import fields
from browser.extract.tree import raw_text, text_content
from browser.net.url import join
from browser.types import Link

if TYPE_CHECKING:
    from lxml import etree

    from browser.extract.platforms.source import Source

STATUS = re.compile(r"/([A-Za-z0-9_]{1,15})/status/(\d+)")
_TIME = "a[href*='/status/'] > time"
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


def drawn_post(source: Source, node: etree._Element) -> Record:
    """A post with its text, pictures, counts and buttons; the post that it quotes is its item."""
    quoted = _taken_out(source, node)
    link = source.first(_TIME, node)
    time = link if link is not None else source.first("time", node)
    anchor = link.getparent() if link is not None else None
    found = STATUS.search(anchor.get("href") or "" if anchor is not None else source.url)
    article = source.first("[data-testid=twitterArticleRichTextView]", node)
    body = article if article is not None else source.first("[data-testid=tweetText]", node)
    handle = source.attr("[data-testid=User-Name] a[href^='/']", "href", node).strip("/")
    return Record(
        "x", "article" if article is not None else "post",
        join("https://x.com/", found[0]) if found else source.url, id=found[2] if found else None,
        text=_with_emoji(source, body), author=_name(source, node), published=_iso(time),
        title=source.text("[data-testid=twitter-article-title]", node) or None,
        handle=handle or (found[1] if found else None), parent=_answered(source, node),
        counts=_counts(source, node), links=_links(source, body), media=_media(source, node),
        fields=fields(
            context=source.text("[data-testid=socialContext]", node), poll=_poll(source, node),
            media_text="; ".join(_alternatives(source, node)),
            note=source.text("[data-testid=birdwatch-pivot]", node),
            verified="true" if source.all("[data-testid=icon-verified]", node) else None,
            truncated="true" if source.all("[data-testid$=show-more-link]", node) else None,
        ),
        items=tuple(replace(drawn_post(source, part), kind="quoted") for part in quoted),
    )  # fmt: skip


def _taken_out(source: Source, node: etree._Element) -> list[etree._Element]:
    """The posts that a post quotes, out of the tree: what is theirs is not the post's."""
    found = [block for block in source.all(_QUOTED, node) if block is not node][:1]
    for block in found:
        parent = block.getparent()
        if parent is not None:
            parent.remove(block)
    return found


def _name(source: Source, node: etree._Element) -> str | None:
    name = source.first("[data-testid=User-Name] a span, [data-testid=User-Name] span", node)
    return (_with_emoji(source, name) if name is not None else "") or None


def _with_emoji(source: Source, body: etree._Element | None) -> str:
    """Text with the emoji that the client draws as pictures."""
    for picture in source.all("img[alt][src*='/emoji/']", body) if body is not None else []:
        picture.tag, picture.text = "span", picture.get("alt")
    return source.body(body)


def _iso(time: etree._Element | None) -> str | None:
    return iso_date(time.get("datetime") or "") if time is not None else None


def _answered(source: Source, node: etree._Element) -> str | None:
    """Whom a reply answers, where the client says so above its text."""
    for link in source.all("a[href^='/'][dir=ltr], div[dir=ltr] > a[href^='/']", node):
        if text_content(link).startswith("@") and not _inside(link, ("tweetText", "User-Name")):
            return text_content(link)
    return None


def _inside(node: etree._Element, names: tuple[str, ...]) -> bool:
    return any(parent.get("data-testid") in names for parent in node.iterancestors())


def _counts(source: Source, node: etree._Element) -> dict[str, int]:
    label = source.attr("[role=group][aria-label]", "aria-label", node)
    found = {"reposts" if word.startswith("repost") else _LABELLED[word[:3]]: number(amount)
             for amount, word in _LABEL.findall(label)}  # fmt: skip
    for name, css in _BUTTONS.items():
        for button in source.all(css, node)[:1] if name not in found else []:
            found[name] = number(button.get("aria-label")) or number(text_content(button))
    return {name: value for name, value in found.items() if value is not None}


def _links(source: Source, body: etree._Element | None) -> tuple[Link, ...]:
    anchors = source.all("a[href^=http]", body) if body is not None else []
    return tuple(Link(e.get("href", ""), raw_text(e).strip()) for e in anchors)


def _media(source: Source, node: etree._Element) -> tuple[str, ...]:
    pictures = [e.get("src") or "" for e in source.all("[data-testid=tweetPhoto] img", node)]
    films = [e.get("poster") or "" for e in source.all("video[poster]", node)]
    return tuple(dict.fromkeys(address for address in pictures + films if address))


def _alternatives(source: Source, node: etree._Element) -> list[str]:
    """Descriptions of pictures; a picture without one is called `Image`."""
    said = [e.get("alt") or "" for e in source.all("[data-testid=tweetPhoto] img", node)]
    return [text for text in said if text and text not in ("Image", "Bild", "Imagen", "画像")]


def _poll(source: Source, node: etree._Element) -> str:
    card = source.first("[data-testid=cardPoll]", node)
    rows = source.all("[role=listitem], li, [role=radio]", card) if card is not None else []
    return "; ".join(text_content(row) for row in rows)
