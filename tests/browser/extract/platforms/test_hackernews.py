"""Hacker News: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

from tests.browser.extract.platforms.reading import parsed


def test_hacker_news_item_and_comments() -> None:
    page = """<table class=fatitem><tr class=athing id=7><td><span class=titleline><a href="https://e.org/a">Boats</a>
    <span class=sitestr>e.org</span></span><tr><td class=subtext><span class=score>12 points</span> <a class=hnuser>ann</a>
    <span class=age title="2024-05-03T08:00:00 1714723200"></span> <a>2 comments</a></table><table class=comment-tree>
    <tr class="athing comtr" id=8><td class=ind indent=0><td><a class=hnuser>bo</a><span class=age title="2024-05-03T09:00:00"></span><div class=commtext>First.</div>
    <tr class="athing comtr" id=9><td class=ind indent=1><td><a class=hnuser>cy</a><div class=commtext>Reply.<p>More.</div></table>"""
    item = parsed("https://news.ycombinator.com/item?id=7", page)
    assert (item.kind, item.id, item.title, item.author) == ("story", "7", "Boats", "ann")
    assert item.published == "2024-05-03T08:00:00"
    assert item.counts == {"points": 12, "comments": 2}
    assert item.fields == {"target": "https://e.org/a", "site": "e.org"}
    assert [(c.id, c.author, c.text, c.parent) for c in item.items] == [
        ("8", "bo", "First.", None),
        ("9", "cy", "Reply.\n\nMore.", "8"),
    ]
