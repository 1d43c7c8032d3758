"""Entities of Mastodon's API: statuses, threads and timelines, accounts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from browser.extract.dates import iso_date
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import Source, fields
from browser.types import Link

if TYPE_CHECKING:
    from collections.abc import Mapping


def entity(data: Any) -> Any:
    """The first status or account of a reply; None where it holds none."""
    values = _rows(data) or [data]
    value = values[0]
    return value if isinstance(value, dict) and {"acct", "account"} & value.keys() else None


def from_api(source: Source) -> Record | None:
    """Read one entity, or a thread or timeline with its posts as items."""
    rows = _rows(source.json)
    if not rows:
        return _record(source.json)
    if len(rows) == 1:
        return _record(rows[0])
    items = tuple(record for row in rows if (record := _record(row)))
    return Record("mastodon", "listing", source.url, items=items)


def _rows(data: Any) -> list[Any]:
    """What a list, a thread (`ancestors`, `descendants`) or a search (`statuses`) holds."""
    if isinstance(data, list):
        return data
    if not isinstance(data, dict) or "account" in data or "acct" in data:
        return []
    keys = ("ancestors", "descendants", "statuses", "accounts")
    return [row for key in keys if isinstance(data.get(key), list) for row in data[key]]


def _record(data: Any) -> Record | None:
    if not isinstance(data, dict):
        return None
    if "acct" in data:
        return _account(data)
    return _status(data) if isinstance(data.get("account"), dict) else None


def _account(data: Mapping[str, Any]) -> Record:
    body = Source(data.get("url") or "", "").body
    more = {
        f"field: {row['name']}": body(row.get("value") or "") for row in data.get("fields") or []
    }
    marks = ("locked", "bot", "suspended", "limited")
    return Record(
        "mastodon", "profile", data.get("url") or "", id=data.get("id"),
        text=body(data.get("note") or ""), handle=data["acct"],
        published=iso_date(data.get("created_at") or ""),
        author=data.get("display_name") or data.get("username"),
        counts=counts(followers=data.get("followers_count"), posts=data.get("statuses_count"),
                      following=data.get("following_count")),
        fields=fields(**more, marks=", ".join(mark for mark in marks if data.get(mark))),
    )  # fmt: skip


def _status(data: Mapping[str, Any]) -> Record:
    """A boost is what it boosts, with whom it came from; a quoted status is its item."""
    booster, boosted = data["account"].get("acct"), data.get("reblog")
    data = boosted if isinstance(boosted, dict) else data
    account, media = data["account"], data.get("media_attachments") or []
    card, poll = data.get("card") or {}, data.get("poll") or {}
    quote = data.get("quote") or {}
    quoted = _record(quote.get("quoted_status", quote) if isinstance(quote, dict) else None)
    options = [f"{o.get('title')}: {o.get('votes_count')}" for o in poll.get("options") or []]
    return Record(
        "mastodon", "post", data.get("url") or data.get("uri") or "", id=data.get("id"),
        text=Source(data.get("url") or "", "").body(data.get("content") or ""),
        author=account.get("display_name") or None, handle=account.get("acct"),
        published=iso_date(data.get("created_at") or ""), parent=data.get("in_reply_to_id"),
        modified=iso_date(data.get("edited_at") or ""),
        counts=counts(replies=data.get("replies_count"), reposts=data.get("reblogs_count"),
                      likes=data.get("favourites_count"), quotes=data.get("quotes_count")),
        fields=fields(
            warning=data.get("spoiler_text"), poll="; ".join(options),
            language=data.get("language"), boosted_by=booster if boosted else None,
            pinned="true" if data.get("pinned") else None,
            visibility=seen if (seen := data.get("visibility")) != "public" else None,
            media_text="; ".join(m["description"] for m in media if m.get("description")),
        ),
        tags=tuple(tag["name"] for tag in data.get("tags") or []),
        links=(Link(card["url"], card.get("title") or ""),) if card.get("url") else (),
        media=tuple(item["url"] for item in media if item.get("url")),
        items=(quoted,) if quoted else (),
    )  # fmt: skip
