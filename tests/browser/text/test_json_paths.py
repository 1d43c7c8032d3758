"""Paths into JSON, as used for search engines and platforms."""

from __future__ import annotations

from browser.text.json_paths import alternatives, value_at, values_at

REPLY = {"hits": [{"by": {"name": "Ada"}, "tags": ["a", "b"]}, {"by": None, "tags": "c"}], "n": 0}


def test_path_follows_keys_indexes_and_list_entries():
    assert value_at(REPLY, "n") == 0
    assert value_at(REPLY, "hits.0.by.name") == "Ada"
    assert values_at(REPLY, "hits.by.name") == ["Ada"]
    assert values_at(REPLY, "hits.tags") == ["a", "b", "c"]
    assert value_at(REPLY, "hits.7.by") is None
    assert value_at(REPLY, "n.by") is None
    assert value_at([], "n") == []


def test_alternatives_are_split_outside_braces():
    assert alternatives("a.b || c") == ["a.b", "c"]
    assert alternatives("a||c") == ["a", "c"]
    assert alternatives("/user/{id || name} || url") == ["/user/{id || name}", "url"]
    assert alternatives("") == []
