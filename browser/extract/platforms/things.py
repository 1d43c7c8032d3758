"""Recipes, products, films and events of any site, as schema.org describes them in JSON-LD."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from browser.extract.jsonld import names, text_of
from browser.extract.platforms.base import Platform
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.postings import (
    author_of,
    date_of,
    first_node,
    node_of,
    words_of,
)
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import fields

if TYPE_CHECKING:
    from collections.abc import Iterator

    from browser.extract.platforms.source import Source

KINDS = {
    "Recipe": "recipe", "Product": "product", "ProductGroup": "product", "Movie": "film",
    "TVSeries": "series", "TVEpisode": "episode", "TVSeason": "season", "VideoGame": "game",
    "Book": "book", "Audiobook": "book", "MusicAlbum": "album", "PodcastEpisode": "episode",
    "Event": "event", "MusicEvent": "event", "SportsEvent": "event", "Festival": "event",
    "JobPosting": "job", "Course": "course", "SoftwareApplication": "software",
    "MobileApplication": "software", "Restaurant": "place", "Hotel": "place",
    "TouristAttraction": "place", "HowTo": "how_to",
}  # fmt: skip
"""Types of things with the kinds of record they become, the ones first that name a page best."""
# Properties with one value of text, by the name they get in `fields`.
_PLAIN = {
    "recipeYield": "yield", "totalTime": "total_time", "cookTime": "cook_time",
    "prepTime": "prep_time", "recipeCuisine": "cuisine", "sku": "sku", "gtin13": "gtin",
    "gtin": "gtin", "mpn": "mpn", "contentRating": "rated", "duration": "duration",
    "startDate": "starts", "endDate": "ends", "isbn": "isbn", "color": "color",
    "material": "material", "telephone": "telephone", "openingHours": "opening_hours",
    "priceRange": "price_range", "validThrough": "until", "employmentType": "employment",
    "operatingSystem": "system", "softwareVersion": "version", "episodeNumber": "episode",
    "alternateName": "also_called", "keywords": "keywords",
    "numberOfSeasons": "seasons", "numberOfPages": "pages", "inLanguage": "language",
}  # fmt: skip
# Properties that hold people, organisations or other things with names.
_NAMED = {
    "brand": "brand", "director": "director", "actor": "actors", "creator": "creator",
    "publisher": "publisher", "organizer": "organizer", "performer": "performers",
    "hiringOrganization": "employer", "provider": "provider", "partOfSeries": "series",
    "byArtist": "artist", "servesCuisine": "cuisine",
}  # fmt: skip


class Things(Platform):
    """The node of one of these types; steps and ingredients as a text of list items."""

    name = "schema.org"
    general = True
    verified = False

    def claims(self, source: Source) -> bool:
        """Pages that declare such a thing."""
        return source.json is None and bool(node_of(source, *KINDS))

    def parse(self, source: Source) -> Record | None:
        """Read the first such thing on the page."""
        kind, node = next((k, n) for k in KINDS if (n := node_of(source, k)))
        title = text_of(node.get("name"))
        if not title:
            return None
        rating, offer = first_node(node.get("aggregateRating")), first_node(node.get("offers"))
        place = first_node(node.get("location"))
        return Record(
            self.name, KINDS[kind], source.canonical, title=title, text=_text(node),
            author=author_of(node)[0], published=date_of(node, "datePublished", "releaseDate"),
            counts=counts(ratings=rating.get("ratingCount"), reviews=rating.get("reviewCount")),
            fields={
                **fields(
                    rating=rating.get("ratingValue"), best_rating=rating.get("bestRating"),
                    place=text_of(place.get("name")), address=_address(place or node),
                    calories=text_of(first_node(node.get("nutrition")).get("calories")),
                    **{name: ", ".join(names(node.get(key))) for key, name in _NAMED.items()},
                    **{name: _plain(node.get(key)) for key, name in _PLAIN.items()
                       if node.get(key) is not None},
                ),
                **_price(offer),
            },
            tags=tuple(names(node.get("genre")) or names(node.get("recipeCategory"))),
            media=tuple(_pictures(node.get("image")))[:1],
        )  # fmt: skip


def _price(offer: dict[str, Any]) -> dict[str, str]:
    """An offer's price, in its own words or those of its specification; of many the span."""
    said = first_node(offer.get("priceSpecification"))
    low, high = offer.get("lowPrice"), offer.get("highPrice")
    price = next((p for p in (offer.get("price"), said.get("price"), low) if p is not None), None)
    return fields(
        price=price,
        highest_price=high if high != price else None,
        currency=offer.get("priceCurrency") or said.get("priceCurrency"),
        availability=text_of(offer.get("availability")).rpartition("/")[2],
        condition=text_of(offer.get("itemCondition")).rpartition("/")[2],
    )


def _plain(value: object) -> str:
    item = value[0] if isinstance(value, list) and value else value
    return str(item) if isinstance(item, int | float) else text_of(item)


def _address(node: dict[str, Any]) -> str:
    address = node.get("address")
    if not isinstance(address, dict):
        return text_of(address)
    keys = ("streetAddress", "postalCode", "addressLocality", "addressRegion", "addressCountry")
    return ", ".join(text for key in keys if (text := text_of(address.get(key))))


def _pictures(value: object) -> Iterator[str]:
    for item in value if isinstance(value, list) else [value]:
        address = item.get("url") if isinstance(item, dict) else item
        if isinstance(address, str):
            yield address


def _text(node: dict[str, Any]) -> str:
    parts = [words_of(node, "description")]
    ingredients = node.get("recipeIngredient")
    if isinstance(ingredients, list):
        parts.append("\n".join(f"- {text_of(item)}" for item in ingredients))
    steps = _steps(node.get("recipeInstructions") or node.get("step"))
    parts.append("\n".join(f"- {step}" for step in steps))
    return "\n\n".join(part for part in parts if part)


def _steps(value: object) -> list[str]:
    """Steps are text, `HowToStep`, or `HowToSection` with more of them."""
    found: list[str] = []
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict) and "itemListElement" in item:
            found.extend(_steps(item["itemListElement"]))
        elif step := text_of(item.get("text") if isinstance(item, dict) else item):
            found.append(step)
    return found
