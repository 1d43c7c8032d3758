"""Things of any site in JSON-LD: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.extract.platforms.reading import ld, parsed


def test_a_recipe_with_its_ingredients_and_steps() -> None:
    recipe = {"@type": "Recipe", "name": "Eel soup", "description": "Warm.", "recipeIngredient": ["1 eel", "salt"], "totalTime": "PT1H", "recipeYield": "4", "author": {"name": "Ann"},
              "recipeInstructions": [{"@type": "HowToSection", "itemListElement": [{"@type": "HowToStep", "text": "Boil."}]}, {"@type": "HowToStep", "text": "Eat."}],
              "aggregateRating": {"ratingValue": 4.5, "ratingCount": 12}}  # fmt: skip
    soup = parsed(
        "https://soup.example/eel",
        ld(recipe),
    )
    assert (soup.platform, soup.kind, soup.title, soup.author) == (
        "schema.org",
        "recipe",
        "Eel soup",
        "Ann",
    )
    assert soup.text == "Warm.\n\n- 1 eel\n- salt\n\n- Boil.\n- Eat."
    assert soup.fields == {"rating": "4.5", "total_time": "PT1H", "yield": "4"}
    assert soup.counts == {"ratings": 12}


def test_a_product_with_its_price() -> None:
    product = {
        "@type": ["Product"],
        "name": "Rope",
        "brand": {"name": "Hemp & Co"},
        "offers": [
            {"price": "9.90", "priceCurrency": "EUR", "availability": "https://schema.org/InStock"}
        ],
    }
    rope = parsed(
        "https://shop.example/rope",
        ld(product),
    )
    assert rope.fields == {
        "price": "9.90",
        "currency": "EUR",
        "availability": "InStock",
        "brand": "Hemp & Co",
    }


def test_a_film_with_its_people() -> None:
    film = parsed(
        "https://films.example/tt1",
        ld(
            {
                "@type": "Movie",
                "name": "The Lock &amp; Key",
                "description": "Gates.",
                "datePublished": "2024-05-03",
                "duration": "PT1H52M",
                "contentRating": "PG",
                "genre": ["Drama", "Sea"],
                "image": "https://e.org/p.jpg",
                "director": [{"@type": "Person", "name": "Ann Rower"}],
                "actor": [{"name": "Bo"}, {"name": "Cy"}],
                "creator": [{"@type": "Organization", "url": "/co/1"}, {"name": "Jo Mole"}],
                "aggregateRating": {"ratingValue": 7.8, "bestRating": 10, "ratingCount": 12345},
            }
        ),
    )
    assert (film.kind, film.title, film.published, film.tags) == (
        "film",
        "The Lock & Key",
        "2024-05-03",
        ("Drama", "Sea"),
    )
    assert film.fields == {
        "rating": "7.8",
        "best_rating": "10",
        "director": "Ann Rower",
        "actors": "Bo, Cy",
        "creator": "Jo Mole",
        "rated": "PG",
        "duration": "PT1H52M",
    }
    assert (film.counts, film.media) == ({"ratings": 12345}, ("https://e.org/p.jpg",))


def test_a_series() -> None:
    series = parsed(
        "https://films.example/tt2",
        ld({"@type": "TVSeries", "name": "Locks", "numberOfSeasons": 3}),
    )
    assert (series.kind, series.fields) == ("series", {"seasons": "3"})


@pytest.mark.parametrize(
    ("offers", "said"),
    [
        (
            {"@type": "AggregateOffer", "lowPrice": 5, "highPrice": 9, "priceCurrency": "EUR"},
            {"price": "5", "highest_price": "9", "currency": "EUR"},
        ),
        (
            [{"priceSpecification": [{"price": "4.50", "priceCurrency": "GBP"}]}],
            {"price": "4.50", "currency": "GBP"},
        ),
        (
            {
                "price": 0,
                "priceCurrency": "USD",
                "itemCondition": "https://schema.org/UsedCondition",
            },
            {"price": "0", "currency": "USD", "condition": "UsedCondition"},
        ),
        (None, {}),
    ],
)
def test_offers_in_their_many_forms(offers: Any, said: dict[str, str]) -> None:
    product = parsed(
        "https://shop.example/rope", ld({"@type": "Product", "name": "Rope", "offers": offers})
    )
    assert product.fields == said


def test_a_recipe_whose_steps_are_one_text_and_a_place() -> None:
    soup = parsed(
        "https://soup.example/eel",
        ld(
            {
                "@type": ["Recipe"],
                "name": "Eel soup",
                "recipeIngredient": ["1 eel"],
                "recipeInstructions": "Boil. Eat.",
                "recipeYield": [4, "4 bowls"],
                "nutrition": {"calories": "240 kcal"},
            }
        ),
    )
    assert soup.text == "- 1 eel\n\n- Boil. Eat."
    assert soup.fields == {"calories": "240 kcal", "yield": "4"}
    inn = parsed(
        "https://inn.example",
        ld(
            {
                "@type": "Restaurant",
                "name": "The Eel",
                "servesCuisine": ["Fish", "Soup"],
                "priceRange": "$$",
                "address": {"streetAddress": "1 Quay", "addressLocality": "Port Elm"},
            }
        ),
    )
    assert (inn.kind, inn.fields) == (
        "place",
        {"address": "1 Quay, Port Elm", "cuisine": "Fish, Soup", "price_range": "$$"},
    )
