"""Substack: posts and notes, on its own hosts and on those of publications."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from browser.extract.platforms import (
    Platform,
    Record,
    RecordPaths,
    SitePage,
    attribute,
    find_objects,
)

# The page passes its state to its scripts as JSON in a string.
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
    """Uses JSON-LD for notes and posts, or else the permalink unit and `.available-content`."""

    name = "substack"
    marks = (b"substackcdn.com",)
    hosts = ("substack.com",)

    def claims(self, page: SitePage) -> bool:
        """Recognise Substack's hosts, and publications on other domains by the files they load."""
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
    """The post, from the API's response or from the page's state."""
    data = page.json
    if data is None:
        scripts = (script.text or "" for script in page.tree.iter("script"))
        state = _PRELOADED.search(next((text for text in scripts if "_preloads" in text), ""))
        data = json.loads(json.loads(state[1])) if state else None
    slug = page.path[-1] if page.path else ""
    entries = find_objects(data, "slug", "post_date", "title")
    return next((node for node in entries if page.json is not None or node["slug"] == slug), None)


def _from_entry(page: SitePage, entry: dict[str, Any]) -> Record:
    record, free = _ENTRY.read(page, "substack", entry), entry.get("audience")
    writers = [w["name"] for w in entry.get("publishedBylines") or [] if w.get("name")]
    return record.updated(
        kind="podcast" if entry.get("type") == "podcast" else "post",
        url=record.url or page.canonical,
        author=", ".join(writers) or None,
        fields={
            "publication": page.meta["og:site_name"] if page.json is None else None,
            "free": free == "everyone" if free else None,
        },
    )


def _note(page: SitePage) -> Record | None:
    record = page.declared("substack", "note", "SocialMediaPosting")
    text = page.body(page.soup.select_one(f"{_NOTE} .ProseMirror")) or record.text
    pictures = page.soup.select(f"{_NOTE} [class*=imageGrid] img")
    media = tuple(attribute(picture, "src") for picture in pictures)
    return replace(record, text=text, media=media) if text else None


def _post(page: SitePage) -> Record | None:
    node, soup = page.linked_data("NewsArticle", "BlogPosting", "Article"), page.soup
    body = soup.select_one(".available-content .body") or soup.select_one(
        ".available-content, .body.markup"
    )
    title = page.text("h1.post-title") or node.text("headline")
    if body is None or not title:
        return None
    return Record(
        "substack", "post", page.canonical, id=page.path[-1] if page.path else None,
        title=title, text=page.body(body), author=node.author or page.meta.get("author"),
        handle=node.handle, published=node.date("datePublished"),
        modified=node.date("dateModified"),
        counts=node.counts or {"likes": page.text(".like-button-container .label")},
        fields={
            "subtitle": page.text("h3.subtitle"), "publication": page.meta["og:site_name"],
            "free": node.get("isAccessibleForFree"),
        },
    )  # fmt: skip
