"""News sites of any host: articles and live blogs that declare themselves in JSON-LD."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from browser.extract.html import extract
from browser.extract.jsonld import names, text_of
from browser.extract.platforms.base import Platform
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.postings import author_of, date_of, node_of, words_of
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import fields
from browser.extract.platforms.things import KINDS

if TYPE_CHECKING:
    from browser.extract.platforms.source import Source

_KINDS = (
    "LiveBlogPosting", "NewsArticle", "ReportageNewsArticle", "AnalysisNewsArticle",
    "OpinionNewsArticle",
)  # fmt: skip


class News(Platform):
    """`NewsArticle` and its kin; the text is that of the article path."""

    name = "news"
    general = True

    def claims(self, source: Source) -> bool:
        """Pages that say they are news."""
        if source.json is not None:
            return False
        if node_of(source, *_KINDS):
            return True
        # A recipe or a product on a blog is read as what it is.
        thing = node_of(source, *KINDS)
        return source.meta.get("og:type") == "article" and not thing

    def parse(self, source: Source) -> Record | None:
        """Read one article; the entries of a live blog are its items."""
        node, page = node_of(source, *_KINDS), extract(source.markup, source.url)
        if not page.text:
            return None
        section = node.get("articleSection")
        free = node.get("isAccessibleForFree")
        said = node.get("liveBlogUpdate") or []
        updates = said if isinstance(said, list) else [said]
        picture = source.meta.get("og:image")
        return Record(
            self.name, "live_blog" if updates else "article",
            page.canonical_url or source.url,
            title=text_of(node.get("headline")) or source.meta.get("og:title", page.title),
            text=page.text, author=page.author, published=page.published, modified=page.modified,
            fields=fields(
                publisher=_publisher(node) or page.site, description=page.description,
                language=page.language,
                section=", ".join(section) if isinstance(section, list) else section,
                free=None if free is None else str(free).lower(),
            ),
            tags=_keywords(node), counts=counts(words=node.get("wordCount")),
            media=(picture,) if picture else (),
            items=tuple(_update(update) for update in updates if isinstance(update, dict)),
        )  # fmt: skip


def _publisher(node: dict[str, Any]) -> str | None:
    return next(iter(names(node.get("publisher"))), None)


def _keywords(node: dict[str, Any]) -> tuple[str, ...]:
    value = node.get("keywords") or ()
    words = value.split(",") if isinstance(value, str) else value
    return tuple(word.strip() for word in words if isinstance(word, str) and word.strip())


def _update(update: dict[str, Any]) -> Record:
    return Record(
        "news", "update", text_of(update.get("url")), title=text_of(update.get("headline")) or None,
        text=words_of(update, "articleBody"), author=author_of(update)[0],
        published=date_of(update, "datePublished"), modified=date_of(update, "dateModified"),
    )  # fmt: skip
