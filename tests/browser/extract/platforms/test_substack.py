"""Substack: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

import json
from typing import Any

from tests.browser.extract.platforms.reading import parse_record


def test_note_and_post_pages_are_parsed() -> None:
    note = """<meta property="og:title" content="Ann (@ann)"><div class=ProseMirror>Other.</div><div class="feedPermalinkUnit-x"><div class=ProseMirror><p>A note.</p></div></div>"""
    record = parse_record("https://substack.com/@ann/note/c-1", note)
    assert (record.id, record.text, record.author, record.handle) == (
        "c-1",
        "A note.",
        "Ann",
        "ann",
    )
    post = """<script type="application/ld+json">{"@type":"NewsArticle","headline":"Ropes","datePublished":"2024-05-03","author":[{"name":"Ann"}],"isAccessibleForFree":false}</script>
    <h1 class=post-title>Ropes</h1><h3 class=subtitle>On hemp</h3><div class=available-content><div class="body markup"><p>Long.</p></div></div>"""
    record = parse_record("https://ann.substack.com/p/ropes", post)
    assert (record.title, record.text, record.author, record.published) == (
        "Ropes",
        "Long.",
        "Ann",
        "2024-05-03",
    )
    assert record.fields == {"subtitle": "On hemp", "free": "false"}


ENTRY: dict[str, Any] = {
    "slug": "ropes",
    "title": "Ropes",
    "subtitle": "On hemp",
    "post_date": "2024-05-03T08:00:00.000Z",
    "updated_at": "2024-05-04T08:00:00.000Z",
    "audience": "only_paid",
    "type": "newsletter",
    "body_html": "<p>Long.</p><p>Longer.</p>",
    "reactions": {"❤": 12},
    "comment_count": 3,
    "restacks": 2,
    "wordcount": 900,
    "publishedBylines": [{"name": "Ann", "handle": "ann"}, {"name": "Bo"}],
    "postTags": [{"name": "hemp"}],
    "canonical_url": "https://ann.substack.com/p/ropes",
    "cover_image": "https://e.org/c.png",
}


def test_post_is_parsed_from_embedded_json_and_api() -> None:
    state = json.dumps(
        json.dumps({"post": ENTRY, "next": {"slug": "x", "title": "X", "post_date": ""}})
    )
    page = f"<script>window._preloads        = JSON.parse({state})</script>"
    for url, content in (
        ("https://ann.substack.com/p/ropes", page),
        ("https://ann.substack.com/api/v1/posts/ropes", ENTRY),
    ):
        post = parse_record(url, content)
        assert (post.kind, post.id, post.title, post.text) == (
            "post",
            "ropes",
            "Ropes",
            "Long.\n\nLonger.",
        )
        assert (post.author, post.handle) == ("Ann, Bo", "ann")
        assert (post.published, post.modified) == (
            "2024-05-03T08:00:00+00:00",
            "2024-05-04T08:00:00+00:00",
        )
        assert post.counts == {"likes": 12, "comments": 3, "restacks": 2, "words": 900}
        assert post.fields == {"subtitle": "On hemp", "free": "false"}
        assert (post.tags, post.media) == (("hemp",), ("https://e.org/c.png",))


def test_podcast_on_custom_domain_is_parsed() -> None:
    state = json.dumps(
        json.dumps(
            {
                "post": ENTRY
                | {"type": "podcast", "audience": "everyone", "podcast_url": "https://e.org/a.mp3"}
            }
        )
    )
    page = f"<link rel=preload href='https://substackcdn.com/x.js'><script>window._preloads = JSON.parse({state})</script>"
    post = parse_record("https://letters.example/p/ropes", page)
    assert (post.kind, post.fields["free"], post.fields["audio"]) == (
        "podcast",
        "true",
        "https://e.org/a.mp3",
    )
