"""Records: what is kept as written on the page, and how records are assembled."""

from __future__ import annotations

import pytest

from browser.extract.platforms import (
    Record,
    RecordPaths,
    SitePage,
    nested,
    opened_by,
    parse_date,
    thread,
)


def post(name: str, **more: object) -> Record:
    return Record("talk", "post", id=name, **more)


def test_counts_and_fields_are_normalised() -> None:
    record = post("1", counts={"likes": "1.2k", "views": "none", "replies": None, "points": 0},
                  fields={"free": True, "size": 3, "flair": "", "state": None})  # fmt: skip
    assert record.counts == {"likes": 1200, "points": 0}
    assert record.fields == {"free": "true", "size": "3"}


def test_update_merges_counts_and_fields_and_ignores_none() -> None:
    record = post("1", counts={"likes": 1}, fields={"state": "open"})
    later = record.updated(title="Seacock", counts={"views": "7"}, fields={"state": None, "n": 1})
    assert (later.title, later.counts) == ("Seacock", {"likes": 1, "views": 7})
    assert later.fields == {"state": "open", "n": "1"}
    assert record.fields == {"state": "open"}


def test_thread_puts_requested_post_first_and_others_after_its_items() -> None:
    quoted = post("q")
    found = thread([post("1"), post("2", items=(quoted,)), post("3")], "2")
    assert (found.id, [item.id for item in found.items]) == ("2", ["q", "1", "3"])
    assert thread([post("1"), post("2")], "9").id == "1"


def test_topic_takes_text_of_its_first_post() -> None:
    topic = opened_by(
        post("t", title="Leak"), [post("1", text="It weeps.", author="Ada"), post("2")]
    )
    assert (topic.id, topic.title, topic.text, topic.author) == ("t", "Leak", "It weeps.", "Ada")
    assert [item.id for item in topic.items] == ["2"]


def test_nested_reply_parent_is_last_shallower_comment() -> None:
    levels = [(0, post("a")), (1, post("b")), (2, post("c")), (1, post("d")), (0, post("e"))]
    assert [found.parent for found in nested(levels)] == [None, "a", "b", "a", None]


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("2024-05-03T08:00:00Z", "2024-05-03T08:00:00+00:00"),
        ("3 May 2024", "2024-05-03"),
        (1714723200, "2024-05-03T08:00:00+00:00"),
        ("1714723200000", "2024-05-03T08:00:00+00:00"),
        ("20240503", "2024-05-03"),
        ("2024", None),
        (10**18, None),
        ("9" * 5_000, None),
        (float("nan"), None),
        (True, None),
        ("", None),
        (None, None),
    ],
)
def test_dates_are_parsed_in_many_forms_but_not_bare_numbers(written: object, day: str) -> None:
    assert parse_date(written) == day


def test_url_template_needs_all_its_parts() -> None:
    paths = RecordPaths("topic", url="/t/{slug}/{id}", title="title")
    page = SitePage("https://talk.example/latest.json", {})
    assert paths.read(page, "talk", {"slug": "x", "id": 9}).url == "https://talk.example/t/x/9"
    assert paths.read(page, "talk", {"id": 9}).url == ""


def test_declared_post_is_read_from_meta_tags() -> None:
    head = """<link rel=canonical href=/@ada/9>
    <meta property=og:title content="Ada (@ada@talk.example)">
    <meta property=og:description content="It weeps."><meta property=og:image content=/avatar/1.png>
    <meta property=og:published_time content=2024-05-03T08:00:00Z>"""
    record = SitePage("https://talk.example/@ada/9", head).declared("talk", "post", "Article")
    assert (record.author, record.handle, record.id) == ("Ada", "ada@talk.example", "9")
    assert (record.text, record.published) == ("It weeps.", "2024-05-03T08:00:00+00:00")
    assert record.media == ()
