"""News: each field, from small pages written after its markup."""

from __future__ import annotations

from tests.browser.extract.platforms.reading import ld, parsed

TEXT = "The lock keeper opened the gates again after a long winter of repairs on the canal. " * 4


def test_an_article() -> None:
    node = {
        "@type": "NewsArticle",
        "headline": "Lock opens",
        "datePublished": "2024-05-03T08:00:00Z",
        "author": {"name": "Ann"},
        "publisher": {"name": "The Post"},
        "keywords": "lock, canal",
        "articleSection": "Local",
    }
    page = f"{ld(node)}<h1>Lock opens</h1><p>{TEXT}</p>"
    article = parsed("https://post.example/lock", page)
    assert (article.platform, article.title, article.author, article.published) == (
        "news",
        "Lock opens",
        "Ann",
        "2024-05-03T08:00:00+00:00",
    )
    assert article.fields == {"publisher": "The Post", "section": "Local", "language": "en"}
    assert article.tags == ("lock", "canal")


def test_a_live_blog() -> None:
    live = {
        "@type": "LiveBlogPosting",
        "headline": "Live",
        "liveBlogUpdate": [
            {
                "headline": "9:00",
                "articleBody": "Gates move.",
                "datePublished": "2024-05-03T09:00:00Z",
            }
        ],
    }
    blog = parsed("https://post.example/live", f"{ld(live)}<p>{TEXT}</p>")
    assert (blog.kind, [(u.title, u.text) for u in blog.items]) == (
        "live_blog",
        [("9:00", "Gates move.")],
    )


def test_a_live_blog_with_one_update() -> None:
    live = ld(
        {
            "@type": ["LiveBlogPosting", "NewsArticle"],
            "headline": "Live",
            "liveBlogUpdate": {
                "headline": "9:00",
                "articleBody": "Gates &amp; moves.",
                "datePublished": "2024-05-03T09:00:00Z",
                "author": {"name": "Bo"},
            },
        }
    )
    blog = parsed("https://post.example/live", f"{live}<h1>Live</h1><p>{TEXT}</p>")
    assert [(u.title, u.text, u.author, u.published) for u in blog.items] == [
        ("9:00", "Gates & moves.", "Bo", "2024-05-03T09:00:00+00:00")
    ]


def test_an_article_of_several_authors_behind_a_wall() -> None:
    paid = ld(
        {
            "@type": "NewsArticle",
            "headline": "Locks",
            "author": [{"name": "Ann"}, {"name": "Bo"}],
            "isAccessibleForFree": "False",
            "articleSection": ["Local", "Water"],
            "wordCount": 500,
        }
    )
    article = parsed("https://post.example/locks", f"{paid}<h1>Locks</h1><p>{TEXT}</p>")
    assert (article.fields["free"], article.fields["section"], article.counts) == (
        "false",
        "Local, Water",
        {"words": 500},
    )
    assert article.author is not None
    assert {"Ann", "Bo"} <= set(article.author.replace(" and ", ", ").split(", "))
