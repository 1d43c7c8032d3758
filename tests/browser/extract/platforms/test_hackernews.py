"""Hacker News: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

from tests.browser.extract.platforms.reading import parse_record


def test_story_page_yields_nested_comments() -> None:
    page = """<table class=fatitem><tr class=athing id=7><td><span class=titleline><a href="https://e.org/a">Boats</a>
    <span class=sitestr>e.org</span></span><tr><td class=subtext><span class=score>12 points</span> <a class=hnuser>ann</a>
    <span class=age title="2024-05-03T08:00:00 1714723200"></span> <a>2 comments</a></table><table class=comment-tree>
    <tr class="athing comtr" id=8><td class=ind indent=0><td><a class=hnuser>bo</a><span class=age title="2024-05-03T09:00:00"></span><div class=commtext>First.</div>
    <tr class="athing comtr" id=9><td class=ind indent=1><td><a class=hnuser>cy</a><div class=commtext>Reply.<p>More.</div></table>"""
    item = parse_record("https://news.ycombinator.com/item?id=7", page)
    assert (item.kind, item.id, item.title, item.author) == ("story", "7", "Boats", "ann")
    assert item.published == "2024-05-03T08:00:00"
    assert item.counts == {"points": 12, "comments": 2}
    assert item.fields == {"target": "https://e.org/a", "site": "e.org"}
    assert [(c.id, c.author, c.text, c.parent) for c in item.items] == [
        ("8", "bo", "First.", None),
        ("9", "cy", "Reply.\n\nMore.", "8"),
    ]


def _item(rows: str, tree: str = "") -> str:
    return f"<table class=fatitem>{rows}</table><table class=comment-tree>{tree}</table>"


def test_ask_hn_item_has_no_target() -> None:
    head = """<tr class=athing id=7><td class=title><span class=titleline><a href="item?id=7">Ask HN: Which rope?</a></span><tr><td colspan=2><td class=subtext><span class=score>1 point</span> <a class=hnuser>ann</a> <a>discuss</a>"""
    page = _item(f"{head}<tr><td colspan=2><td><div class=toptext>Tell me.<p>Soon.</div>")
    item = parse_record("https://news.ycombinator.com/item?id=7", page)
    assert (item.title, item.text) == ("Ask HN: Which rope?", "Tell me.\n\nSoon.")
    assert (item.counts, item.links) == ({"points": 1}, ())
    assert item.fields == {"section": "ask"}


def test_job_item_has_no_author() -> None:
    job = """<tr class=athing id=8><td class=title><span class=titleline><a href="https://e.org/jobs">Port Elm (YC S24) hires</a><span class=sitestr>e.org</span></span><tr><td class=subtext><span class=age title="2024-05-03T08:00:00 1714723200"></span>"""
    item = parse_record("https://news.ycombinator.com/item?id=8", _item(job))
    assert (item.kind, item.author, item.counts) == ("job", None, {})


def test_comment_page_marks_dead_and_deleted_replies() -> None:
    row = """<tr class=athing id=8><td class=default><span class=comhead><a class=hnuser>bo</a> <span class=age title="2024-05-03T09:00:00"></span> <span class=navs>| <a href="item?id=7#8">parent</a> <span class=onstory>on: <a href="item?id=7">Boats</a></span></span></span><div class=comment><div class=commtext>First.</div></div>"""
    tree = """<tr class="athing comtr" id=9><td class=ind indent=0><td><span class=comhead><a class=hnuser>cy</a> [dead]</span><div class=comment><div class=commtext>Rude.</div></div>
    <tr class="athing comtr" id=10><td class=ind indent=1><td><div class=comment>[deleted]</div>"""
    comment = parse_record("https://news.ycombinator.com/item?id=8", _item(row, tree))
    assert (comment.kind, comment.id, comment.text, comment.parent) == (
        "comment",
        "8",
        "First.",
        "7",
    )
    assert comment.fields == {
        "story": "Boats",
        "story_url": "https://news.ycombinator.com/item?id=7",
    }
    dead, gone = comment.items
    assert (dead.text, dead.fields) == ("Rude.", {"state": "dead"})
    assert (gone.text, gone.author, gone.parent, gone.fields) == (
        "",
        None,
        "9",
        {"state": "deleted"},
    )


def test_items_are_parsed_from_firebase_and_algolia() -> None:
    firebase = {
        "id": 7,
        "type": "story",
        "by": "ann",
        "title": "Boats",
        "score": 12,
        "descendants": 2,
        "time": 1714723200,
        "url": "https://e.org/a",
    }
    story = parse_record("https://hacker-news.firebaseio.com/v0/item/7.json", firebase)
    assert (story.author, story.published) == ("ann", "2024-05-03T08:00:00+00:00")
    assert (story.counts, story.fields) == (
        {"points": 12, "comments": 2},
        {"target": "https://e.org/a"},
    )
    algolia = {"id": 7, "type": "story", "author": "ann", "title": "Boats", "points": 12, "created_at": "2024-05-03T08:00:00.000Z", "children": [
        {"id": 8, "type": "comment", "author": "bo", "text": "<p>First.", "parent_id": 7, "children": [{"id": 9, "type": "comment", "text": "Reply.", "parent_id": 8}]}]}  # fmt: skip
    story = parse_record("https://hn.algolia.com/api/v1/items/7", algolia)
    assert [(c.id, c.text, c.parent) for c in story.items] == [
        ("8", "First.", "7"),
        ("9", "Reply.", "8"),
    ]
    hits = {
        "hits": [
            {"objectID": "7", "title": "Boats", "author": "ann", "num_comments": 2, "points": 1}
        ]
    }
    assert parse_record("https://hn.algolia.com/api/v1/search", hits).items[0].counts == {
        "points": 1,
        "comments": 2,
    }
