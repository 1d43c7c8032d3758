"""Discourse: each field, from small pages written after its markup."""

from __future__ import annotations

from tests.browser.extract.platforms.reading import parsed


def test_discourse_topic_and_list() -> None:
    post = {
        "id": 1,
        "post_number": 1,
        "username": "ann",
        "name": "Ann",
        "cooked": "<p>Hello.</p>",
        "created_at": "2024-05-03T08:00:00Z",
        "topic_id": 9,
        "topic_slug": "t",
    }
    topic = {
        "id": 9,
        "slug": "t",
        "title": "Tides",
        "views": 5,
        "tags": ["sea"],
        "post_stream": {
            "posts": [
                post,
                {
                    **post,
                    "id": 2,
                    "post_number": 2,
                    "reply_to_post_number": 1,
                    "cooked": "<p>Hi.</p>",
                },
            ]
        },
    }
    record = parsed("https://forum.example/t/t/9.json", topic)
    assert (record.url, record.title, record.text, record.author, record.tags) == (
        "https://forum.example/t/t/9",
        "Tides",
        "Hello.",
        "Ann",
        ("sea",),
    )
    assert [(p.text, p.parent) for p in record.items] == [("Hi.", "1")]
    latest = {
        "users": [{"id": 3, "username": "ann"}],
        "topic_list": {
            "topics": [
                {
                    "id": 9,
                    "slug": "t",
                    "title": "Tides",
                    "posts_count": 2,
                    "posters": [{"user_id": 3}],
                }
            ]
        },
    }
    assert parsed("https://forum.example/latest.json", latest).items[0].author == "ann"
