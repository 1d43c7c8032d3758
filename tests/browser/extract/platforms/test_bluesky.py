"""Bluesky: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

import json

from tests.browser.extract.platforms.reading import parsed


def test_bluesky_post_from_page_and_api() -> None:
    node = {
        "@type": "DiscussionForumPosting",
        "text": "It&#39;s high tide.",
        "datePublished": "2024-05-03T08:00:00Z",
        "author": {"name": "Ann", "alternateName": "@ann.bsky.social"},
        "interactionStatistic": [
            {"interactionType": "https://schema.org/LikeAction", "userInteractionCount": 3}
        ],
    }
    page = f'<script type="application/ld+json">{json.dumps(node)}</script>'
    post = parsed("https://bsky.app/profile/ann.bsky.social/post/3k", page)
    assert (post.id, post.text, post.author, post.handle) == (
        "3k",
        "It's high tide.",
        "Ann",
        "ann.bsky.social",
    )
    assert post.counts == {"likes": 3}
    reply = {"thread": {"post": {"uri": "at://did/app.bsky.feed.post/3k", "author": {"handle": "ann.bsky.social", "displayName": "Ann"},
             "record": {"text": "High.", "createdAt": "2024-05-03T08:00:00Z"}, "likeCount": 2}, "replies": []}}  # fmt: skip
    same = parsed("https://public.api.bsky.app/xrpc/app.bsky.feed.getPostThread", reply)
    assert (same.text, same.url, same.counts) == (
        "High.",
        "https://bsky.app/profile/ann.bsky.social/post/3k",
        {"likes": 2},
    )
