"""Mastodon: posts with their thread, from the rendered page or the API, on any host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.extract.dates import iso_date
from browser.extract.platforms.base import Platform
from browser.extract.platforms.mastodon_api import entity, from_api
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import fields
from browser.extract.tree import text_content

if TYPE_CHECKING:
    from lxml import etree

    from browser.extract.platforms.source import Source

_MEDIA = ".media-gallery__item-thumbnail"
_WORDS = ".status__content__text, .e-content"
_WARNING = ".content-warning p, .content-warning, .status__content__spoiler, .p-summary"
_APPLICATION = "#mastodon, .app-body [data-props], #initial-state"


class Mastodon(Platform):
    """The web client's `status` classes; `Status` and `Account` entities of the API."""

    name = "mastodon"
    marks = (b'"mastodon"', b"'mastodon'", b"=mastodon", b"initial-state", b'"reblogs_count"')

    def claims(self, source: Source) -> bool:
        """By the page's application element or state, by the API's path and entities."""
        if source.json is not None:
            return source.path[:1] == ("api",) and isinstance(entity(source.json), dict)
        if not source.path or not source.path[0].startswith("@"):
            return False
        return source.first(_APPLICATION) is not None

    def parse(self, source: Source) -> Record | None:
        """Read a post and its thread, or an account."""
        if source.json is not None:
            return from_api(source)
        main = source.first(".detailed-status")
        if main is None:
            return _from_meta(source)
        handle = source.text(".display-name__account", main).lstrip("@")
        replies = [_reply(source, node) for node in source.all(".status[data-id]")]
        return Record(
            self.name, "post", source.canonical, id=source.path[-1],
            text=source.body(source.first(_WORDS, main)),
            author=source.text(".display-name__html, .p-name", main) or None,
            handle=source.meta.get("profile:username") or handle or None,
            published=iso_date(source.meta.get("og:published_time", "")
                               or source.attr("time", "datetime", main)),
            modified=iso_date(source.attr(".detailed-status__edited time, [data-edited]",
                                          "datetime", main)),
            counts=counts(reposts=source.text(".detailed-status__reblogs", main) or None,
                          likes=source.text(".detailed-status__favorites", main) or None),
            fields=_facts(source, main),
            media=tuple(e.get("href", "") for e in source.all(_MEDIA, main)), items=tuple(replies),
        )  # fmt: skip


def _facts(source: Source, node: etree._Element) -> dict[str, str]:
    """Content warning, poll and descriptions of pictures."""
    warning = source.text(_WARNING, node)
    rows = [text_content(row) for row in source.all(".poll li", node)]
    said = [e.get("alt") or "" for e in source.all(f"{_MEDIA} img", node)]
    return fields(warning=warning, poll="; ".join(rows), media_text="; ".join(filter(None, said)))


def _reply(source: Source, node: etree._Element) -> Record:
    handle = source.attr("a.status__display-name", "title", node)
    handle = handle or source.text(".display-name__account", node).lstrip("@")
    return Record(
        "mastodon", "reply", source.link("a.status__relative-time", node), id=node.get("data-id"),
        text=source.body(source.first(_WORDS, node)),
        author=source.text(".display-name__html", node) or None, handle=handle or None,
        published=iso_date(source.attr("time", "datetime", node)), fields=_facts(source, node),
    )  # fmt: skip


def _from_meta(source: Source) -> Record | None:
    meta = source.meta
    text, title = meta.get("og:description", ""), meta.get("og:title", "")
    kind = meta.get("og:type")
    handle, name = meta.get("profile:username"), title.partition(" (")[0] or None
    if kind == "profile" and title:
        return Record("mastodon", "profile", source.canonical, id=source.path[-1], text=text,
                      author=name, handle=handle)  # fmt: skip
    if kind != "article" or not text:
        return None
    return Record(
        "mastodon", "post", source.canonical, id=source.path[-1], text=text, author=name,
        handle=handle, published=iso_date(meta.get("og:published_time", "")),
    )  # fmt: skip
