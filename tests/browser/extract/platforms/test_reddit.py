"""Reddit: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

from typing import Any

from tests.browser.extract.platforms.reading import parse_record


def test_old_page_yields_post_and_nested_comments() -> None:
    page = """<div class="thing link" data-author=ann data-subreddit=boats data-permalink="/r/boats/comments/a1/x/" data-score=7><a class=title>Which rope?</a>
    <div class=usertext-body><p>Tell me.</p></div></div><div class="thing comment" data-author=bo data-permalink="/r/boats/comments/a1/x/c1/" data-fullname=t1_c1>
    <div class=entry><span class="score unvoted">4 points</span><time datetime="2024-05-03T08:00:00Z"></time><div class=usertext-body><p>Hemp.</p></div></div>
    <div class=child><div class="thing comment" data-author=ann data-permalink=/p data-fullname=t1_c2><div class=entry><div class=usertext-body>Thanks.</div></div></div></div></div>"""
    post = parse_record("https://old.reddit.com/r/boats/comments/a1/x/", page)
    assert (post.id, post.title, post.text, post.author) == ("a1", "Which rope?", "Tell me.", "ann")
    assert (post.counts, post.fields) == ({"points": 7}, {"community": "boats"})
    assert [(c.id, c.text, c.parent) for c in post.items] == [
        ("c1", "Hemp.", None),
        ("c2", "Thanks.", "c1"),
    ]
    assert post.items[0].counts == {"points": 4}


def test_new_page_and_json_give_same_post() -> None:
    page = """<shreddit-post id=t3_a1 permalink="/r/boats/comments/a1/x/" post-title="Which rope?" author=ann score=7 comment-count=1 created-timestamp="2024-05-03T08:00:00Z" subreddit-prefixed-name=r/boats>
    <div slot=text-body><p>Tell me.</p></div></shreddit-post><shreddit-comment thingid=t1_c1 author=bo score=4 permalink=/c1><div slot=comment>Hemp.</div></shreddit-comment>"""
    post = parse_record("https://www.reddit.com/r/boats/comments/a1/x/", page)
    listing = [
        {"kind": "Listing", "data": {"children": [{"kind": "t3", "data": {"id": "a1", "title": "Which rope?", "selftext": "Tell me.", "author": "ann", "score": 7, "num_comments": 1, "subreddit": "boats", "is_self": True, "created_utc": 1714723200, "permalink": "/r/boats/comments/a1/x/"}}]}},
        {"kind": "Listing", "data": {"children": [{"kind": "t1", "data": {"id": "c1", "body": "Hemp.", "author": "bo", "score": 4, "parent_id": "t3_a1", "replies": ""}}]}},
    ]  # fmt: skip
    same = parse_record("https://www.reddit.com/r/boats/comments/a1/x.json", listing)
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


def _thing(kind: str, **data: Any) -> dict[str, Any]:
    return {"kind": kind, "data": data}


def _listing(*things: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "Listing", "data": {"children": list(things)}}


def test_crosspost_gallery_and_poll_are_parsed() -> None:
    post = _thing(
        "t3", id="a1", title="Locks", author="ann", is_self=False, url="https://www.reddit.com/gallery/a1", subreddit="boats", permalink="/r/boats/comments/a1/x/", score=7, upvote_ratio=0.97,
        edited=1714723200.0, link_flair_text="Photo", over_18=True, stickied=True, num_crossposts=2,
        crosspost_parent_list=[{"permalink": "/r/canals/comments/b2/y/"}],
        gallery_data={"items": [{"media_id": "m2"}, {"media_id": "m1"}]}, media_metadata={"m1": {"s": {"u": "https://i.example/1.jpg"}}, "m2": {"s": {"u": "https://i.example/2.jpg"}}},
        poll_data={"options": [{"text": "Hemp", "vote_count": 5}, {"text": "Nylon"}]},
    )  # fmt: skip
    record = parse_record(
        "https://www.reddit.com/r/boats/comments/a1/x.json", [_listing(post), _listing()]
    )
    assert record.modified == "2024-05-03T08:00:00+00:00"
    assert record.media == ("https://i.example/2.jpg", "https://i.example/1.jpg")
    assert record.counts == {"points": 7, "crossposts": 2}
    assert record.fields == {
        "community": "boats",
        "target": "https://www.reddit.com/gallery/a1",
        "flair": "Photo",
        "ratio": "0.97",
        "crosspost_of": "https://www.reddit.com/r/canals/comments/b2/y/",
        "poll": "Hemp: 5; Nylon",
        "marks": "pinned, nsfw",
    }


def test_deleted_posts_have_no_author_and_hidden_scores_are_omitted() -> None:
    post = _thing("t3", id="a1", title="Gone", author="[deleted]", selftext="[removed]", is_self=True, removed_by_category="moderator")  # fmt: skip
    comment = _thing("t1", id="c1", body="[deleted]", author="[deleted]", score=1, score_hidden=True, parent_id="t3_a1")  # fmt: skip
    more = _thing("more", count=12, children=["c9"])
    record = parse_record(
        "https://www.reddit.com/r/boats/comments/a1/x.json",
        [_listing(post), _listing(comment, more)],
    )
    assert (record.author, record.handle, record.text) == (None, None, "[removed]")
    assert record.fields == {"removed": "moderator"}
    assert [(c.author, c.counts) for c in record.items] == [(None, {})]


def test_private_community_is_unavailable() -> None:
    record = parse_record(
        "https://www.reddit.com/r/x.json",
        {"reason": "private", "message": "Forbidden", "error": 403},
    )
    assert (record.kind, record.fields) == ("unavailable", {"reason": "private", "status": "403"})


def test_listings_leave_out_promoted_posts() -> None:
    old = """<title>boats</title><div class="thing link promoted" data-fullname=t3_ad data-permalink=/ad><a class=title>Buy</a></div>
    <div class="thing link stickied locked" data-fullname=t3_a1 data-author=ann data-subreddit=boats data-permalink="/r/boats/comments/a1/x/" data-score=7 data-comments-count=3><a class=title>Which rope?</a><span class=linkflairlabel>Help</span><time datetime="2024-05-03T08:00:00+00:00"></time></div>"""
    newer = """<title>boats</title><shreddit-post id=t3_a1 permalink="/r/boats/comments/a1/x/" post-title="Which rope?" author=ann score=7 comment-count=3 created-timestamp="2024-05-03T08:00:00.000000+0000" subreddit-prefixed-name=r/boats locked stickied><shreddit-post-flair>Help</shreddit-post-flair></shreddit-post>"""
    for page in (old, newer):
        listing = parse_record("https://www.reddit.com/r/boats/", page)
        assert (listing.kind, listing.title) == ("listing", "boats")
        (post,) = listing.items
        assert (post.id, post.title, post.author) == ("a1", "Which rope?", "ann")
        assert post.url == "https://www.reddit.com/r/boats/comments/a1/x/"
        assert post.published == "2024-05-03T08:00:00+00:00"
        assert post.counts == {"points": 7, "comments": 3}
        assert (post.fields["marks"], post.fields["flair"]) == ("pinned, locked", "Help")


def test_comments_of_deleted_accounts_have_no_author() -> None:
    old = """<div class="thing link" data-fullname=t3_a1 data-author=ann data-permalink=/p><a class=title>T</a></div><div class="thing comment deleted" data-fullname=t1_c1 data-author="[deleted]" data-permalink=/c1>
    <div class=entry><time datetime="2024-05-03T08:00:00Z"></time><time class=edited-timestamp datetime="2024-05-04T08:00:00Z"></time><div class=usertext-body>[deleted]</div></div></div>"""
    newer = """<shreddit-post id=t3_a1 permalink=/p post-title=T author=ann></shreddit-post><shreddit-comment thingid=t1_c1 author="[deleted]" permalink=/c1 depth=0><div slot=comment>[deleted]</div></shreddit-comment>"""
    for page in (old, newer):
        post = parse_record("https://www.reddit.com/r/boats/comments/a1/t/", page)
        assert [(c.id, c.author, c.handle) for c in post.items] == [("c1", None, None)]
    edited = parse_record("https://old.reddit.com/r/boats/comments/a1/t/", old).items[0].modified
    assert edited == "2024-05-04T08:00:00+00:00"


def test_posts_without_permalink_have_empty_url() -> None:
    page = "<shreddit-post post-title=First author=ann></shreddit-post><shreddit-post post-title=Second></shreddit-post>"
    listing = parse_record("https://www.reddit.com/r/boats/", page)
    assert [(post.title, post.url, post.author) for post in listing.items] == [
        ("First", "", "ann"),
        ("Second", "", None),
    ]
