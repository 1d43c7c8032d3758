"""News: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

import json

from tests.browser.extract.platforms.reading import parsed


def test_news_article_and_live_blog() -> None:
    node = {
        "@type": "NewsArticle",
        "headline": "Lock opens",
        "datePublished": "2024-05-03T08:00:00Z",
        "author": {"name": "Ann"},
        "publisher": {"name": "The Post"},
        "keywords": "lock, canal",
        "articleSection": "Local",
    }
    text = (
        "The lock keeper opened the gates again after a long winter of repairs on the canal. " * 4
    )
    page = f'<script type="application/ld+json">{json.dumps(node)}</script><h1>Lock opens</h1><p>{text}</p>'
    article = parsed("https://post.example/lock", page)
    assert (article.platform, article.title, article.author, article.published) == (
        "news",
        "Lock opens",
        "Ann",
        "2024-05-03T08:00:00+00:00",
    )
    assert article.fields == {"publisher": "The Post", "section": "Local"}
    assert article.tags == ("lock", "canal")
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
    blog = parsed(
        "https://post.example/live",
        f'<script type="application/ld+json">{json.dumps(live)}</script><p>{text}</p>',
    )
    assert (blog.kind, [(u.title, u.text) for u in blog.items]) == (
        "live_blog",
        [("9:00", "Gates move.")],
    )
