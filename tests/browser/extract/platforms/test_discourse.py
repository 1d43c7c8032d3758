"""Discourse: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

from typing import Any

from browser.extract import extract_body
from tests.browser.extract.platforms.reading import parse_record

POST: dict[str, Any] = {
    "id": 1, "post_number": 1, "username": "ann", "name": "Ann", "cooked": "<p>Hello.</p>", "created_at": "2024-05-03T08:00:00Z", "topic_id": 9, "topic_slug": "t",
}  # fmt: skip


def test_topic_json_yields_replies() -> None:
    reply = POST | {"id": 2, "post_number": 2, "reply_to_post_number": 1, "cooked": "<p>Hi.</p>"}
    topic = {
        "id": 9, "slug": "t", "title": "Tides", "views": 5, "tags": ["sea"],
        "post_stream": {"posts": [POST, reply]},
    }  # fmt: skip
    record = parse_record("https://forum.example/t/t/9.json", topic)
    assert (record.url, record.title) == ("https://forum.example/t/t/9", "Tides")
    assert (record.text, record.author, record.tags) == ("Hello.", "Ann", ("sea",))
    assert [(p.text, p.parent) for p in record.items] == [("Hi.", "1")]


def test_topic_list_names_authors() -> None:
    topic = {"id": 9, "slug": "t", "title": "Tides", "posts_count": 2, "posters": [{"user_id": 3}]}
    latest = {"users": [{"id": 3, "username": "ann"}], "topic_list": {"topics": [topic]}}
    assert parse_record("https://forum.example/latest.json", latest).items[0].author == "ann"


def test_solved_closed_topic_with_deleted_post_and_poll() -> None:
    solving = POST | {
        "id": 2,
        "post_number": 2,
        "accepted_answer": True,
        "user_title": "Harbour master",
    }
    gone = POST | {
        "id": 3,
        "post_number": 3,
        "user_deleted": True,
        "cooked": "<p>(post deleted by author)</p>",
    }
    poll = POST | {
        "id": 4,
        "polls": [{"options": [{"html": "<b>Hemp</b>", "votes": 3}]}],
        "actions_summary": [{"id": 2, "count": 5}],
    }
    topic = {
        "id": 9,
        "slug": "t",
        "title": "Tides",
        "closed": True,
        "pinned": True,
        "category_id": 4,
        "accepted_answer": {"post_number": 2},
        "like_count": 5,
        "post_stream": {"posts": [POST, solving, gone, poll]},
    }
    record = parse_record("https://forum.example/t/t/9.json", topic)
    assert record.fields == {"category": "4", "marks": "closed, pinned", "solved_by": "2"}
    assert [item.fields for item in record.items] == [
        {"role": "Harbour master", "accepted": "true"},
        {"state": "deleted"},
        {"poll": "Hemp: 3"},
    ]
    assert record.items[2].counts == {"number": 1, "likes": 5}


def test_user_profile_and_search_results_are_parsed() -> None:
    user = {
        "user": {
            "id": 7,
            "username": "ann",
            "name": "Ann",
            "trust_level": 2,
            "bio_cooked": "<p>Boats.</p>",
            "title": "Keeper",
        }
    }
    profile = parse_record("https://forum.example/u/ann.json", user)
    assert (profile.kind, profile.author, profile.text) == ("profile", "Ann", "Boats.")
    assert profile.fields == {"role": "Keeper", "trust_level": "2"}
    results = {
        "grouped_search_result": {},
        "topics": [{"id": 9, "slug": "t", "title": "Tides"}],
        "posts": [
            {"id": 1, "username": "ann", "topic_id": 9, "post_number": 3, "blurb": "High &amp; low"}
        ],
    }
    (post,) = parse_record("https://forum.example/search.json", results).items
    assert (post.title, post.text, post.url) == (
        "Tides",
        "High & low",
        "https://forum.example/t/t/9/3",
    )


def test_crawler_page_and_rendered_page_give_same_topic() -> None:
    crawler = """<meta name=generator content="Discourse 3.3"><div id=topic-title><h1><a>Tides</a></h1><div class=category-title><span class=badge-category__name>Sea</span></div><a class=discourse-tag>moon</a></div>
    <div id=post_1 class="topic-body crawler-post"><span class=creator itemprop=author><span itemprop=name>ann</span></span><time datetime="2024-05-03T08:00:00Z"></time><span itemprop=position>1</span><div class=post itemprop=text><p>Hello.</p></div><div itemprop=interactionStatistic><meta itemprop=userInteractionCount content=5></div></div>
    <div id=post_2 class=crawler-post><span class=creator><span itemprop=name>bo</span></span><div class=post itemprop=text><p>Hi.</p></div></div>"""
    drawn = """<meta name=generator content="Discourse 3.3"><div id=topic-title><h1><a class=fancy-title>Tides</a></h1><span class=badge-category__name>Sea</span><a class=discourse-tag>moon</a></div>
    <article id=post_1 data-post-id=11><div class=names><span class=username><a data-user-card=ann>ann</a></span></div><div class=post-date><span class=relative-date data-time=1714723200000></span></div><div class=cooked><p>Hello.</p></div><button class=like-count>5</button></article>
    <article id=post_2 data-post-id=12 class="deleted"><div class=names><span class=username><a data-user-card=bo>bo</a></span></div><div class=cooked><p>Hi.</p></div></article>"""
    for page in (crawler, drawn):
        topic = parse_record("https://forum.example/t/tides/9/2", page)
        assert (topic.id, topic.title, topic.text, topic.author) == ("9", "Tides", "Hello.", "ann")
        assert topic.published == "2024-05-03T08:00:00+00:00"
        assert (topic.counts, topic.tags) == ({"number": 1, "likes": 5}, ("moon",))
        assert topic.fields == {"category": "Sea"}
        assert [(p.author, p.text) for p in topic.items] == [("bo", "Hi.")]
    assert parse_record("https://forum.example/t/tides/9", drawn).items[0].fields == {
        "state": "deleted"
    }


def test_topic_page_text_attributes_each_post_once() -> None:
    said = [
        "The four-axle wagons squeal on the first lap of the morning, and then they are quiet.",
        "That is surface rust, so run a wagon with a felt pad ahead of the train for two laps.",
        "It works, two laps with an old slipper under a flat wagon and the squeal is gone.",
    ]
    posts = "".join(
        f"<div id=post_{n} class='topic-body crawler-post'><div><span class=creator><a href='/u/member{n}'>"
        f"<span itemprop=name>member{n}</span></a></span> <time datetime='2024-02-0{n}T09:34:11Z'>February {n}, 2024</time></div>"
        f"<div class=post itemprop=text><p>{text}</p></div></div>"
        for n, text in enumerate(said, 1)
    )
    page = f"<html><head><meta name=generator content='Discourse 3.3'></head><body><h1>Brakes</h1>{posts}</body></html>"
    text = extract_body(page.encode(), "text/html", "https://rail.example.org/t/brakes/9").text
    assert [text.count(line) for line in said] == [1, 1, 1]
    assert "member2, 2024-02-02T09:34:11+00:00" in text
    assert "author: member1" in text
