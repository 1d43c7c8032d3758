"""Reddit: a post with its comments, from its JSON, the old pages, and the new ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from browser.extract.platforms import (
    Platform,
    Record,
    RecordPaths,
    SitePage,
    attribute,
    find_objects,
    listing,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bs4 import Tag


_SITE = "https://www.reddit.com"
_FLAG_LABELS = {
    "stickied": "pinned", "pinned": "pinned", "locked": "locked", "archived": "archived",
    "over_18": "nsfw", "over18": "nsfw", "nsfw": "nsfw", "spoiler": "spoiler",
    "distinguished": "distinguished",
}  # fmt: skip
# Matches an author's name, but not the placeholder shown for a deleted post or account.
_IF_NOT_DELETED = r" -> ^(?!\[(?:deleted|removed)\]$).+"
_POST = RecordPaths(
    "post", id="id", url=_SITE + "{permalink}", title="title", author=f"author{_IF_NOT_DELETED}",
    handle=f"author{_IF_NOT_DELETED}", published="created_utc", modified="edited",
    counts={"points": "score", "comments": "num_comments"},
    fields={"community": "subreddit", "domain": "domain", "flair": "link_flair_text",
            "ratio": "upvote_ratio", "removed": "removed_by_category",
            "crosspost_of": _SITE + "{crosspost_parent_list.permalink}"},
)  # fmt: skip
_COMMENT = RecordPaths(
    "comment", id="id", author=f"author{_IF_NOT_DELETED}", handle=f"author{_IF_NOT_DELETED}",
    url=_SITE + "{permalink} || "
    + _SITE + "/r/{subreddit}/comments/{link_id -> ^(?:t3_)?(.+)}/_/{id}/",
    published="created_utc", modified="edited",
    parent="parent_id -> ^t1_(.+)", counts={"points": "score"},
    fields={"community": "subreddit", "thread": "link_title"},
)  # fmt: skip
# Promoted posts are advertisements.
_OLD_POST = RecordPaths(
    "post", ".thing.link:not(.promoted):not(.promotedlink)",
    id="@data-fullname -> _(.+)", url=_SITE + "{@data-permalink}", title="a.title",
    text=".usertext-body",
    author=f"@data-author{_IF_NOT_DELETED}", handle=f"@data-author{_IF_NOT_DELETED}",
    published="time:not(.edited-timestamp)@datetime", modified="time.edited-timestamp@datetime",
    counts={"points": "@data-score", "comments": "@data-comments-count"},
    fields={"community": "@data-subreddit", "target": "@data-url", "flair": ".linkflairlabel"},
)  # fmt: skip
_OLD_COMMENT = RecordPaths(
    "comment", id="@data-fullname -> _(.+)", url=_SITE + "{@data-permalink}",
    text=":scope > .entry .usertext-body",
    author=f"@data-author{_IF_NOT_DELETED}", handle=f"@data-author{_IF_NOT_DELETED}",
    published=":scope > .entry time@datetime",
    modified=":scope > .entry time.edited-timestamp@datetime",
    counts={"points": ":scope > .entry .score.unvoted"},
)  # fmt: skip
_NEW_POST = RecordPaths(
    "post", "shreddit-post", id="@id -> _(.+)", url=_SITE + "{@permalink}", title="@post-title",
    text="[slot=text-body]", author=f"@author{_IF_NOT_DELETED}", handle=f"@author{_IF_NOT_DELETED}",
    published="@created-timestamp", counts={"points": "@score", "comments": "@comment-count"},
    fields={"community": "@subreddit-prefixed-name -> r/(.+)", "target": "@content-href",
            "type": "@post-type", "flair": "shreddit-post-flair", "domain": "@domain"},
    media="gallery-carousel img",
)  # fmt: skip
_NEW_COMMENT = RecordPaths(
    "comment", id="@thingid -> _(.+)", url=_SITE + "{@permalink}", text="[slot=comment]",
    author=f"@author{_IF_NOT_DELETED}", handle=f"@author{_IF_NOT_DELETED}",
    published="time@datetime", parent="@parentid -> ^t1_(.+)", counts={"points": "@score"},
)  # fmt: skip


class Reddit(Platform):
    """Reads JSON (`t3` posts, `t1` comments, `t5` communities) or one of two HTML layouts."""

    name = "reddit"
    hosts = ("reddit.com",)

    def parse(self, page: SitePage) -> Record | None:
        """Read a post with its comments, or a listing with its posts."""
        data = page.json
        if data is None:
            return _read_page(page)
        if isinstance(data, dict) and data.get("reason") and "error" in data:
            reason = {"reason": data["reason"], "status": data["error"]}
            return Record(self.name, "unavailable", page.url, fields=reason)
        # Replies are nested inside the comments that they answer.
        things = [n for n in find_objects(data, "kind", "data") if isinstance(n["data"], dict)]
        posts = [_post(page, thing["data"]) for thing in things if thing["kind"] == "t3"]
        comments = [_comment(page, thing["data"]) for thing in things if thing["kind"] == "t1"]
        if len(posts) == 1:
            return replace(posts[0], items=tuple(comments))
        if not posts and len(comments) == 1:
            return comments[0]
        return listing(self.name, page.url, posts or comments)


def _post(page: SitePage, data: dict[str, Any]) -> Record:
    options = (data.get("poll_data") or {}).get("options") or []
    rows = ((option.get("text", ""), option.get("vote_count")) for option in options)
    poll = (text if votes is None else f"{text}: {votes}" for text, votes in rows)
    return _POST.read(page, "reddit", data).updated(
        text=_text(page, data, "selftext"),
        counts={"crossposts": data.get("num_crossposts") or None},
        fields={
            "target": data.get("url") if not data.get("is_self") else None,
            "marks": _flag_labels(name for name in _FLAG_LABELS if data.get(name)),
            "poll": "; ".join(poll),
        },
        media=_media(data),
    )


def _comment(page: SitePage, data: dict[str, Any]) -> Record:
    marks = _flag_labels(name for name in _FLAG_LABELS if data.get(name))
    record = _COMMENT.read(page, "reddit", data)
    record = record.updated(text=_text(page, data, "body"), fields={"marks": marks})
    return replace(record, counts={}) if data.get("score_hidden") else record


def _flag_labels(names: Iterator[str]) -> str:
    found = {_FLAG_LABELS[name] for name in names}
    return ", ".join(mark for mark in dict.fromkeys(_FLAG_LABELS.values()) if mark in found)


def _text(page: SitePage, data: dict[str, Any], key: str) -> str:
    markup, plain = data.get(f"{key}_html") or "", data.get(key) or ""
    return page.body(markup) if markup.startswith("<") else plain


def _media(data: dict[str, Any]) -> tuple[str, ...]:
    """A gallery's pictures in order, a video, or the picture that the post consists of."""
    parts = data.get("media_metadata") or {}
    order = [item.get("media_id") for item in (data.get("gallery_data") or {}).get("items") or []]
    shown = [(parts.get(name) or {}).get("s") or {} for name in order or parts]
    gallery = [str(part.get("u") or part.get("mp4") or "") for part in shown]
    film = ((data.get("media") or {}).get("reddit_video") or {}).get("fallback_url")
    alone = data.get("url") if data.get("post_hint") == "image" else None
    return tuple(address for address in (*gallery, film, alone) if address)


def _read_page(page: SitePage) -> Record | None:
    """Read a post's page in either layout, or a list of posts."""
    old = [_post_with_flags(page, _OLD_POST, node, attribute(node, "class").split())
           for node in page.soup.select(_OLD_POST.at)]  # fmt: skip
    new = [_post_with_flags(page, _NEW_POST, node, list(node.attrs))
           for node in page.soup.select(_NEW_POST.at)]  # fmt: skip
    if page.path[2:3] != ("comments",):
        return listing("reddit", page.url, old or new, page.text("title"))
    if old:
        comments = [_old_comment(page, node) for node in page.soup.select(".thing.comment")]
        return replace(old[0], id=old[0].id or "".join(page.path[3:4]), items=tuple(comments))
    if new:
        nodes = page.soup.select("shreddit-comment")
        comments = [_NEW_COMMENT.read(page, "reddit", node) for node in nodes]
        return replace(new[0], title=new[0].title or page.text("h1"), items=tuple(comments))
    return None


def _post_with_flags(page: SitePage, paths: RecordPaths, node: Tag, names: list[str]) -> Record:
    """Read a post on a page, with its flags."""
    marks = _flag_labels(name for name in names if name in _FLAG_LABELS)
    return paths.read(page, "reddit", node).updated(fields={"marks": marks})


def _old_comment(page: SitePage, comment: Tag) -> Record:
    above = comment.find_parent(class_="comment")
    parent = attribute(above, "data-fullname").partition("_")[2] or None
    return replace(_OLD_COMMENT.read(page, "reddit", comment), parent=parent)
