"""Medium: stories, on its own hosts and on those of publications."""

from __future__ import annotations

import re

from browser.extract.html import extract
from browser.extract.platforms import Platform, Record, SitePage, parse_date

# A story's address ends in its id: eight or more hexadecimal digits after the last hyphen.
_STORY = re.compile(r"(?:^|-)([0-9a-f]{8,14})$")
_MINUTES = re.compile(r"(\d+) min read")
# The reading time stands above a story, within so many characters.
_BYLINE = 30


class Medium(Platform):
    """Meta elements for what stands beside a story, the article path for its text."""

    name = "medium"
    marks = (b"al:ios:app_name",)
    hosts = ("medium.com",)

    def claims(self, page: SitePage) -> bool:
        """Its own hosts; publications by the application that their pages name."""
        named = page.json is None and page.meta["al:ios:app_name"] == "Medium"
        return super().claims(page) or named

    def parse(self, page: SitePage) -> Record | None:
        """Read one story; its meta element has the date of its last edition, not the shown one."""
        meta, node = page.meta, page.linked_data("NewsArticle", "BlogPosting", "Article")
        title = page.text("h1.pw-post-title, h1[data-testid=storyTitle]") or meta["og:title"]
        story = _STORY.search(page.path[-1] if page.path else "")
        if page.soup.select_one("article") is None or not title or not story:
            return None
        minutes = _MINUTES.search(meta["twitter:data1"])
        text = extract(page.markup, page.url).text
        byline = _MINUTES.search(text[:_BYLINE])
        return Record(
            self.name, "story", page.canonical, id=story[1], title=title,
            text=text[byline.end():].lstrip() if byline else text,
            author=node.author or meta.get("author"),
            handle=meta["article:author"].rpartition("/@")[2] or None,
            published=node.date("datePublished")
            or parse_date(page.text("[data-testid=storyPublishDate], .pw-published-date"))
            or parse_date(meta["article:published_time"]),
            modified=node.date("dateModified"),
            counts={"minutes": minutes and minutes[1],
                    "claps": page.text(".pw-multi-vote-count")},
            fields={"description": meta["og:description"]},
            media=(meta["og:image"],) if meta["og:image"] else (),
        )  # fmt: skip
