"""Mastodon: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

from typing import Any

from tests.browser.extract.platforms.reading import parse_record


def test_post_is_parsed_on_any_host() -> None:
    page = """<meta property="profile:username" content="ann@port.example"><meta property="og:published_time" content="2024-05-03T08:00:00Z"><div id=mastodon><div class=detailed-status>
    <strong class=display-name__html>Ann</strong><div class=status__content__text><p>High tide.</p></div><span class=detailed-status__favorites>1.2K</span></div>
    <div class=status data-id=6><a class=status__display-name title="bo@b.example"></a><strong class=display-name__html>Bo</strong><time datetime="2024-05-03T09:00:00Z"></time><div class=status__content__text>Yes.</div></div></div>"""
    post = parse_record("https://port.example/@ann/5", page)
    assert (post.id, post.text, post.author, post.handle) == (
        "5",
        "High tide.",
        "Ann",
        "ann@port.example",
    )
    assert post.counts == {"likes": 1200}
    assert [(r.id, r.text, r.handle) for r in post.items] == [("6", "Yes.", "bo@b.example")]
    api = {
        "id": "5",
        "url": "https://port.example/@ann/5",
        "content": "<p>High.</p>",
        "created_at": "2024-05-03T08:00:00Z",
        "account": {"acct": "ann", "display_name": "Ann"},
        "favourites_count": 2,
    }
    assert parse_record("https://port.example/api/v1/statuses/5", api).text == "High."


STATUS: dict[str, Any] = {
    "id": "5", "url": "https://port.example/@ann/5", "content": "<p>High.</p>", "created_at": "2024-05-03T08:00:00Z",
    "account": {"acct": "ann", "display_name": "Ann"}, "replies_count": 1, "reblogs_count": 2, "favourites_count": 3,
}  # fmt: skip
API = "https://port.example/api/v1/statuses/5"


def test_status_yields_warning_poll_edit_media_and_visibility() -> None:
    status = STATUS | {
        "edited_at": "2024-05-04T08:00:00Z", "spoiler_text": "Tides", "visibility": "unlisted", "language": "en", "in_reply_to_id": "4", "tags": [{"name": "sea"}],
        "poll": {"options": [{"title": "Up", "votes_count": 2}, {"title": "Down", "votes_count": None}]},
        "media_attachments": [{"url": "https://port.example/1.jpg", "description": "A gull"}, {"url": None, "description": None}], "card": {"url": "https://e.org", "title": "Tides"},
    }  # fmt: skip
    post = parse_record(API, status)
    assert (post.modified, post.parent, post.tags) == ("2024-05-04T08:00:00+00:00", "4", ("sea",))
    assert post.counts == {"replies": 1, "reposts": 2, "likes": 3}
    assert post.fields == {
        "warning": "Tides",
        "poll": "Up: 2; Down: None",
        "language": "en",
        "visibility": "unlisted",
        "media_text": "A gull",
    }
    assert post.media == ("https://port.example/1.jpg",)
    assert [link.url for link in post.links] == ["https://e.org"]


def test_boost_becomes_original_post_and_quote_an_item() -> None:
    boost = {"id": "9", "account": {"acct": "bo"}, "content": "", "reblog": STATUS}
    post = parse_record(API, boost)
    assert (post.id, post.handle, post.fields) == ("5", "ann", {"boosted_by": "bo"})
    quoting = STATUS | {"quote": {"state": "accepted", "quoted_status": STATUS | {"id": "3"}}}
    assert [item.id for item in parse_record(API, quoting).items] == ["3"]


def test_context_and_account_are_parsed() -> None:
    thread = {"ancestors": [STATUS | {"id": "4"}], "descendants": [STATUS | {"id": "6"}]}
    listing = parse_record(f"{API}/context", thread)
    assert [item.id for item in listing.items] == ["4", "6"]
    account = {
        "id": "1",
        "acct": "ann",
        "display_name": "Ann",
        "url": "https://port.example/@ann",
        "note": "<p>Boats.</p>",
        "followers_count": 7,
        "locked": True,
        "bot": False,
        "fields": [{"name": "Web", "value": "<a href='https://e.org'>e.org</a>"}],
    }
    profile = parse_record("https://port.example/api/v1/accounts/1", account)
    assert (profile.kind, profile.text, profile.counts) == ("profile", "Boats.", {"followers": 7})
    assert profile.fields == {"field: Web": "e.org", "marks": "locked"}


def test_profile_page_is_read_from_meta_tags() -> None:
    page = """<div id=mastodon></div><meta property="og:type" content=profile><meta property="og:title" content="Ann (@ann@port.example)"><meta property="og:description" content="7 Followers. Boats."><meta property="profile:username" content="ann@port.example">"""
    profile = parse_record("https://port.example/@ann", page)
    assert (profile.kind, profile.author, profile.handle) == ("profile", "Ann", "ann@port.example")
