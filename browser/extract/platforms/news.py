"""News of any host: articles and live blogs, by what they declare."""

from __future__ import annotations

from browser.extract.html import extract
from browser.extract.metadata import names, text_of
from browser.extract.platforms import LinkedData, Platform, Record, SitePage
from browser.extract.platforms.things import is_thing

_NEWS = ("LiveBlogPosting", "NewsArticle", "ReportageNewsArticle", "AnalysisNewsArticle",
         "OpinionNewsArticle")  # fmt: skip


class News(Platform):
    """`NewsArticle` and its kin; the text is that of the article path."""

    name = "news"
    general = True

    def claims(self, page: SitePage) -> bool:
        """Pages that say they are news; a recipe or a product on a blog is read as what it is."""
        if page.json is not None:
            return False
        return bool(page.linked_data(*_NEWS)) or (
            page.meta["og:type"] == "article" and not is_thing(page)
        )

    def parse(self, page: SitePage) -> Record | None:
        """Read one article; the entries of a live blog are its items."""
        node, article = page.linked_data(*_NEWS), extract(page.markup, page.url)
        if not article.text:
            return None
        section, free = node.get("articleSection"), node.get("isAccessibleForFree")
        found = node.get("liveBlogUpdate") or []
        updates = found if isinstance(found, list) else [found]
        picture, keywords = page.meta["og:image"], node.get("keywords") or ()
        words = keywords.split(",") if isinstance(keywords, str) else keywords
        return Record(
            self.name, "live_blog" if updates else "article", article.canonical_url or page.url,
            title=text_of(node.get("headline")) or page.meta.get("og:title", article.title),
            text=article.text, author=article.author, published=article.published,
            modified=article.modified, counts={"words": node.get("wordCount")},
            fields={
                "publisher": next(iter(names(node.get("publisher"))), None) or article.site,
                "description": article.description, "language": article.language,
                "section": ", ".join(section) if isinstance(section, list) else section,
                "free": None if free is None else str(free).lower(),
            },
            tags=tuple(w.strip() for w in words if isinstance(w, str) and w.strip()),
            media=(picture,) if picture else (),
            items=tuple(_update(LinkedData(u)) for u in updates if isinstance(u, dict)),
        )  # fmt: skip


def _update(node: LinkedData) -> Record:
    return Record(
        "news", "update", text_of(node.get("url")), title=text_of(node.get("headline")) or None,
        text=node.text("articleBody"), author=node.author,
        published=node.date("datePublished"), modified=node.date("dateModified"),
    )  # fmt: skip
