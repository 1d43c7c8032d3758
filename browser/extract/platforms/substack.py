"""Substack: notes on substack.com, posts of publications on any host."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from browser.extract.dates import iso_date
from browser.extract.platforms.embedded import (
    author_of,
    node_date,
    node_of,
    statistics,
    walk,
    words_of,
)
from browser.extract.platforms.paths import RecordPaths
from browser.extract.platforms.record import Record
from browser.extract.platforms.site import Platform, attribute
from browser.extract.platforms.values import counts, fields, number

if TYPE_CHECKING:
    from browser.extract.platforms.site import SitePage

# The page hands its state to its scripts as text within text.
_PRELOADED = re.compile(r"_preloads\s*=\s*JSON\.parse\((\"(?:[^\"\\]|\\.)*\")\)")
_NOTE = "[class*=feedPermalinkUnit]"
_ENTRY = RecordPaths(
    "post", id="slug", url="canonical_url", title="title", text="body_html || truncated_body_text",
    markup=True, handle="publishedBylines.handle", published="post_date", modified="updated_at",
    counts={"likes": "reaction_count || reactions.❤", "comments": "comment_count",
            "restacks": "restacks", "words": "wordcount"},
    fields={"subtitle": "subtitle", "section": "section_name", "audio": "podcast_url"},
    tags="postTags.name", media="cover_image",
)  # fmt: skip


class Substack(Platform):
    """JSON-LD of notes and posts; the permalink unit and `.available-content` without it."""

    name = "substack"
    marks = (b"substackcdn.com",)
    hosts = ("substack.com",)

    def claims(self, page: SitePage) -> bool:
        """Its own hosts; publications under names of their own by what they load."""
        if super().claims(page):
            return True
        return page.json is None and any(
            "substackcdn.com" in (node.get("href") or node.get("src") or "")
            for node in page.tree.iter("link", "script")
        )

    def parse(self, page: SitePage) -> Record | None:
        """Read a note or a post."""
        entry = _entry(page)
        if entry is not None:
            return _from_entry(page, entry)
        if page.json is not None:
            return None
        return _note(page) if "note" in page.path else _post(page)


def _entry(page: SitePage) -> dict[str, Any] | None:
    """The post as the API gives it, and as its page carries it in its state."""
    data = page.json
    if data is None:
        scripts = (script.text or "" for script in page.tree.iter("script"))
        said = _PRELOADED.search(next((text for text in scripts if "_preloads" in text), ""))
        data = json.loads(json.loads(said[1])) if said else None
    entries = (node for node in walk([data]) if {"slug", "post_date", "title"} <= node.keys())
    slug = page.path[-1] if page.path else ""
    return next((node for node in entries if page.json is not None or node["slug"] == slug), None)


def _from_entry(page: SitePage, entry: dict[str, Any]) -> Record:
    record, free = _ENTRY.read(page, "substack", entry), entry.get("audience")
    writers = [w["name"] for w in entry.get("publishedBylines") or [] if w.get("name")]
    more = fields(publication=page.meta.get("og:site_name") if page.json is None else None,
                  free=free == "everyone" if free else None)  # fmt: skip
    return replace(
        record, kind="podcast" if entry.get("type") == "podcast" else "post",
        url=record.url or page.canonical, author=", ".join(writers) or None,
        fields={**record.fields, **more},
    )  # fmt: skip


def _note(page: SitePage) -> Record | None:
    node, meta = node_of(page, "SocialMediaPosting"), page.meta
    name, _, account = meta.get("og:title", "").partition(" (@")
    body = page.first(f"{_NOTE} .ProseMirror")
    text = page.body(body) or words_of(node, "text") or meta.get("og:description", "")
    if not text:
        return None
    return Record(
        "substack", "note", page.canonical, id=page.path[-1], text=text,
        author=author_of(node)[0] or name or None, handle=account.rstrip(")") or None,
        published=node_date(node, "dateCreated", "datePublished")
        or iso_date(meta.get("og:published_time", "")),
        modified=node_date(node, "dateModified"), counts=statistics(node),
        media=tuple(attribute(e, "src") for e in page.all(f"{_NOTE} [class*=imageGrid] img")),
    )  # fmt: skip


def _post(page: SitePage) -> Record | None:
    node = node_of(page, "NewsArticle", "BlogPosting", "Article")
    body = page.first(".available-content .body") or page.first(".available-content, .body.markup")
    title = page.text("h1.post-title") or words_of(node, "headline")
    if body is None or not title:
        return None
    author, handle = author_of(node)
    likes = number(page.text(".like-button-container .label"))
    return Record(
        "substack", "post", page.canonical, id=page.path[-1] if page.path else None,
        title=title, text=page.body(body), author=author or page.meta.get("author"),
        handle=handle, published=node_date(node, "datePublished"),
        modified=node_date(node, "dateModified"),
        counts=statistics(node) or counts(likes=likes),
        fields=fields(
            subtitle=page.text("h3.subtitle"), publication=page.meta.get("og:site_name"),
            free=node.get("isAccessibleForFree"),
        ),
    )  # fmt: skip
