"""Substack: notes on substack.com, posts of publications on any host."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from browser.extract.dates import iso_date
from browser.extract.platforms.base import Platform
from browser.extract.platforms.embedded import walk
from browser.extract.platforms.numbers import counts, number
from browser.extract.platforms.postings import author_of, date_of, node_of, statistics, words_of
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import fields

if TYPE_CHECKING:
    from browser.extract.platforms.source import Source

# The page hands its state to its scripts as text within text.
_PRELOADED = re.compile(r"_preloads\s*=\s*JSON\.parse\((\"(?:[^\"\\]|\\.)*\")\)")
_LIKES = ".like-button-container .label"
_NOTE = "[class*=feedPermalinkUnit]"


class Substack(Platform):
    """JSON-LD of notes and posts; the permalink unit and `.available-content` without it."""

    name = "substack"
    marks = (b"substackcdn.com",)
    hosts = ("substack.com",)

    def claims(self, source: Source) -> bool:
        """Its own hosts; publications under names of their own by what they load."""
        if super().claims(source):
            return True
        return source.json is None and source.first(
            "link[href*='substackcdn.com'], script[src*='substackcdn.com']"
        ) is not None  # fmt: skip

    def parse(self, source: Source) -> Record | None:
        """Read a note or a post."""
        entry = _entry(source)
        if entry is not None:
            return _from_entry(entry, source)
        if source.json is not None:
            return None
        return _note(source) if "note" in source.path else _post(source)


def _entry(source: Source) -> dict[str, Any] | None:
    """The post as the API gives it, and as its page carries it in its state."""
    if source.json is not None:
        data = source.json
    else:
        said = _PRELOADED.search(next((s.text or "" for s in source.root.iter("script")
                                       if "_preloads" in (s.text or "")), ""))  # fmt: skip
        data = json.loads(json.loads(said[1])) if said else None
    entries = (node for node in walk([data]) if {"slug", "post_date", "title"} <= node.keys())
    slug = source.path[-1] if source.path else ""
    return next((node for node in entries if source.json is not None or node["slug"] == slug), None)


def _from_entry(entry: dict[str, Any], source: Source) -> Record:
    writers = entry.get("publishedBylines") or []
    likes = entry.get("reaction_count") or (entry.get("reactions") or {}).get("❤")
    markup = entry.get("body_html") or ""
    cover = entry.get("cover_image")
    return Record(
        "substack", "podcast" if entry.get("type") == "podcast" else "post",
        entry.get("canonical_url") or source.canonical, id=entry["slug"], title=entry["title"],
        text=source.body(markup) or entry.get("truncated_body_text") or "",
        author=", ".join(w["name"] for w in writers if w.get("name")) or None,
        handle=next((w.get("handle") for w in writers), None),
        published=iso_date(entry.get("post_date") or ""),
        modified=iso_date(entry.get("updated_at") or ""),
        counts=counts(likes=likes, comments=entry.get("comment_count"),
                      restacks=entry.get("restacks"), words=entry.get("wordcount")),
        fields=fields(
            subtitle=entry.get("subtitle"), publication=source.meta.get("og:site_name"),
            free={"everyone": "true"}.get(entry.get("audience", ""), "false")
            if entry.get("audience") else None, section=entry.get("section_name"),
            audio=entry.get("podcast_url"),
        ),
        tags=tuple(tag["name"] for tag in entry.get("postTags") or [] if tag.get("name")),
        media=(cover,) if cover else (),
    )  # fmt: skip


def _note(source: Source) -> Record | None:
    node = node_of(source, "SocialMediaPosting")
    name, _, account = source.meta.get("og:title", "").partition(" (@")
    body = source.first(f"{_NOTE} .ProseMirror")
    text = source.body(body) or words_of(node, "text") or source.meta.get("og:description", "")
    if not text:
        return None
    pictures = source.all(f"{_NOTE} [class*=imageGrid] img")
    return Record(
        "substack", "note", source.canonical, id=source.path[-1], text=text,
        author=author_of(node)[0] or name or None, handle=account.rstrip(")") or None,
        published=date_of(node, "dateCreated", "datePublished")
        or iso_date(source.meta.get("og:published_time", "")),
        modified=date_of(node, "dateModified"), counts=statistics(node),
        media=tuple(picture.get("src", "") for picture in pictures),
    )  # fmt: skip


def _post(source: Source) -> Record | None:
    node = node_of(source, "NewsArticle", "BlogPosting", "Article")
    body = source.first(".available-content .body, .available-content, .body.markup")
    title = source.text("h1.post-title") or words_of(node, "headline")
    if body is None or not title:
        return None
    author, handle = author_of(node)
    free = node.get("isAccessibleForFree")
    return Record(
        "substack", "post", source.canonical, id=source.path[-1] if source.path else None,
        title=title, text=source.body(body), author=author or source.meta.get("author"),
        handle=handle, published=date_of(node, "datePublished"),
        modified=date_of(node, "dateModified"),
        counts=statistics(node) or counts(likes=number(source.text(_LIKES))),
        fields=fields(
            subtitle=source.text("h3.subtitle"), publication=source.meta.get("og:site_name"),
            free=None if free is None else str(free).lower(),
        ),
    )  # fmt: skip
