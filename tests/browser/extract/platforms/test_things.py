"""Things of any site in JSON-LD: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

import json

from tests.browser.extract.platforms.reading import parsed


def test_recipes_and_products_of_any_site() -> None:
    recipe = {"@type": "Recipe", "name": "Eel soup", "description": "Warm.", "recipeIngredient": ["1 eel", "salt"], "totalTime": "PT1H", "recipeYield": "4", "author": {"name": "Ann"},
              "recipeInstructions": [{"@type": "HowToSection", "itemListElement": [{"@type": "HowToStep", "text": "Boil."}]}, {"@type": "HowToStep", "text": "Eat."}],
              "aggregateRating": {"ratingValue": 4.5, "ratingCount": 12}}  # fmt: skip
    soup = parsed(
        "https://soup.example/eel",
        f'<script type="application/ld+json">{json.dumps(recipe)}</script>',
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
        f'<script type="application/ld+json">{json.dumps(product)}</script>',
    )
    assert rope.fields == {
        "price": "9.90",
        "currency": "EUR",
        "availability": "InStock",
        "brand": "Hemp & Co",
    }
