"""Articles of any host that say that they are news, and stories of Medium."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from browser.extract.dates import date_within, iso_date
from browser.extract.html import extract
from browser.extract.metadata import names, text_of
from browser.extract.platforms.embedded import (
    author_of,
    node_date,
    node_of,
    variable,
    words_of,
)
from browser.extract.platforms.record import Record
from browser.extract.platforms.site import Platform
from browser.extract.platforms.unverified import is_thing
from browser.extract.platforms.values import counts, fields, moment, number

if TYPE_CHECKING:
    from browser.extract.platforms.site import SitePage

_NEWS = ("LiveBlogPosting", "NewsArticle", "ReportageNewsArticle", "AnalysisNewsArticle",
         "OpinionNewsArticle")  # fmt: skip
# A story's address ends in its id: eight or more hexadecimal digits after the last hyphen.
_STORY = re.compile(r"(?:^|-)([0-9a-f]{8,14})$")
_MINUTES = re.compile(r"(\d+) min read")
_SHOWN_DATE = "[data-testid=storyPublishDate], .pw-published-date"


class News(Platform):
    """`NewsArticle` and its kin; the text is that of the article path."""

    name = "news"
    general = True

    def claims(self, page: SitePage) -> bool:
        """Pages that say they are news; a recipe or a product on a blog is read as what it is."""
        if page.json is not None:
            return False
        return bool(node_of(page, *_NEWS)) or (
            page.meta.get("og:type") == "article" and not is_thing(page)
        )

    def parse(self, page: SitePage) -> Record | None:
        """Read one article; the entries of a live blog are its items."""
        node, article = node_of(page, *_NEWS), extract(page.markup, page.url)
        if not article.text:
            return None
        section, free = node.get("articleSection"), node.get("isAccessibleForFree")
        said = node.get("liveBlogUpdate") or []
        updates = said if isinstance(said, list) else [said]
        picture, keywords = page.meta.get("og:image"), node.get("keywords") or ()
        words = keywords.split(",") if isinstance(keywords, str) else keywords
        return Record(
            self.name, "live_blog" if updates else "article", article.canonical_url or page.url,
            title=text_of(node.get("headline")) or page.meta.get("og:title", article.title),
            text=article.text, author=article.author, published=article.published,
            modified=article.modified, counts=counts(words=node.get("wordCount")),
            fields=fields(
                publisher=next(iter(names(node.get("publisher"))), None) or article.site,
                description=article.description, language=article.language,
                section=", ".join(section) if isinstance(section, list) else section,
                free=None if free is None else str(free).lower(),
            ),
            tags=tuple(w.strip() for w in words if isinstance(w, str) and w.strip()),
            media=(picture,) if picture else (),
            items=tuple(_update(update) for update in updates if isinstance(update, dict)),
        )  # fmt: skip


def _update(update: dict[str, Any]) -> Record:
    return Record(
        "news", "update", text_of(update.get("url")), title=text_of(update.get("headline")) or None,
        text=words_of(update, "articleBody"), author=author_of(update)[0],
        published=node_date(update, "datePublished"), modified=node_date(update, "dateModified"),
    )  # fmt: skip


class Medium(Platform):
    """Meta elements for what stands beside a story, the article path for its text."""

    name = "medium"
    marks = (b"al:ios:app_name",)
    hosts = ("medium.com",)

    def claims(self, page: SitePage) -> bool:
        """Its own hosts; publications by the application that their pages name."""
        if super().claims(page):
            return True
        return page.json is None and page.meta.get("al:ios:app_name") == "Medium"

    def parse(self, page: SitePage) -> Record | None:
        """Read one story; its meta element has the date of its last edition, not the shown one."""
        meta, node = page.meta, node_of(page, "NewsArticle", "BlogPosting", "Article")
        title = page.text("h1.pw-post-title, h1[data-testid=storyTitle]") or meta.get("og:title")
        found = _STORY.search(page.path[-1] if page.path else "")
        if page.first("article") is None or not title or not found:
            return None
        post = _state(page, found[1])
        account = meta.get("article:author", "").rpartition("/@")[2]
        minutes, creator = _MINUTES.search(meta.get("twitter:data1", "")), post.get("creator") or {}
        locked, shown = post.get("isLocked"), date_within(page.text(_SHOWN_DATE))
        declared = node_date(node, "datePublished") or moment(post.get("firstPublishedAt"))
        text = extract(page.markup, page.url).text
        first, _, rest = text.partition("\n")
        return Record(
            self.name, "story", page.canonical, id=found[1], title=title,
            text=rest.lstrip("\n") if _MINUTES.fullmatch(first) else text,
            author=author_of(node)[0] or meta.get("author") or creator.get("name"),
            handle=account or creator.get("username"),
            published=declared or shown or iso_date(meta.get("article:published_time", "")),
            modified=node_date(node, "dateModified") or moment(post.get("latestPublishedAt")),
            counts=counts(
                minutes=minutes[1] if minutes else post.get("readingTime"),
                claps=post.get("clapCount") or number(page.text(".pw-multi-vote-count")),
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


def _state(page: SitePage, name: str) -> dict[str, Any]:
    """The story in the page's state, what it refers to in its place."""
    state = variable(page, "__APOLLO_STATE__") or {}

    def resolved(value: Any) -> Any:
        if isinstance(value, list):
            return [resolved(item) for item in value]
        refers = isinstance(value, dict) and "__ref" in value
        return state.get(value["__ref"], {}) if refers else value

    return {key: resolved(value) for key, value in state.get(f"Post:{name}", {}).items()}
