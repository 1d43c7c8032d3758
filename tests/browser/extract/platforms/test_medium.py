"""Medium: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

import json

from tests.browser.extract.platforms.reading import parsed


def test_medium_story() -> None:
    text = "A knot holds a boat to the pier through the night and the wind. " * 5
    page = f"""<meta property="og:type" content=article><meta name=author content="Ann Rower"><meta property="article:author" content="https://medium.com/@ann">
    <meta property="article:published_time" content="2024-05-03T08:00:00Z"><meta name="twitter:data1" content="7 min read"><article><h1 class=pw-post-title>Knots</h1><p>{text}</p><p>{text}</p></article>"""
    story = parsed("https://medium.com/@ann/knots-ac4ec8aee7d1", page)
    assert (story.id, story.title, story.author, story.handle) == (
        "ac4ec8aee7d1",
        "Knots",
        "Ann Rower",
        "ann",
    )
    assert story.counts == {"minutes": 7}
    assert story.text.startswith("A knot holds")


def test_what_only_the_state_of_the_page_holds() -> None:
    state = {
        "Post:ac4ec8aee7d1": {
            "clapCount": 1234,
            "firstPublishedAt": 1714723200000,
            "latestPublishedAt": 1714809600000,
            "readingTime": 6.4,
            "isLocked": True,
            "creator": {"__ref": "User:1"},
            "collection": {"__ref": "Collection:2"},
            "tags": [{"__ref": "Tag:rope"}],
            "postResponses": {"count": 3},
        },
        "User:1": {"name": "Ann", "username": "ann"},
        "Collection:2": {"name": "Harbour"},
        "Tag:rope": {"displayTitle": "Rope"},
    }
    page = f"<meta property='og:title' content=Knots><article><p>{'A knot holds a boat to the pier. ' * 9}</p></article><script>window.__APOLLO_STATE__ = {json.dumps(state)}</script>"
    story = parsed("https://medium.com/harbour/knots-ac4ec8aee7d1", page)
    assert (story.author, story.handle, story.tags) == ("Ann", "ann", ("Rope",))
    assert (story.published, story.modified) == (
        "2024-05-03T08:00:00+00:00",
        "2024-05-04T08:00:00+00:00",
    )
    assert story.counts == {"minutes": 6, "claps": 1234, "responses": 3}
    assert story.fields == {"free": "false", "publication": "Harbour"}
