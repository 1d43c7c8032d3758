"""Social networks: Bluesky and Mastodon by their APIs and pages, LinkedIn by its public pages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from browser.extract.dates import iso_date
from browser.extract.platforms.paths import RecordPaths
from browser.extract.platforms.site import (
    Platform,
    Record,
    attribute,
    author_of,
    counts,
    fields,
    line,
    listing,
    node_date,
    node_of,
    statistics,
    words_of,
)
from browser.types import Link

if TYPE_CHECKING:
    from bs4 import Tag

    from browser.extract.platforms.site import SitePage

_LABELS = {"Likes": "likes", "Replies": "replies", "Reposts": "reposts", "Quotes": "quotes"}
_ITEMS = ("postThreadItem-by-", "feedItem-by-")
# Threads are answered as a tree; what is nested deeper than a person would read is left.
_DEEPEST = 60
_BLUESKY_POST = RecordPaths(
    "post", id="uri -> [^/]+$", url="https://bsky.app/profile/{author.handle}/post/{uri -> [^/]+$}",
    author="author.displayName || author.handle", handle="author.handle",
    counts={"likes": "likeCount", "replies": "replyCount", "reposts": "repostCount",
            "quotes": "quoteCount"},
    fields={"labels": "labels.val"},
)  # fmt: skip
_PROFILE = RecordPaths(
    "profile", id="did", url="https://bsky.app/profile/{handle}", text="description",
    author="displayName || handle", handle="handle", published="createdAt",
    counts={"followers": "followersCount", "following": "followsCount", "posts": "postsCount"},
)  # fmt: skip
_WHEN = "a[href*='/post/'][data-tooltip]@data-tooltip || a[href*='/post/'][aria-label]@aria-label"
_PICTURES = "img[src*='/feed_thumbnail/'], img[src*='/feed_fullsize/']"
# The post in front has counts written out; its buttons' labels hold the exact ones.
_DRAWN = RecordPaths(
    "post", text="[data-word-wrap], [data-testid=postText]", published=_WHEN, media=_PICTURES,
    counts={
        "replies": "[data-testid=replyBtn]@aria-label", "likes": "[data-testid=likeBtn]@aria-label",
        "reposts": "[data-testid=repostCount-expanded] || [data-testid=repostCount]",
        "quotes": "[data-testid=quoteCount-expanded]",
        "bookmarks": "[data-testid=bookmarkCount-expanded]",
    },
    fields={"media_text": f"* {_PICTURES}@alt"},
)  # fmt: skip


class Bluesky(Platform):
    """Thread items of the drawn page; `DiscussionForumPosting` and the card's labels before."""

    name = "bluesky"
    hosts = ("bsky.app", "public.api.bsky.app", "api.bsky.app")

    def parse(self, page: SitePage) -> Record | None:
        """Read a post with what is embedded in it, an API thread, or a profile."""
        if page.json is not None:
            return _from_api(page)
        wanted = page.path[3] if page.path[2:3] == ("post",) and len(page.path) > 3 else ""
        posts, declared = _drawn_posts(page), _bluesky_declared(page)
        if declared is not None and wanted in ("", declared.id):
            mine = next((post for post in posts if post.id == declared.id), declared)
            rest = tuple(post for post in posts if post is not mine)
            return replace(declared, items=rest, fields=mine.fields,
                           media=mine.media or declared.media)  # fmt: skip
        if posts and wanted:
            head = next((post for post in posts if post.id == wanted), posts[0])
            return replace(head, items=tuple(post for post in posts if post is not head))
        if posts:
            return Record(self.name, "timeline", page.url, items=tuple(posts))
        return _profile(page)


def _from_api(page: SitePage) -> Record | None:
    """Read a thread, a list of posts, or a profile."""
    data: dict[str, Any] = page.json if isinstance(page.json, dict) else {}
    if "feed" in data or "posts" in data:
        rows = (_thread(page, row) for row in data.get("feed") or data.get("posts") or [])
        return listing("bluesky", page.url, filter(None, rows))
    if "followersCount" in data and "handle" in data:
        return _PROFILE.read(page, "bluesky", data)
    return _thread(page, data.get("thread", data))


def _thread(page: SitePage, thread: dict[str, Any], depth: int = _DEEPEST) -> Record | None:
    post: dict[str, Any] = thread.get("post", thread)
    kind = str(post.get("$type", "")).rpartition("#")[2]
    if kind in ("notFoundPost", "blockedPost"):
        gone = fields(reason="blocked" if kind == "blockedPost" else "not found")
        return Record("bluesky", "unavailable", id=_key(post.get("uri")), fields=gone)
    record = _post(page, post)
    if record is None or depth == 0:
        return record
    replies = (_thread(page, reply, depth - 1) for reply in thread.get("replies") or [])
    by = ((thread.get("reason") or {}).get("by") or {}).get("handle")
    return replace(record, items=(*record.items, *filter(None, replies)),
                   fields={**record.fields, **fields(reposted_by=by)})  # fmt: skip


def _key(uri: object) -> str | None:
    return str(uri or "").rpartition("/")[2] or None


def _post(page: SitePage, post: dict[str, Any]) -> Record | None:
    value: dict[str, Any] = post.get("record") or post.get("value") or {}
    if "text" not in value:
        return None
    embedded: dict[str, Any] = post.get("embed") or next(iter(post.get("embeds") or []), {})
    # What is embedded: pictures, film or card, and the post that is quoted.
    inner = embedded.get("record") or {}
    inner = inner.get("record", inner) if "author" not in inner else inner
    quoted = _post(page, inner) if "author" in inner else None
    media = embedded["media"] if isinstance(embedded.get("media"), dict) else embedded
    images = media.get("images") or []
    record = _BLUESKY_POST.read(page, "bluesky", post)
    said = "; ".join(image["alt"] for image in images if image.get("alt"))
    more = fields(language=", ".join(value.get("langs") or []), media_text=said)
    return replace(
        record, text=value["text"], published=iso_date(value.get("createdAt", "")),
        parent=_key(((value.get("reply") or {}).get("parent") or {}).get("uri")),
        fields={**record.fields, **more}, links=_links(value, media.get("external") or {}),
        items=(replace(quoted, kind="quoted"),) if quoted else (),
        media=tuple(u for i in (*images, media) if (u := i.get("fullsize") or i.get("playlist"))),
    )  # fmt: skip


def _links(value: dict[str, Any], card: dict[str, Any]) -> tuple[Link, ...]:
    """The card, and links within the text, whose places are counted in bytes."""
    text = value["text"].encode()
    found = [Link(card["uri"], card.get("title", ""))] if card.get("uri") else []
    for facet in value.get("facets") or []:
        place = facet.get("index") or {}
        words = text[place.get("byteStart", 0) : place.get("byteEnd", 0)].decode(errors="replace")
        found += [Link(f["uri"], words) for f in facet.get("features") or [] if f.get("uri")]
    return tuple({link.url: link for link in reversed(found)}.values())[::-1]


def _bluesky_declared(page: SitePage) -> Record | None:
    """The post that the server wrote into the page; a client that went on leaves it standing."""
    node, meta = node_of(page, "DiscussionForumPosting", "SocialMediaPosting"), page.meta
    if not node and meta.get("og:type") != "article":
        return None
    author, handle = author_of(node)
    picture = meta.get("og:image", "")
    labels = {_LABELS.get(meta.get(f"twitter:label{n}", "")): n for n in range(1, 9)}
    shown = counts(**{name: meta.get(f"twitter:value{n}") for name, n in labels.items() if name})
    return Record(
        "bluesky", "post", page.canonical, id=_key(page.canonical), author=author,
        text=words_of(node, "text", "articleBody") or meta.get("og:description", ""),
        handle=handle or meta.get("profile:username"),
        published=node_date(node, "datePublished")
        or iso_date(meta.get("article:published_time", "")),
        # Its ShareAction counts reposts and quotes together; the card tells them apart.
        counts={**statistics(node), **shown},
        media=(picture,) if "/avatar/" not in picture and picture else (),
    )  # fmt: skip


def _profile(page: SitePage) -> Record | None:
    name, _, handle = page.meta.get("og:title", "").partition(" (@")
    if not node_of(page, "ProfilePage", "Person") and page.meta.get("og:type") != "profile":
        return None
    return Record(
        "bluesky", "profile", page.canonical, id=page.path[-1] if page.path else None,
        text=page.meta.get("og:description", ""), author=name or None,
        handle=page.meta.get("profile:username") or handle.rstrip(")") or None,
    )  # fmt: skip


def _drawn_posts(page: SitePage) -> list[Record]:
    """Every post that the client drew on the page, in page order."""
    kind = next((k for k in _ITEMS if page.first(f"[data-testid^='{k}']") is not None), None)
    return [_drawn(page, e, kind) for e in page.all(f"[data-testid^='{kind}']")] if kind else []


def _drawn(page: SitePage, node: Tag, kind: str) -> Record:
    handle = attribute(node, "data-testid").removeprefix(kind)
    url = page.link(f"a[href*='/profile/{handle}/post/']", node)
    key = url.rpartition("/post/")[2].partition("/")[0]
    # The name shown: the first text in a link to the profile that is no handle.
    links = page.all("a[href^='/profile/']:not([href*='/post/'])", node)
    texts = (line(leaf) for link in links for leaf in page.all("[dir=auto]", link) or [link])
    return replace(
        _DRAWN.read(page, "bluesky", node), id=key or None, handle=handle,
        url=f"https://bsky.app/profile/{handle}/post/{key}" if key else "",
        author=next((text for text in texts if text and not text.startswith("@")), None),
    )  # fmt: skip


_APPLICATION = "#mastodon, .app-body [data-props], #initial-state"
_SAID = {
    "warning": ".content-warning p, .content-warning, .status__content__spoiler, .p-summary",
    "poll": "* .poll li",
    "media_text": "* .media-gallery__item-thumbnail img@alt",
}
_TEXT = ".status__content__text, .e-content"
_MAIN = RecordPaths(
    "post", text=_TEXT, author=".display-name__html, .p-name",
    handle=".display-name__account -> [^@].*", published="time@datetime",
    modified=".detailed-status__edited time, [data-edited]@datetime",
    counts={"reposts": ".detailed-status__reblogs", "likes": ".detailed-status__favorites"},
    fields=_SAID, media=".media-gallery__item-thumbnail@href",
)  # fmt: skip
_REPLY = RecordPaths(
    "reply", ".status[data-id]", id="@data-id", url="a.status__relative-time", text=_TEXT,
    author=".display-name__html",
    handle="a.status__display-name@title || .display-name__account -> [^@].*",
    published="time@datetime", fields=_SAID,
)  # fmt: skip
_MASTODON_ACCOUNT = RecordPaths(
    "profile", id="id", url="url", text="note", markup=True, handle="acct",
    author="display_name || username", published="created_at",
    counts={"followers": "followers_count", "posts": "statuses_count",
            "following": "following_count"},
)  # fmt: skip
_STATUS = RecordPaths(
    "post", id="id", url="url || uri", text="content", markup=True, author="account.display_name",
    handle="account.acct", published="created_at", modified="edited_at", parent="in_reply_to_id",
    counts={"replies": "replies_count", "reposts": "reblogs_count", "likes": "favourites_count",
            "quotes": "quotes_count"},
    fields={"warning": "spoiler_text", "language": "language",
            "media_text": "* media_attachments.description"},
    flags={"pinned": "pinned"}, tags="tags.name", media="media_attachments.url",
)  # fmt: skip


class Mastodon(Platform):
    """The web client's `status` classes; `Status` and `Account` entities of the API."""

    name = "mastodon"
    marks = (b'"mastodon"', b"'mastodon'", b"=mastodon", b"initial-state", b'"reblogs_count"')

    def claims(self, page: SitePage) -> bool:
        """By the page's application element or state, by the API's path and entities."""
        if page.json is not None:
            first = (_rows(page.json) or [page.json])[0]
            known = isinstance(first, dict) and not {"acct", "account"}.isdisjoint(first)
            return page.path[:1] == ("api",) and known
        if not page.path or not page.path[0].startswith("@"):
            return False
        return page.first(_APPLICATION) is not None

    def parse(self, page: SitePage) -> Record | None:
        """Read a post and its thread, or an account."""
        if page.json is not None:
            rows = _rows(page.json) or [page.json]
            items = tuple(record for row in rows if (record := _entity(page, row)))
            if len(rows) == 1:
                return items[0] if items else None
            return Record(self.name, "listing", page.url, items=items)
        main = page.first(".detailed-status")
        if main is None:
            return _mastodon_declared(page)
        record, meta = _MAIN.read(page, self.name, main), page.meta
        return replace(
            record, url=page.canonical, id=page.path[-1],
            handle=meta.get("profile:username") or record.handle,
            published=iso_date(meta.get("og:published_time", "")) or record.published,
            items=_REPLY.records(page, self.name),
        )  # fmt: skip


def _mastodon_declared(page: SitePage) -> Record | None:
    """What the server writes into a page's head before its application runs."""
    meta, kind = page.meta, page.meta.get("og:type")
    text, title = meta.get("og:description", ""), meta.get("og:title", "")
    if not (kind == "profile" and title) and not (kind == "article" and text):
        return None
    return Record(
        "mastodon", "profile" if kind == "profile" else "post", page.canonical, id=page.path[-1],
        text=text, author=title.partition(" (")[0] or None, handle=meta.get("profile:username"),
        published=iso_date(meta.get("og:published_time", "")),
    )  # fmt: skip


def _rows(data: Any) -> list[Any]:
    """What a list, a thread (`ancestors`, `descendants`) or a search (`statuses`) holds."""
    if isinstance(data, list):
        return data
    if not isinstance(data, dict) or "account" in data or "acct" in data:
        return []
    keys = ("ancestors", "descendants", "statuses", "accounts")
    return [row for key in keys if isinstance(data.get(key), list) for row in data[key]]


def _entity(page: SitePage, data: Any) -> Record | None:
    """An account or a status: a boost is what it boosts, a quoted status its item."""
    if not isinstance(data, dict):
        return None
    if "acct" in data:
        record = _MASTODON_ACCOUNT.read(page, "mastodon", data)
        more = {f"field: {row['name']}": page.body(row.get("value") or "")
                for row in data.get("fields") or []}  # fmt: skip
        marks = [mark for mark in ("locked", "bot", "suspended", "limited") if data.get(mark)]
        return replace(record, fields=fields(**more, marks=", ".join(marks)))
    if not isinstance(data.get("account"), dict):
        return None
    booster, boosted = data["account"].get("acct"), data.get("reblog")
    data = boosted if isinstance(boosted, dict) else data
    record, card = _STATUS.read(page, "mastodon", data), data.get("card") or {}
    quote = data.get("quote") or {}
    quoted = _entity(page, quote.get("quoted_status", quote) if isinstance(quote, dict) else None)
    options = (data.get("poll") or {}).get("options") or []
    seen = data.get("visibility")
    more = fields(
        poll="; ".join(f"{o.get('title')}: {o.get('votes_count')}" for o in options),
        boosted_by=booster if boosted else None, visibility=seen if seen != "public" else None,
    )  # fmt: skip
    return replace(
        record, fields={**record.fields, **more}, items=(quoted,) if quoted else (),
        links=(Link(card["url"], card.get("title") or ""),) if card.get("url") else (),
    )  # fmt: skip


_LINKEDIN_ACCOUNT = "a[href*='/in/'], a[href*='/company/']@href -> /(?:in|company)/([^/?]+)"
_HEAD = ".base-main-card, [data-test-id=main-feed-activity-card__entity-lockup]"
_COMMENT = RecordPaths(
    "comment", "section.comment", text=".comment__message, .comment__text, .comment__body",
    author=".comment__actor-name, .comment__author", handle=_LINKEDIN_ACCOUNT,
    counts={"likes": ".comment__likes-count, .comment__reactions-count"},
    fields={"headline": ".comment__author-headline", "age": ".comment__duration-since, time"},
)  # fmt: skip
_LINKEDIN_POST = RecordPaths(
    "post", title="h1",
    text=".article-content__body, [data-test-id=main-feed-activity-card__commentary],"
    " .reader-content-blocks-container, .feed-shared-update-v2__description,"
    " .update-components-text",
    counts={
        "likes": "[data-test-id=social-actions__reaction-count],"
        " .social-counts-reactions__social-counts-numRections",
        "replies": "[data-test-id=social-actions__comments], .social-action-counts__social-counts-"
        "item:not(.social-counts-reactions__social-counts-item)",
    },
)  # fmt: skip
_LOCKUP = RecordPaths(
    "lockup", author="h3", handle=_LINKEDIN_ACCOUNT, published=".base-main-card__metadata, time",
    fields={"headline": "h4"},
)  # fmt: skip


class LinkedIn(Platform):
    """The pages that are shown without an account; the wall has none of their parts."""

    name = "linkedin"
    hosts = ("linkedin.com",)

    def parse(self, page: SitePage) -> Record | None:
        """Read an article or a post."""
        place = "".join(page.path[:1])
        record = _LINKEDIN_POST.read(page, self.name, page.soup)
        if not record.text or place not in {"pulse", "posts", "feed"}:
            return None
        node = node_of(page, "Article", "SocialMediaPosting", "DiscussionForumPosting")
        block = page.first(_HEAD)
        head = _LOCKUP.read(page, self.name, block) if block is not None else record
        return replace(
            record, kind="article" if place == "pulse" else "post", url=page.canonical,
            id=page.path[-1], author=author_of(node)[0] or head.author,
            handle=head.handle,
            published=node_date(node, "datePublished") or head.published,
            modified=node_date(node, "dateModified"), counts=statistics(node) or record.counts,
            fields=head.fields, items=_COMMENT.records(page, self.name),
        )  # fmt: skip
