"""News, recipes, products and what else pages of any host declare in JSON-LD."""

from __future__ import annotations

from dataclasses import replace
from html import unescape

from browser.extract.html import extract
from browser.extract.metadata import names, text_of
from browser.extract.platforms import LinkedData, Platform, Record, RecordPaths, SitePage

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
        article = page.meta["og:type"] == "article" and not page.linked_data(*_KINDS)
        return article or bool(page.linked_data(*_NEWS))

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


_KINDS = {
    "Recipe": "recipe", "Product": "product", "ProductGroup": "product", "Movie": "film",
    "TVSeries": "series", "TVEpisode": "episode", "VideoGame": "game", "Book": "book",
    "MusicAlbum": "album", "PodcastEpisode": "episode", "Event": "event", "MusicEvent": "event",
    "SportsEvent": "event", "Festival": "event", "JobPosting": "job", "Course": "course",
    "SoftwareApplication": "software", "MobileApplication": "software", "Restaurant": "place",
    "Hotel": "place", "TouristAttraction": "place", "HowTo": "how_to",
}  # fmt: skip
_SPECIFIED = "offers.priceSpecification"
_THING = RecordPaths(
    "thing", title="name", text="description", author="author.name || author",
    published="datePublished || releaseDate", tags="genre || recipeCategory",
    media="image.url || image",
    counts={"ratings": "aggregateRating.ratingCount", "reviews": "aggregateRating.reviewCount"},
    fields={
        "rating": "aggregateRating.ratingValue", "best_rating": "aggregateRating.bestRating",
        "price": f"offers.price || {_SPECIFIED}.price || offers.lowPrice",
        "highest_price": "offers.highPrice",
        "currency": f"offers.priceCurrency || {_SPECIFIED}.priceCurrency",
        "availability": "offers.availability -> [^/]+$",
        "condition": "offers.itemCondition -> [^/]+$",
        "brand": "brand.name || brand", "director": "director.name", "actors": "actor.name",
        "creator": "creator.name", "publisher": "publisher.name", "organizer": "organizer.name",
        "performers": "performer.name", "employer": "hiringOrganization.name",
        "artist": "byArtist.name", "cuisine": "servesCuisine || recipeCuisine",
        "ingredients": "* recipeIngredient",
        "steps": "* recipeInstructions.itemListElement.text || recipeInstructions.text"
        " || recipeInstructions || step.text",
        "place": "location.name", "address": "address.streetAddress || address"
        " || location.address.streetAddress",
        "town": "address.addressLocality || location.address.addressLocality",
        "yield": "recipeYield", "total_time": "totalTime", "duration": "duration",
        "calories": "nutrition.calories", "starts": "startDate", "ends": "endDate",
        "rated": "contentRating", "isbn": "isbn", "sku": "sku", "gtin": "gtin13 || gtin",
        "telephone": "telephone", "price_range": "priceRange", "until": "validThrough",
        "employment": "employmentType", "system": "operatingSystem", "version": "softwareVersion",
        "seasons": "numberOfSeasons", "episode": "episodeNumber", "pages": "numberOfPages",
    },
)  # fmt: skip


class Things(Platform):
    """Recipes, products, films, events and their kin, by their nodes in JSON-LD."""

    name = "schema.org"
    general = True
    verified = False

    def claims(self, page: SitePage) -> bool:
        """Pages that declare such a thing."""
        return page.json is None and bool(page.linked_data(*_KINDS))

    def parse(self, page: SitePage) -> Record | None:
        """Read the first such thing on the page."""
        kind, node = next((k, n) for k in _KINDS if (n := page.linked_data(k)))
        record = replace(_THING, kind=_KINDS[kind]).read(page, self.name, node)
        return replace(record, url=page.canonical, title=unescape(record.title),
                       text=unescape(record.text)) if record.title else None  # fmt: skip
