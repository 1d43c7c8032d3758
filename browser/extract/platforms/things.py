"""Recipes, products and what else pages declare in JSON-LD."""

from __future__ import annotations

from dataclasses import replace
from html import unescape

from browser.extract.platforms import Platform, Record, RecordPaths, SitePage

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
        return page.json is None and is_thing(page)

    def parse(self, page: SitePage) -> Record | None:
        """Read the first such thing on the page."""
        kind, node = next((k, n) for k in _KINDS if (n := page.linked_data(k)))
        record = replace(_THING, kind=_KINDS[kind]).read(page, self.name, node)
        return replace(record, url=page.canonical, title=unescape(record.title),
                       text=unescape(record.text)) if record.title else None  # fmt: skip


def is_thing(page: SitePage) -> bool:
    """Whether a page declares a thing that is no article."""
    return bool(page.linked_data(*_KINDS))
