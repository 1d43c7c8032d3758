"""Mastodon: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

from tests.browser.extract.platforms.reading import parsed


def test_mastodon_post_on_any_host() -> None:
    page = """<meta property="profile:username" content="ann@port.example"><meta property="og:published_time" content="2024-05-03T08:00:00Z"><div id=mastodon><div class=detailed-status>
    <strong class=display-name__html>Ann</strong><div class=status__content__text><p>High tide.</p></div><span class=detailed-status__favorites>1.2K</span></div>
    <div class=status data-id=6><a class=status__display-name title="bo@b.example"></a><strong class=display-name__html>Bo</strong><time datetime="2024-05-03T09:00:00Z"></time><div class=status__content__text>Yes.</div></div></div>"""
    post = parsed("https://port.example/@ann/5", page)
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
    assert parsed("https://port.example/api/v1/statuses/5", api).text == "High."
