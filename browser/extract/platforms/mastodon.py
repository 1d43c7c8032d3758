"""Mastodon: posts, threads and accounts on any instance, from its API and its pages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from browser.extract.platforms import Platform, Record, RecordPaths, SitePage, parse_date
from browser.types import Link

_APPLICATION = "#mastodon, .app-body [data-props], #initial-state"
_FIELDS = {
    "warning": ".content-warning, .status__content__spoiler, .p-summary",
    "poll": "* .poll li",
    "media_text": "* .media-gallery__item-thumbnail img@alt",
}
_TEXT = ".status__content__text, .e-content"
_POST = RecordPaths(
    "post", text=_TEXT, author=".display-name__html, .p-name",
    handle=".display-name__account -> [^@].*", published="time@datetime",
    modified=".detailed-status__edited time@datetime",
    counts={"reposts": ".detailed-status__reblogs", "likes": ".detailed-status__favorites"},
    fields=_FIELDS, media=".media-gallery__item-thumbnail@href",
)  # fmt: skip
_REPLY = RecordPaths(
    "reply", ".status[data-id]", id="@data-id", url="a.status__relative-time", text=_TEXT,
    author=".display-name__html",
    handle="a.status__display-name@title || .display-name__account -> [^@].*",
    published="time@datetime", fields=_FIELDS,
)  # fmt: skip
_API_ACCOUNT = RecordPaths(
    "profile", id="id", url="url", text="note", markup=True, handle="acct",
    author="display_name || username", published="created_at",
    counts={"followers": "followers_count", "posts": "statuses_count",
            "following": "following_count"},
)  # fmt: skip
_API_STATUS = RecordPaths(
    "post", id="id", url="url || uri", text="content", markup=True, author="account.display_name",
    handle="account.acct", published="created_at", modified="edited_at", parent="in_reply_to_id",
    counts={"replies": "replies_count", "reposts": "reblogs_count", "likes": "favourites_count",
            "quotes": "quotes_count"},
    fields={"warning": "spoiler_text", "language": "language",
            "media_text": "* media_attachments.description"},
    flags={"pinned": "pinned"}, tags="tags.name", media="media_attachments.url",
)  # fmt: skip


class Mastodon(Platform):
    """Uses the web client's `status` classes, and `Status` and `Account` entities from the API."""

    name = "mastodon"
    marks = (b'"mastodon"', b"'mastodon'", b"=mastodon", b"initial-state", b'"reblogs_count"')

    def claims(self, page: SitePage) -> bool:
        """Recognise pages by the application element or state, API replies by path and entities."""
        if page.json is not None:
            first = (_rows(page.json) or [page.json])[0]
            known = isinstance(first, dict) and not {"acct", "account"}.isdisjoint(first)
            return page.path[:1] == ("api",) and known
        if not page.path or not page.path[0].startswith("@"):
            return False
        return page.soup.select_one(_APPLICATION) is not None

    def parse(self, page: SitePage) -> Record | None:
        """Read a post and its thread, or an account."""
        if page.json is not None:
            rows = _rows(page.json) or [page.json]
            items = tuple(record for row in rows if (record := _entity(page, row)))
            if len(rows) == 1:
                return items[0] if items else None
            return Record(self.name, "listing", page.url, items=items)
        main, meta = page.soup.select_one(".detailed-status"), page.meta
        if main is None:
            # The data that the server puts into a page's head, before the application runs.
            kind = {"profile": "profile", "article": "post"}.get(meta["og:type"])
            needed = meta["og:title" if kind == "profile" else "og:description"]
            return page.declared(self.name, kind) if kind and needed else None
        record = _POST.read(page, self.name, main)
        return replace(
            record, url=page.canonical, id=page.path[-1],
            handle=meta["profile:username"] or record.handle,
            published=parse_date(meta["og:published_time"]) or record.published,
            items=_REPLY.records(page, self.name),
        )  # fmt: skip


def _rows(data: Any) -> list[Any]:
    """The entries of a list, a thread (`ancestors`, `descendants`) or a search (`statuses`)."""
    if isinstance(data, list):
        return data
    if not isinstance(data, dict) or "account" in data or "acct" in data:
        return []
    keys = ("ancestors", "descendants", "statuses", "accounts")
    return [row for key in keys if isinstance(data.get(key), list) for row in data[key]]


def _entity(page: SitePage, data: Any) -> Record | None:
    """Read an account or a status: a boost as the boosted status, a quoted status as an item."""
    if not isinstance(data, dict):
        return None
    if "acct" in data:
        rows = data.get("fields") or []
        marks = (mark for mark in ("locked", "bot", "suspended", "limited") if data.get(mark))
        return _API_ACCOUNT.read(page, "mastodon", data).updated(
            fields={f"field: {row['name']}": page.body(row.get("value") or "") for row in rows}
            | {"marks": ", ".join(marks)}
        )
    if not isinstance(data.get("account"), dict):
        return None
    booster, boosted = data["account"].get("acct"), data.get("reblog")
    data = boosted if isinstance(boosted, dict) else data
    card, quote, seen = data.get("card") or {}, data.get("quote") or {}, data.get("visibility")
    quoted = _entity(page, quote.get("quoted_status", quote) if isinstance(quote, dict) else None)
    options = (data.get("poll") or {}).get("options") or []
    return _API_STATUS.read(page, "mastodon", data).updated(
        fields={
            "poll": "; ".join(f"{o.get('title')}: {o.get('votes_count')}" for o in options),
            "boosted_by": booster if boosted else None,
            "visibility": seen if seen != "public" else None,
        },
        items=(quoted,) if quoted else (),
        links=(Link(card["url"], card.get("title") or ""),) if card.get("url") else (),
    )
