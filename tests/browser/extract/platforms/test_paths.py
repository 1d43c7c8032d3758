"""Parsers that locate fields with CSS."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

import pytest

from browser.extract.platforms import DeclaredPlatform, RecordPaths, SitePage

URL = "https://talk.example/t/9?x=1"
PAGE = """<title>Seacock</title><link rel=canonical href=/t/9>
<h1>Leaking <b>seacock</b></h1><a class=tag>hull</a><a class=tag>hull</a><a class=tag>brass</a>
<div class=post data-id=a71><a class=nick href="/people/ada">Ada</a><time datetime="2024-05-03T09:30:00Z"></time>
<div class=said><p>It weeps.</p><ul><li>port side</li></ul></div><b class=n>1.2k</b><img src="/i/1.jpg"></div>
<div class=post data-id=a72><span class=when>Posted on 4 May 2024, 10:00</span><div class=said></div></div>
<div class=post data-id=a73><span class=stamp data-ms=1714723200000></span><div class=said>Plug it.</div></div>"""
POST = RecordPaths(
    "post",
    at=".post",
    id="@data-id -> a(.+)",
    text=".said",
    author=".nick",
    handle=".nick@href -> [^/]+$",
    published="time@datetime",
    counts={"likes": ".n"},
    media="img",
)


def posts(**other: str) -> tuple:
    return RecordPaths(
        **{**{f: getattr(POST, f) for f in POST.__dataclass_fields__}, **other}
    ).records(SitePage(URL, PAGE), "talk")


def test_each_matching_element_is_a_record_except_empty_ones() -> None:
    first, last = posts()
    assert (first.platform, first.kind, first.id, first.author) == ("talk", "post", "71", "Ada")
    assert first.handle == "ada"
    assert first.text == "It weeps.\n\n- port side"
    assert first.published == "2024-05-03T09:30:00+00:00"
    assert first.counts == {"likes": 1200}
    assert first.media == ("https://talk.example/i/1.jpg",)
    assert (last.id, last.author, last.published, last.counts) == ("73", None, None, {})


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("time@datetime", "2024-05-03T09:30:00+00:00"),
        (".stamp@data-ms", "2024-05-03T08:00:00+00:00"),
        (".when", "2024-05-04"),
        (".nick", None),
        (".missing", None),
    ],
)
def test_dates_are_parsed_from_attributes_and_text(path: str, day: str | None) -> None:
    [thread] = RecordPaths("thread", title="h1", published=path).records(
        SitePage(URL, PAGE), "talk"
    )
    assert thread.published == day


class Talk(DeclaredPlatform):
    """Posts below a heading, rows in lists."""

    name = "talk"
    hosts = ("talk.example",)
    page = RecordPaths("thread", title="h1", tags="a.tag", items=(POST,))
    rows = RecordPaths("thread", at="li", title="a", url="a", counts={"replies": "i"})


def test_page_record_contains_its_item_records() -> None:
    record = Talk().parse(SitePage(URL, PAGE))
    assert record is not None
    assert (record.title, record.url, record.tags) == (
        "Leaking seacock",
        "https://talk.example/t/9",
        ("hull", "brass"),
    )
    assert [item.id for item in record.items] == ["71", "72", "73"]


def test_listing_yields_rows_and_unknown_page_yields_none() -> None:
    rows = "<title>Talk</title><li><a href=/t/1>One</a><i>3</i></li><li><a href=/t/2>Two</a></li>"
    record = Talk().parse(SitePage(URL, rows))
    assert record is not None
    assert (record.kind, record.title) == ("listing", "Talk")
    assert [(i.title, i.url, i.counts) for i in record.items] == [
        ("One", "https://talk.example/t/1", {"replies": 3}),
        ("Two", "https://talk.example/t/2", {}),
    ]
    assert Talk().parse(SitePage(URL, "<p>Gone</p>")) is None
