"""Medium: stories on medium.com and its publications' hosts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from browser.extract.dates import iso_date
from browser.extract.html import extract
from browser.extract.platforms.base import Platform
from browser.extract.platforms.numbers import counts, number
from browser.extract.platforms.postings import author_of, date_of, node_of
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import fields

if TYPE_CHECKING:
    from browser.extract.platforms.source import Source

# A story's address ends in its id: eight or more hexadecimal digits after the last hyphen.
_STORY = re.compile(r"(?:^|-)([0-9a-f]{8,14})$")
_MINUTES = re.compile(r"(\d+) min read")


class Medium(Platform):
    """Meta elements for what stands beside a story, the article path for its text."""

    name = "medium"
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
        minutes = _MINUTES.search(meta.get("twitter:data1", ""))
        return Record(
            self.name, "story", source.canonical, id=found[1], title=title,
            text=extract(source.markup, source.url).text,
            author=author_of(node)[0] or meta.get("author"), handle=account or None,
            published=date_of(node, "datePublished")
            or iso_date(meta.get("article:published_time", "")),
            modified=date_of(node, "dateModified"),
            counts=counts(minutes=minutes[1] if minutes else None,
                          claps=number(source.text(".pw-multi-vote-count"))),
            fields=fields(description=meta.get("og:description")),
            media=(meta["og:image"],) if meta.get("og:image") else (),
        )  # fmt: skip
