"""Substack: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

from tests.browser.extract.platforms.reading import parsed


def test_substack_note_and_post() -> None:
    note = """<meta property="og:title" content="Ann (@ann)"><div class=ProseMirror>Other.</div><div class="feedPermalinkUnit-x"><div class=ProseMirror><p>A note.</p></div></div>"""
    record = parsed("https://substack.com/@ann/note/c-1", note)
    assert (record.id, record.text, record.author, record.handle) == (
        "c-1",
        "A note.",
        "Ann",
        "ann",
    )
    post = """<script type="application/ld+json">{"@type":"NewsArticle","headline":"Ropes","datePublished":"2024-05-03","author":[{"name":"Ann"}],"isAccessibleForFree":false}</script>
    <h1 class=post-title>Ropes</h1><h3 class=subtitle>On hemp</h3><div class=available-content><div class="body markup"><p>Long.</p></div></div>"""
    record = parsed("https://ann.substack.com/p/ropes", post)
    assert (record.title, record.text, record.author, record.published) == (
        "Ropes",
        "Long.",
        "Ann",
        "2024-05-03",
    )
    assert record.fields == {"subtitle": "On hemp", "free": "false"}
