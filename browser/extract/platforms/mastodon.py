"""Mastodon: posts with their thread, from the rendered page or the API, on any host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from browser.extract.dates import iso_date
from browser.extract.platforms.base import Platform
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import Source

if TYPE_CHECKING:
    from lxml import etree


_MEDIA = ".media-gallery__item-thumbnail"


class Mastodon(Platform):
    """The web client's `status` classes; `Status` and `Account` entities of the API."""

    name = "mastodon"

    def claims(self, source: Source) -> bool:
        """By the page's application element or state, by the API's path and entities."""
        if source.json is not None:
            return source.path[:1] == ("api",) and isinstance(_entity(source.json), dict)
        if not source.path or not source.path[0].startswith("@"):
            return False
        return source.first("#mastodon, .app-body [data-props], #initial-state") is not None

    def parse(self, source: Source) -> Record | None:
        """Read a post and its thread, or an account."""
        if source.json is not None:
            return _from_api(_entity(source.json))
        main = source.first(".detailed-status")
        if main is None:
            return _from_meta(source)
        handle = source.text(".display-name__account", main).lstrip("@")
        return Record(
            self.name, "post", source.canonical, id=source.path[-1],
            text=source.body(source.first(".status__content__text, .e-content", main)),
            author=source.text(".display-name__html, .p-name", main) or None,
            handle=source.meta.get("profile:username") or handle or None,
            published=iso_date(source.meta.get("og:published_time", "")
                               or source.attr("time", "datetime", main)),
            counts=counts(reposts=source.text(".detailed-status__reblogs", main) or None,
                          likes=source.text(".detailed-status__favorites", main) or None),
            media=tuple(e.get("href", "") for e in source.all(_MEDIA, main)),
            items=tuple(_reply(source, node) for node in source.all(".status[data-id]")),
        )  # fmt: skip


def _reply(source: Source, node: etree._Element) -> Record:
    handle = source.attr("a.status__display-name", "title", node)
    handle = handle or source.text(".display-name__account", node).lstrip("@")
    return Record(
        "mastodon", "reply", source.link("a.status__relative-time", node), id=node.get("data-id"),
        text=source.body(source.first(".status__content__text", node)),
        author=source.text(".display-name__html", node) or None, handle=handle or None,
        published=iso_date(source.attr("time", "datetime", node)),
    )  # fmt: skip


def _from_meta(source: Source) -> Record | None:
    text, title = source.meta.get("og:description", ""), source.meta.get("og:title", "")
    if not text or source.meta.get("og:type") != "article":
        return None
    return Record(
        "mastodon", "post", source.canonical, id=source.path[-1], text=text,
        author=title.partition(" (")[0] or None, handle=source.meta.get("profile:username"),
        published=iso_date(source.meta.get("og:published_time", "")),
    )  # fmt: skip


def _entity(data: Any) -> Any:
    value = data[0] if isinstance(data, list) and data else data
    return value if isinstance(value, dict) and {"acct", "account"} & value.keys() else None


def _from_api(data: dict[str, Any]) -> Record | None:
    body = Source(data.get("url") or "", "").body
    published = iso_date(data.get("created_at") or "")
    if "acct" in data:
        return Record(
            "mastodon", "profile", data.get("url") or "", id=data.get("id"),
            text=body(data.get("note") or ""), published=published, handle=data["acct"],
            author=data.get("display_name") or data.get("username"),
            counts=counts(followers=data.get("followers_count"), posts=data.get("statuses_count"),
                          following=data.get("following_count")),
        )  # fmt: skip
    account = data["account"]
    return Record(
        "mastodon", "post", data.get("url") or data.get("uri") or "", id=data.get("id"),
        text=body(data.get("content") or ""), author=account.get("display_name") or None,
        handle=account.get("acct"), published=published, parent=data.get("in_reply_to_id"),
        modified=iso_date(data.get("edited_at") or ""),
        counts=counts(replies=data.get("replies_count"), reposts=data.get("reblogs_count"),
                      likes=data.get("favourites_count")),
        tags=tuple(tag["name"] for tag in data.get("tags") or []),
        media=tuple(item["url"] for item in data.get("media_attachments") or [] if item.get("url")),
    )  # fmt: skip
