"""X: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

from browser.extract.platforms import parse_platform
from browser.types import Link
from tests.browser.extract.platforms.reading import parse_record


def test_post_page_yields_counts_links_and_replies() -> None:
    def tweet(name: str, number: int, text: str) -> str:
        return f"""<article data-testid=tweet><div data-testid=User-Name><a href="/{name}"><span>{name.title()}</span></a><a href="/{name}/status/{number}"><time datetime="2024-05-03T08:00:00.000Z"></time></a></div>
        <div data-testid=tweetText>{text} <a href="https://t.co/x">e.org</a></div><div role=group aria-label="1 reply, 2 reposts, 3,456 likes, 4 bookmarks, 5 views"></div></article>"""

    page = tweet("ann", 1, "Before.") + tweet("ann", 2, "Main.") + tweet("bo", 3, "After.")
    post = parse_record("https://x.com/ann/status/2", page)
    assert (post.id, post.text, post.author, post.handle) == ("2", "Main. e.org", "Ann", "ann")
    assert post.url == "https://x.com/ann/status/2"
    assert post.published == "2024-05-03T08:00:00+00:00"
    assert post.counts == {"replies": 1, "reposts": 2, "likes": 3456, "bookmarks": 4, "views": 5}
    assert post.links == (Link("https://t.co/x", "e.org"),)
    assert [item.id for item in post.items] == ["1", "3"]


def _article(name: str, number: int, inner: str, *, linked: bool = True) -> str:
    time = '<time datetime="2024-05-03T08:00:00.000Z"></time>'
    stamp = f'<a href="/{name}/status/{number}">{time}</a>' if linked else time
    return f"""<article data-testid=tweet><div data-testid=User-Name><a href="/{name}"><span>{name.title()}</span></a></div>{inner}<div>{stamp}</div></article>"""


def test_quoted_post_keeps_its_own_text_time_and_media() -> None:
    quoted = """<div role=link tabindex=0><div data-testid=User-Name><span>Bo</span></div><time datetime="2020-01-01T00:00:00.000Z"></time>
    <div data-testid=tweetText>Old words.</div><div data-testid=tweetPhoto><img src="https://pbs.example/old.jpg" alt=Image></div></div>"""
    page = _article("ann", 2, f"<div data-testid=tweetText>See this.</div>{quoted}")
    post = parse_record("https://x.com/ann/status/2", page)

    assert (post.text, post.author, post.published) == (
        "See this.",
        "Ann",
        "2024-05-03T08:00:00+00:00",
    )
    assert post.media == ()
    inner = post.items[0]
    assert (inner.kind, inner.author, inner.text) == ("quoted", "Bo", "Old words.")
    assert inner.published == "2020-01-01T00:00:00+00:00"
    assert inner.media == ("https://pbs.example/old.jpg",)


def test_counts_are_read_from_buttons_in_any_language() -> None:
    buttons = """<div role=group aria-label="3 Antworten, 2 Mal geteilt, 1.456 „Gefällt mir“-Angaben"><button data-testid=reply aria-label="3 Antworten. Antworten">3</button>
    <button data-testid=unretweet aria-label="2 Mal geteilt. Teilen"></button><button data-testid=like aria-label="1.456 „Gefällt mir“-Angaben. Gefällt mir"><span>1.456</span></button><a href="/ann/status/2/analytics" aria-label="12.345 Mal angezeigt. Statistiken ansehen">12.345</a></div>"""
    post = parse_record("https://x.com/ann/status/2", _article("ann", 2, buttons))
    assert post.counts == {"replies": 3, "reposts": 2, "likes": 1456, "views": 12345}


def test_post_yields_image_descriptions_video_emoji_poll_and_marks() -> None:
    inner = """<div data-testid=socialContext>Bo reposted</div><svg data-testid=icon-verified></svg><div data-testid=tweetText>High tide <img alt="🌊" src="https://abs.twimg.com/emoji/v2/svg/1f30a.svg"> now<span data-testid=tweet-text-show-more-link>Show more</span></div>
    <div data-testid=tweetPhoto><img src="https://pbs.example/1.jpg" alt="A lock gate"></div><div data-testid=tweetPhoto><img src="https://pbs.example/2.jpg" alt=Image></div><video poster="https://pbs.example/3.jpg"></video>
    <div data-testid=cardPoll><ul><li>Yes 60%</li><li>No 40%</li></ul></div>"""
    post = parse_record("https://x.com/ann/status/2", _article("ann", 2, inner))
    assert post.text.startswith("High tide 🌊 now")
    assert post.media == (
        "https://pbs.example/1.jpg",
        "https://pbs.example/2.jpg",
        "https://pbs.example/3.jpg",
    )
    assert post.fields == {
        "context": "Bo reposted",
        "poll": "Yes 60%; No 40%",
        "media_text": "A lock gate",
        "verified": "true",
        "truncated": "true",
    }


def test_reply_names_its_parent_author() -> None:
    answered = "<div>Replying to <div dir=ltr><a href=/bo>@bo</a></div></div>"
    inner = f"{answered}<div data-testid=tweetText>Yes <a href=/cy dir=ltr>@cy</a></div>"
    post = parse_record("https://x.com/ann/status/2", _article("ann", 2, inner))
    assert post.parent == "@bo"


def test_timeline_and_missing_post_page() -> None:
    page = _article("ann", 1, "<div data-testid=tweetText>One.</div>") + _article("ann", 2, "")
    timeline = parse_record("https://x.com/ann", page)
    assert (timeline.kind, [post.id for post in timeline.items]) == ("timeline", ["1", "2"])

    gone = "<div data-testid=error-detail>Hmm...this page doesn’t exist.</div>"
    record = parse_record("https://x.com/ann/status/9", gone)
    assert (record.kind, record.fields) == (
        "unavailable",
        {"reason": "Hmm...this page doesn’t exist."},
    )


def test_standalone_article_and_meta_card_are_parsed() -> None:
    page = """<meta property="og:title" content="X 上的 Ann：“Tides” / X"><div data-testid=twitter-article-title>Tides</div><div data-testid=twitterArticleRichTextView><p>They rise.</p></div>"""
    article = parse_record("https://x.com/ann/status/7", page)
    assert (article.kind, article.id, article.title, article.text) == (
        "article",
        "7",
        "Tides",
        "They rise.",
    )
    assert (article.handle, article.author) == ("ann", None)

    card = """<meta property="og:title" content="Ann Rower (@ann) on X"><meta property="og:description" content="“High tide at noon.”"><meta property="og:image" content="https://pbs.example/media/1.jpg">"""
    post = parse_record("https://x.com/ann/status/8", card)
    assert (post.kind, post.text, post.author) == ("post", "High tide at noon.", "Ann Rower")
    assert post.media == ("https://pbs.example/media/1.jpg",)
    assert (
        parse_platform("https://x.com/ann/status/8", "<meta property='og:title' content='X'>")
        is None
    )
