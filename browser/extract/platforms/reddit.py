"""Reddit: a post with its comments, from its JSON, the old pages, and both newer layouts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from browser.extract.platforms.paths import RecordPaths
from browser.extract.platforms.site import (
    Platform,
    Record,
    SitePage,
    attribute,
    counts,
    fields,
    listing,
    number,
)
from browser.net.url import strip_tracking

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bs4 import Tag

_SITE = "https://www.reddit.com"
_MARKS = {"stickied": "pinned", "pinned": "pinned", "locked": "locked", "archived": "archived",
          "over_18": "nsfw", "over18": "nsfw", "nsfw": "nsfw", "spoiler": "spoiler",
          "distinguished": "distinguished"}  # fmt: skip
# A post of the old pages; what is promoted is an advertisement.
_OLD = ".thing.link:not(.promoted):not(.promotedlink)"
_VOTES = "[id^=vote-arrows] div"
_POST = RecordPaths(
    "post", id="id", url=_SITE + "{permalink}", title="title", author="author", handle="author",
    text="selftext", published="created_utc", modified="edited",
    counts={"points": "score", "comments": "num_comments"},
    fields={"community": "subreddit", "domain": "domain", "flair": "link_flair_text",
            "ratio": "upvote_ratio", "removed": "removed_by_category"},
)  # fmt: skip
_COMMENT = RecordPaths(
    "comment", id="id", author="author", handle="author", text="body",
    url=_SITE + "{permalink}", published="created_utc", modified="edited",
    parent="parent_id -> ^t1_(.+)", counts={"points": "score"}, fields={"community": "subreddit"},
)  # fmt: skip
_OLD_POST = RecordPaths(
    "post", _OLD, id="@data-fullname -> _(.+)", url=_SITE + "{@data-permalink}", title="a.title",
    text=".usertext-body", author="@data-author", handle="@data-author",
    published="time:not(.edited-timestamp)@datetime", modified="time.edited-timestamp@datetime",
    counts={"points": "@data-score", "comments": "@data-comments-count"},
    fields={"community": "@data-subreddit", "target": "@data-url", "flair": ".linkflairlabel"},
)  # fmt: skip
_OLD_COMMENT = RecordPaths(
    "comment", id="@data-fullname -> _(.+)", url=_SITE + "{@data-permalink}",
    text=":scope > .entry .usertext-body", author="@data-author", handle="@data-author",
    published=":scope > .entry time@datetime",
    modified=":scope > .entry time.edited-timestamp@datetime",
    counts={"points": ":scope > .entry .score.unvoted"},
)  # fmt: skip
_NEW_POST = RecordPaths(
    "post", "shreddit-post", id="@id -> _(.+)", url=_SITE + "{@permalink}", title="@post-title",
    text="[slot=text-body] || [property='schema:articleBody']", author="@author", handle="@author",
    published="@created-timestamp", counts={"points": "@score", "comments": "@comment-count"},
    fields={"community": "@subreddit-prefixed-name -> r/(.+)", "target": "@content-href",
            "type": "@post-type", "flair": "shreddit-post-flair", "domain": "@domain"},
    media="gallery-carousel img",
)  # fmt: skip
_NEW_COMMENT = RecordPaths(
    "comment", id="@thingid -> _(.+)", url=_SITE + "{@permalink}", text="[slot=comment]",
    author="@author", handle="@author", published="time@datetime",
    parent="@parentid -> ^t1_(.+)", counts={"points": "@score"},
)  # fmt: skip


class Reddit(Platform):
    """Listings of `t3` (posts), `t1` (comments) and `t5` (communities) in JSON; pages by layout."""

    name = "reddit"
    hosts = ("reddit.com",)

    def parse(self, page: SitePage) -> Record | None:
        """Read a post with its comments, or a listing with its posts."""
        data = page.json
        if data is None:
            return _read_page(page)
        if isinstance(data, dict) and data.get("reason") and "error" in data:
            said = fields(reason=data["reason"], status=data["error"])
            return Record(self.name, "unavailable", page.url, fields=said)
        things = list(_things(data))
        posts = [_post(page, thing) for kind, thing in things if kind == "t3"]
        comments = [_comment(page, thing) for kind, thing in things if kind == "t1"]
        if len(posts) == 1:
            return replace(posts[0], items=tuple(comments))
        if not posts and len(comments) == 1:
            return comments[0]
        return listing(self.name, page.url, posts or comments)


def _things(data: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Posts and comments in page order, replies after what they answer."""
    stack = [data]
    while stack:
        value = stack.pop()
        if isinstance(value, list):
            stack.extend(reversed(value))
        elif isinstance(value, dict) and isinstance(value.get("data"), dict):
            inner = value["data"]
            if value.get("kind") in {"t1", "t3"}:
                yield value["kind"], inner
                stack.append(inner.get("replies"))
            else:
                stack.append(inner.get("children") or inner.get("things"))


def _post(page: SitePage, data: dict[str, Any]) -> Record:
    record = _POST.read(page, "reddit", data)
    crossed = (data.get("crosspost_parent_list") or [{}])[0].get("permalink")
    options = ((data.get("poll_data") or {}).get("options")) or []
    rows = ((option.get("text", ""), option.get("vote_count")) for option in options)
    more = fields(
        target=data.get("url") if not data.get("is_self") else None, marks=_marks(data),
        crosspost_of=f"{_SITE}{crossed}" if crossed else None,
        poll="; ".join(text if votes is None else f"{text}: {votes}" for text, votes in rows),
    )  # fmt: skip
    said = data.get("num_crossposts") or None
    return _signed(replace(
        record, text=_written(page, data, "selftext"), fields={**record.fields, **more},
        counts={**record.counts, **counts(crossposts=said)}, media=_media(data),
    ))  # fmt: skip


def _comment(page: SitePage, data: dict[str, Any]) -> Record:
    record = _COMMENT.read(page, "reddit", data)
    post = str(data.get("link_id") or "").removeprefix("t3_")
    place = f"{_SITE}/r/{data.get('subreddit')}/comments/{post}/_/{record.id}/" if post else ""
    return _signed(replace(
        record, url=record.url or place, text=_written(page, data, "body"),
        counts={} if data.get("score_hidden") else record.counts,
        fields={**record.fields, **fields(marks=_marks(data))},
    ))  # fmt: skip


def _signed(record: Record) -> Record:
    """A record without an author whose account or post was deleted."""
    gone = record.author in ("[deleted]", "[removed]")
    return replace(record, author=None, handle=None) if gone else record


def _marks(names: Any) -> str:
    found = {said for name, said in _MARKS.items()
             if (names.get(name) if isinstance(names, dict) else name in names)}  # fmt: skip
    return ", ".join(said for said in dict.fromkeys(_MARKS.values()) if said in found)


def _written(page: SitePage, data: dict[str, Any], key: str) -> str:
    markup, plain = data.get(f"{key}_html") or "", data.get(key) or ""
    return page.body(markup) if markup.startswith("<") else plain


def _media(data: dict[str, Any]) -> tuple[str, ...]:
    """A gallery's pictures in its order, a film, or the picture that is the post."""
    parts = data.get("media_metadata") or {}
    order = [item.get("media_id") for item in (data.get("gallery_data") or {}).get("items") or []]
    shown = [(parts.get(name) or {}).get("s") or {} for name in order or parts]
    gallery = [str(part.get("u") or part.get("mp4") or "") for part in shown]
    film = ((data.get("media") or {}).get("reddit_video") or {}).get("fallback_url")
    alone = data.get("url") if data.get("post_hint") == "image" else None
    return tuple(address for address in (*gallery, film, alone) if address)


def _read_page(page: SitePage) -> Record | None:
    """Read a post's page by whichever layout it has, or a list of posts."""
    old = [_marked(_OLD_POST.read(page, "reddit", node), attribute(node, "class").split())
           for node in page.all(_OLD)]  # fmt: skip
    new = [_marked(_NEW_POST.read(page, "reddit", node), list(node.attrs))
           for node in page.all("shreddit-post")]  # fmt: skip
    if page.path[2:3] != ("comments",):
        return listing("reddit", page.url, old or new, page.text("title"))
    if old:
        comments = (_old_comment(page, node) for node in page.all(".thing.comment"))
        return replace(old[0], id=old[0].id or "".join(page.path[3:4]), items=tuple(comments))
    if new:
        comments = (_NEW_COMMENT.read(page, "reddit", e) for e in page.all("shreddit-comment"))
        title = new[0].title or page.text("h1")
        return replace(new[0], title=title, items=tuple(map(_signed, comments)))
    return _blocks(page)


def _marked(record: Record, names: list[str]) -> Record:
    return _signed(replace(record, fields={**record.fields, **fields(marks=_marks(names))}))


def _old_comment(page: SitePage, thing: Tag) -> Record:
    parent = thing.find_parent(class_="comment")
    name = attribute(parent, "data-fullname").partition("_")[2] if parent else ""
    return _signed(replace(_OLD_COMMENT.read(page, "reddit", thing), parent=name or None))


def _blocks(page: SitePage) -> Record | None:
    """The layout of 2018 to 2023: `t1_` and `t3_` blocks with classes that change."""
    post = page.first("[id^=t3_][data-testid=post-container], div[id^=t3_]")
    title = page.text("h1") or page.text("title").rpartition(" : ")[0]
    if post is None or not title:
        return None
    author = _account(page, post)
    return Record(
        "reddit", "post", page.canonical, id=attribute(post, "id").partition("_")[2], title=title,
        text=page.body(page.first("[data-click-id=text]", post)), author=author, handle=author,
        counts=counts(points=page.text(_VOTES, post) or None,
                      comments=page.text("[data-click-id=comments]", post) or None),
        fields=fields(community=page.path[1]), items=tuple(_block_comments(page)),
    )  # fmt: skip


def _block_comments(page: SitePage) -> Iterator[Record]:
    parents: list[str] = []
    for block in page.all("div[id^=t1_]"):
        name = attribute(block, "id").partition("_")[2]
        body = page.first("[data-testid=comment]", block)
        if not name or "-" in name or body is None:
            continue
        del parents[(number(page.text("span", block)) or 1) - 1 :]
        author = _account(page, block)
        yield Record(
            "reddit", "comment", id=name,
            url=strip_tracking(page.link("a[id^=CommentTopMeta--Created]", block)),
            text=page.body(body), author=author, handle=author,
            parent=parents[-1] if parents else None,
            counts=counts(points=page.text(_VOTES, block) or None),
        )  # fmt: skip
        parents.append(name)


def _account(page: SitePage, node: Tag) -> str | None:
    found = page.attr("a[href^='/user/'], a[href*='reddit.com/user/']", "href", node)
    return found.rstrip("/").rpartition("/user/")[2] or None
