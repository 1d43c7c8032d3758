"""X: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

from browser.types import Link
from tests.browser.extract.platforms.reading import parsed


def test_x_post_with_replies() -> None:
    def tweet(name: str, number: int, text: str) -> str:
        return f"""<article data-testid=tweet><div data-testid=User-Name><a href="/{name}"><span>{name.title()}</span></a><a href="/{name}/status/{number}"><time datetime="2024-05-03T08:00:00.000Z"></time></a></div>
        <div data-testid=tweetText>{text} <a href="https://t.co/x">e.org</a></div><div role=group aria-label="1 reply, 2 reposts, 3,456 likes, 4 bookmarks, 5 views"></div></article>"""

    page = tweet("ann", 1, "Before.") + tweet("ann", 2, "Main.") + tweet("bo", 3, "After.")
    post = parsed("https://x.com/ann/status/2", page)
    assert (post.id, post.text, post.author, post.handle) == ("2", "Main. e.org", "Ann", "ann")
    assert post.url == "https://x.com/ann/status/2"
    assert post.published == "2024-05-03T08:00:00+00:00"
    assert post.counts == {"replies": 1, "reposts": 2, "likes": 3456, "bookmarks": 4, "views": 5}
    assert post.links == (Link("https://t.co/x", "e.org"),)
    assert [item.id for item in post.items] == ["1", "3"]
