"""Medium: stories on medium.com and its publications' hosts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from browser.extract.dates import iso_date
from browser.extract.html import extract
from browser.extract.platforms.base import Platform
from browser.extract.platforms.embedded import variable
from browser.extract.platforms.numbers import counts, number
from browser.extract.platforms.postings import author_of, date_of, node_of
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import fields
from browser.extract.platforms.times import moment

if TYPE_CHECKING:
    from browser.extract.platforms.source import Source

# A story's address ends in its id: eight or more hexadecimal digits after the last hyphen.
_STORY = re.compile(r"(?:^|-)([0-9a-f]{8,14})$")
_READING_TIME = re.compile(r"^\d+ min read\n+")
_MINUTES = re.compile(r"(\d+) min read")


class Medium(Platform):
    """Meta elements for what stands beside a story, the article path for its text."""

    name = "medium"
    marks = (b"al:ios:app_name",)
    hosts = ("medium.com",)

    def claims(self, source: Source) -> bool:
        """Its own hosts; publications by the application that their pages name."""
        if super().claims(source):
            return True
        return source.json is None and source.meta.get("al:ios:app_name") == "Medium"

    def parse(self, source: Source) -> Record | None:
        """Read one story."""
        meta, node = source.meta, node_of(source, "NewsArticle", "BlogPosting", "Article")
        title = source.text("h1.pw-post-title, h1[data-testid=storyTitle]") or meta.get("og:title")
        found = _STORY.search(source.path[-1] if source.path else "")
        if source.first("article") is None or not title or not found:
            return None
        account = meta.get("article:author", "").rpartition("/@")[2]
        minutes, post = _MINUTES.search(meta.get("twitter:data1", "")), _state(source, found[1])
        creator, locked = post.get("creator") or {}, post.get("isLocked")
        return Record(
            self.name, "story", source.canonical, id=found[1], title=title,
            text=_READING_TIME.sub("", extract(source.markup, source.url).text),
            author=author_of(node)[0] or meta.get("author") or creator.get("name"),
            handle=account or creator.get("username"),
            published=date_of(node, "datePublished")
            or iso_date(meta.get("article:published_time", ""))
            or moment(post.get("firstPublishedAt")),
            modified=date_of(node, "dateModified") or moment(post.get("latestPublishedAt")),
            counts=counts(
                minutes=minutes[1] if minutes else post.get("readingTime"),
                claps=post.get("clapCount") or number(source.text(".pw-multi-vote-count")),
                responses=(post.get("postResponses") or {}).get("count"),
            ),
            fields=fields(
                description=meta.get("og:description"),
                free=not locked if isinstance(locked, bool) else None,
                publication=(post.get("collection") or {}).get("name"),
            ),
            tags=tuple(t["displayTitle"] for t in post.get("tags") or [] if "displayTitle" in t),
            media=(meta["og:image"],) if meta.get("og:image") else (),
        )  # fmt: skip


def _state(source: Source, name: str) -> dict[str, Any]:
    """The story in the page's state, what it refers to in its place."""
    state = variable(source, "__APOLLO_STATE__") or {}

    def resolved(value: Any) -> Any:
        if isinstance(value, list):
            return [resolved(item) for item in value]
        return (
            state.get(value["__ref"], {}) if isinstance(value, dict) and "__ref" in value else value
        )

    return {key: resolved(value) for key, value in state.get(f"Post:{name}", {}).items()}
