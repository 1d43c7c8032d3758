"""How a page's parser is found, and what happens to pages without their usual markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from browser.extract import extract_body
from browser.extract.platforms import Platform, Record, all_platforms, parse_platform
from browser.extract.platforms.lookup import with_platform
from browser.extract.platforms.site_record import item_blocks
from browser.types import Document


def test_platforms_are_discovered_with_unique_names() -> None:
    names = {platform.name for platform in all_platforms()}
    assert {"arxiv", "github", "hackernews", "reddit", "wikipedia", "x", "youtube"} <= names
    assert len(names) == len(all_platforms())


@pytest.mark.parametrize(
    "url",
    [
        "https://x.com.evil.test/a/status/1",
        "https://evil.test/?u=https://x.com/a/status/1",
        "https://notgithub.com/a/b",
        "https://evil.test\\@github.com.evil.test/a/b",
        "data:text/html,github.com",
    ],
)
def test_hosts_are_not_matched_by_substring(url: str) -> None:
    page = '<article data-testid=tweet><div data-testid=tweetText>x</div></article><article class="markdown-body">y</article>'
    assert parse_platform(url, page) is None


@pytest.mark.parametrize("platform", all_platforms(), ids=lambda platform: platform.name)
def test_page_without_known_markup_has_no_record(platform: Platform) -> None:
    if platform.hosts:
        assert parse_platform(f"https://{platform.hosts[0]}/a/b/1", "<p>Nothing known.</p>") is None


@pytest.mark.parametrize("platform", all_platforms(), ids=lambda platform: platform.name)
@pytest.mark.parametrize(
    "reply", ['{"items": 3}', "[[]]", '{"pairs": [1]}', '{"post_stream": []}', "null"]
)
@pytest.mark.sample(25)
def test_json_of_unexpected_shape_has_no_record(platform: Platform, reply: str) -> None:
    host = platform.hosts[0] if platform.hosts else "e.org"
    assert parse_platform(f"https://{host}/api/v1", json.loads(reply) or reply) is None


def test_platform_page_without_known_markup_is_read_as_plain_page_with_note() -> None:
    page = b"<title>Story</title><h1>Story</h1><p>The boats came in before the storm.</p>"
    document = extract_body(page, "text/html", "https://news.ycombinator.com/item?id=1")
    assert "The boats came in before the storm." in document.text
    assert "hackernews" in document.notes[0]


def test_platform_page_is_completed_from_record() -> None:
    state = {
        "videoDetails": {
            "videoId": "v1",
            "title": "Knots",
            "shortDescription": "How to tie a bowline.",
            "author": "Ann",
        }
    }
    page = f"<title>Knots - YouTube</title><div></div><script>var ytInitialPlayerResponse = {json.dumps(state)};</script>"
    document = extract_body(page.encode(), "text/html", "https://www.youtube.com/watch?v=v1")
    assert (document.title, document.author) == ("Knots", "Ann")
    assert document.text.split("\n\n") == [
        "How to tie a bowline.",
        "- kind: youtube video\n- id: v1\n- author: Ann",
    ]


def test_replies_missing_from_page_text_are_added_with_authors() -> None:
    thread = {"id": 9, "slug": "t", "title": "Tides", "post_stream": {"posts": [
        {"id": 1, "username": "ann", "cooked": "<p>When is high tide?</p>", "created_at": "2024-05-03T08:00:00Z"},
        {"id": 2, "username": "bo", "name": "Bo", "cooked": "<p>At noon.</p>", "created_at": "2024-05-03T09:00:00Z", "reply_to_post_number": 1}]}}  # fmt: skip
    document = extract_body(
        json.dumps(thread).encode(), "application/json", "https://forum.example/t/t/9.json"
    )
    assert document.title == "Tides"
    assert document.text.split("\n\n")[:2] == [
        "When is high tide?",
        "Bo (@bo), 2024-05-03T09:00:00+00:00: At noon.",
    ]


def test_text_added_by_record_is_not_noted_as_left_out() -> None:
    row = "<tr class='athing{}' id={}><td><a class=hnuser>u{}</a><div class=commtext>{}</div></tr>"
    page = f"<table class=fatitem>{row.format('', 1, 1, 'Keepers')}</table><table>{row.format(' comtr', 2, 2, 'Mine was one.')}</table>"
    url, lost = "https://news.ycombinator.com/item?id=1", "its picture was not read"
    read = Document(
        url, text="Keepers", notes=("left out as outside the main content: 3 words", lost)
    )
    document = with_platform(read, page.encode(), url)
    assert "Mine was one." in document.text
    assert document.notes == (lost,)

    # A page's dialogs can be longer than the post, whose own text was not extracted.
    dialogs = replace(read, text="Log in to vote. " * 9, markdown="Log in to vote. " * 9)
    shown = with_platform(dialogs, page.encode(), url)
    assert shown.text.startswith("Keepers\n\nLog in to vote.")


def test_software_is_recognised_by_markup_not_by_mention() -> None:
    words = "The lock keeper opened the gates again after a long winter of repairs on the canal."
    wiki = f"""<html lang=en><meta name=generator content="MediaWiki 1.39"><h1 id=firstHeading>Elm</h1><div id=mw-content-text><div class=mw-parser-output>
    <table class=infobox><tr><th>Mayor<td>Ann Rower</table><p>{words}</p></div></div></html>"""
    document = extract_body(wiki.encode(), "text/html", "https://wiki.boats.example/Elm")
    assert "- infobox: Mayor: Ann Rower" in document.text

    speaks_of_it = f"<title>News</title><h1>News</h1><p>{words} It runs MediaWiki now.</p>"
    plain = extract_body(speaks_of_it.encode(), "text/html", "https://post.example/news")
    assert "- kind:" not in plain.text
    assert plain.notes == ()


def test_deeply_nested_items_are_cut_off() -> None:
    record = Record("x", "post", text="Deep.")
    for _ in range(2000):
        record = Record("x", "post", text="Deep.", items=(record,))
    assert 1 <= len(list(item_blocks(record))) < 50


def test_record_without_date_does_not_take_a_comment_date() -> None:
    page = """<title>Ropes : boats</title><div class="thing link" data-fullname=t3_a1 data-author=ann data-permalink=/r/boats/comments/a1/x/><a class=title>Ropes</a></div>
    <div class="thing comment" data-fullname=t1_c1 data-author=bo><div class=entry><time datetime="2025-01-15T10:30:00Z">2 days ago</time><div class=usertext-body>Hemp.</div></div></div>"""
    url = "https://old.reddit.com/r/boats/comments/a1/x/"
    document = extract_body(page.encode(), "text/html", url)
    assert (document.title, document.published, document.modified) == ("Ropes", None, None)
    assert "bo, 2025-01-15T10:30:00+00:00" in document.text
