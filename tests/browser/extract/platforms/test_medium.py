"""Medium: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

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
