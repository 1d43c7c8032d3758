"""Bluesky: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

import json
from typing import Any

from browser.types import Link
from tests.browser.extract.platforms.reading import ld, parse_record


def test_post_is_parsed_from_page_and_api() -> None:
    node = {
        "@type": "DiscussionForumPosting",
        "text": "It&#39;s high tide.",
        "datePublished": "2024-05-03T08:00:00Z",
        "author": {"name": "Ann", "alternateName": "@ann.bsky.social"},
        "interactionStatistic": [
            {"interactionType": "https://schema.org/LikeAction", "userInteractionCount": 3}
        ],
    }
    page = ld(node)
    post = parse_record("https://bsky.app/profile/ann.bsky.social/post/3k", page)
    assert (post.id, post.text, post.author, post.handle) == (
        "3k",
        "It's high tide.",
        "Ann",
        "ann.bsky.social",
    )
    assert post.counts == {"likes": 3}
    reply = {"thread": {"post": {"uri": "at://did/app.bsky.feed.post/3k", "author": {"handle": "ann.bsky.social", "displayName": "Ann"},
             "record": {"text": "High.", "createdAt": "2024-05-03T08:00:00Z"}, "likeCount": 2}, "replies": []}}  # fmt: skip
    same = parse_record("https://public.api.bsky.app/xrpc/app.bsky.feed.getPostThread", reply)
    assert (same.text, same.url, same.counts) == (
        "High.",
        "https://bsky.app/profile/ann.bsky.social/post/3k",
        {"likes": 2},
    )


def _rendered_post(handle: str, key: str, text: str) -> str:
    return f"""<div data-testid="postThreadItem-by-{handle}"><a href="/profile/{handle}"><div><div dir=auto>{handle.title()}</div><div dir=auto>@{handle}</div></div></a><a href="/profile/{handle}/post/{key}" data-tooltip="January 27, 2026 at 1:28 AM">9h</a>
    <div data-word-wrap=1>{text}</div><img src="https://cdn.example/img/feed_thumbnail/{key}" alt="A gull"><button data-testid=replyBtn aria-label="Reply (1,095 replies)"></button><div data-testid=repostCount>239</div><button data-testid=likeBtn aria-label="Like (3,121 likes)"></button></div>"""


def test_rendered_thread_is_parsed() -> None:
    page = (
        _rendered_post("ann.test", "k1", "Before.")
        + _rendered_post("bo.test", "k2", "Main.")
        + _rendered_post("cy.test", "k3", "After.")
    )
    post = parse_record("https://bsky.app/profile/bo.test/post/k2", page)
    assert (post.id, post.text, post.author, post.handle) == ("k2", "Main.", "Bo.Test", "bo.test")
    assert (post.url, post.published) == ("https://bsky.app/profile/bo.test/post/k2", "2026-01-27")
    assert post.counts == {"replies": 1095, "reposts": 239, "likes": 3121}
    assert post.fields == {"media_text": "A gull"}
    assert post.media == ("https://cdn.example/img/feed_thumbnail/k2",)
    assert [item.id for item in post.items] == ["k1", "k3"]


def test_stale_json_ld_of_another_post_is_ignored() -> None:
    node = {"@type": "DiscussionForumPosting", "text": "Old.", "author": {"name": "Ann"}}
    head = f'<link rel=canonical href="https://bsky.app/profile/ann.test/post/k1"><script type="application/ld+json">{json.dumps(node)}</script>'
    went_on = parse_record(
        "https://bsky.app/profile/bo.test/post/k2", head + _rendered_post("bo.test", "k2", "New.")
    )
    assert went_on.text == "New."
    stayed = parse_record(
        "https://bsky.app/profile/ann.test/post/k1",
        head + _rendered_post("bo.test", "k2", "Reply."),
    )
    assert (stayed.text, [item.text for item in stayed.items]) == ("Old.", ["Reply."])


def _post(key: str, text: str, **more: Any) -> dict[str, Any]:
    return {
        "uri": f"at://did/app.bsky.feed.post/{key}",
        "author": {"handle": "ann.test", "displayName": "Ann"},
        "record": {"text": text, "createdAt": "2024-05-03T08:00:00Z", **more.pop("record", {})},
        **more,
    }


def test_api_thread_yields_quotes_images_links_and_replies() -> None:
    quote = {
        "uri": "at://did/app.bsky.feed.post/q",
        "author": {"handle": "bo.test"},
        "value": {"text": "Quoted."},
    }
    embed = {
        "record": {"record": quote},
        "media": {"images": [{"fullsize": "https://cdn.example/1.jpg", "alt": "A gull"}]},
    }
    facets = [{"index": {"byteStart": 6, "byteEnd": 10}, "features": [{"uri": "https://e.org/a"}]}]
    record = {
        "facets": facets,
        "langs": ["en"],
        "reply": {"parent": {"uri": "at://did/app.bsky.feed.post/p"}},
    }
    thread = {
        "thread": {
            "post": _post("k", "Tidé here", embed=embed, record=record),
            "replies": [
                {"post": _post("r", "Yes.")},
                {"$type": "app.bsky.feed.defs#blockedPost", "uri": "at://did/app.bsky.feed.post/b"},
                {"$type": "app.bsky.feed.defs#notFoundPost", "uri": "at://x"},
            ],
        }
    }
    post = parse_record("https://public.api.bsky.app/xrpc/app.bsky.feed.getPostThread", thread)
    assert (post.id, post.parent, post.media) == ("k", "p", ("https://cdn.example/1.jpg",))
    assert post.fields == {"language": "en", "media_text": "A gull"}
    assert post.links == (Link("https://e.org/a", "here"),)
    assert [(i.kind, i.text) for i in post.items] == [
        ("quoted", "Quoted."),
        ("post", "Yes."),
        ("unavailable", ""),
        ("unavailable", ""),
    ]


def test_profile_and_feed_are_parsed_from_api() -> None:
    profile = parse_record(
        "https://public.api.bsky.app/xrpc/app.bsky.actor.getProfile",
        {
            "did": "did:1",
            "handle": "ann.test",
            "displayName": "Ann",
            "description": "Boats.",
            "followersCount": 3,
            "postsCount": 2,
        },
    )
    assert (profile.kind, profile.text, profile.counts) == (
        "profile",
        "Boats.",
        {"followers": 3, "posts": 2},
    )
    feed = {"feed": [{"post": _post("k", "One."), "reason": {"by": {"handle": "bo.test"}}}]}
    (post,) = parse_record(
        "https://public.api.bsky.app/xrpc/app.bsky.feed.getAuthorFeed", feed
    ).items
    assert post.fields == {"reposted_by": "bo.test"}
