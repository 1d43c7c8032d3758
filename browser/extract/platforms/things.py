"""Recipes, products, films and events of any site, as schema.org describes them in JSON-LD."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from browser.extract.jsonld import names, text_of
from browser.extract.platforms.base import Platform
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.postings import author_of, date_of, node_of, words_of
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import fields

if TYPE_CHECKING:
    from browser.extract.platforms.source import Source

_KINDS = {"Recipe": "recipe", "Product": "product", "Movie": "film", "TVSeries": "series",
          "Book": "book", "Event": "event"}  # fmt: skip
# Properties with one value of text, by the name they get in `fields`.
_PLAIN = {
    "recipeYield": "yield", "totalTime": "total_time", "cookTime": "cook_time",
    "prepTime": "prep_time", "recipeCuisine": "cuisine", "sku": "sku", "gtin13": "gtin",
    "contentRating": "rated", "duration": "duration", "startDate": "starts", "endDate": "ends",
    "isbn": "isbn", "color": "color", "material": "material",
}  # fmt: skip


class Things(Platform):
    """The node of one of these types; steps and ingredients as a text of list items."""

    name = "schema.org"
    general = True
    verified = False

    def claims(self, source: Source) -> bool:
        """Pages that declare such a thing."""
        return source.json is None and bool(node_of(source, *_KINDS))

    def parse(self, source: Source) -> Record | None:
        """Read the first such thing on the page."""
        kind, node = next((k, n) for k in _KINDS if (n := node_of(source, k)))
        title = text_of(node.get("name"))
        if not title:
            return None
        rating, offer = _first(node.get("aggregateRating")), _first(node.get("offers"))
        place = _first(node.get("location"))
        return Record(
            self.name, _KINDS[kind], source.canonical, title=title, text=_text(node),
            author=author_of(node)[0], published=date_of(node, "datePublished", "releaseDate"),
            counts=counts(ratings=rating.get("ratingCount"), reviews=rating.get("reviewCount")),
            fields=fields(
                rating=rating.get("ratingValue"), best_rating=rating.get("bestRating"),
                price=offer.get("price") or offer.get("lowPrice"),
                currency=offer.get("priceCurrency"),
                availability=text_of(offer.get("availability")).rpartition("/")[2],
                brand=", ".join(names(node.get("brand"))), place=text_of(place.get("name")),
                director=", ".join(names(node.get("director"))),
                actors=", ".join(names(node.get("actor"))),
                **{name: text_of(node.get(key)) for key, name in _PLAIN.items()},
            ),
            tags=tuple(names(node.get("genre")) or names(node.get("recipeCategory"))),
        )  # fmt: skip


def _text(node: dict[str, Any]) -> str:
    parts = [words_of(node, "description")]
    ingredients = node.get("recipeIngredient")
    if isinstance(ingredients, list):
        parts.append("\n".join(f"- {text_of(item)}" for item in ingredients))
    parts.append("\n".join(f"- {step}" for step in _steps(node.get("recipeInstructions"))))
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


def _first(value: object) -> dict[str, Any]:
    item = value[0] if isinstance(value, list) and value else value
    return item if isinstance(item, dict) else {}
