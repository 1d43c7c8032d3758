"""Reddit: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

from tests.browser.extract.platforms.reading import parsed


def test_reddit_old_page() -> None:
    page = """<div class="thing link" data-author=ann data-subreddit=boats data-permalink="/r/boats/comments/a1/x/" data-score=7><a class=title>Which rope?</a>
    <div class=usertext-body><p>Tell me.</p></div></div><div class="thing comment" data-author=bo data-permalink="/r/boats/comments/a1/x/c1/" data-fullname=t1_c1>
    <div class=entry><span class="score unvoted">4 points</span><time datetime="2024-05-03T08:00:00Z"></time><div class=usertext-body><p>Hemp.</p></div></div>
    <div class=child><div class="thing comment" data-author=ann data-permalink=/p data-fullname=t1_c2><div class=entry><div class=usertext-body>Thanks.</div></div></div></div></div>"""
    post = parsed("https://old.reddit.com/r/boats/comments/a1/x/", page)
    assert (post.id, post.title, post.text, post.author) == ("a1", "Which rope?", "Tell me.", "ann")
    assert (post.counts, post.fields) == ({"points": 7}, {"community": "boats"})
    assert [(c.id, c.text, c.parent) for c in post.items] == [
        ("c1", "Hemp.", None),
        ("c2", "Thanks.", "c1"),
    ]
    assert post.items[0].counts == {"points": 4}


def test_reddit_elements_and_json() -> None:
    page = """<shreddit-post id=t3_a1 permalink="/r/boats/comments/a1/x/" post-title="Which rope?" author=ann score=7 comment-count=1 created-timestamp="2024-05-03T08:00:00Z" subreddit-prefixed-name=r/boats>
    <div slot=text-body><p>Tell me.</p></div></shreddit-post><shreddit-comment thingid=t1_c1 author=bo score=4 permalink=/c1><div slot=comment>Hemp.</div></shreddit-comment>"""
    post = parsed("https://www.reddit.com/r/boats/comments/a1/x/", page)
    listing = [
        {"kind": "Listing", "data": {"children": [{"kind": "t3", "data": {"id": "a1", "title": "Which rope?", "selftext": "Tell me.", "author": "ann", "score": 7, "num_comments": 1, "subreddit": "boats", "is_self": True, "created_utc": 1714723200, "permalink": "/r/boats/comments/a1/x/"}}]}},
        {"kind": "Listing", "data": {"children": [{"kind": "t1", "data": {"id": "c1", "body": "Hemp.", "author": "bo", "score": 4, "parent_id": "t3_a1", "replies": ""}}]}},
    ]  # fmt: skip
    same = parsed("https://www.reddit.com/r/boats/comments/a1/x.json", listing)
    for record in (post, same):
        assert (record.id, record.title, record.text, record.author) == (
            "a1",
            "Which rope?",
            "Tell me.",
            "ann",
        )
        assert record.counts == {"points": 7, "comments": 1}
        assert record.published == "2024-05-03T08:00:00+00:00"
        assert [(c.id, c.text, c.author) for c in record.items] == [("c1", "Hemp.", "bo")]
