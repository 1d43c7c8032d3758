"""Quotes are marked in place on a saved page, and nothing on it is changed or lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml.html import fragment_fromstring

from agent.serve.saved_page import mark_quotes


@pytest.mark.parametrize(
    ("html", "quotes", "shown"),
    [
        ("<p>one two one</p>", ["two"], '<p>one <mark id="words">two</mark> one</p>'),
        (
            "a <b>bold</b> tail",
            ["bold tail"],
            'a <b><mark id="words">bold</mark></b> <mark>tail</mark>',
        ),
        (
            "<table><tr><td>a</td><td>b c</td></tr></table>",
            ["a | b"],
            '<table><tr><td><mark id="words">a</mark></td><td><mark>b</mark> c</td></tr></table>',
        ),
        (
            "<p>one two three four</p>",
            ["four", "one two", "two three"],
            '<p><mark>one two three</mark> <mark id="words">four</mark></p>',
        ),
        ("<p>a &lt;b&gt; &amp; c</p>", ["&"], '<p>a &lt;b&gt; <mark id="words">&amp;</mark> c</p>'),
        ("<p>nothing is quoted</p>", [], "<p>nothing is quoted</p>"),
    ],
)
def test_quote_is_marked_across_element_boundaries(html, quotes, shown):
    assert mark_quotes(html, quotes) == (shown, True)


@pytest.mark.parametrize("quote", ["zzz", "", "|"])
def test_missing_quote_is_reported_and_others_are_marked(quote):
    shown, found = mark_quotes("<p>abc</p>", [quote, "b"])
    assert not found
    assert shown == '<p>a<mark id="words">b</mark>c</p>'


@given(
    st.lists(
        st.sampled_from(["<b>ab</b>", "cd ", "<p>ef</p>", "<i>g<u>h</u></i>i", " "]), min_size=1
    ),
    st.data(),
)
def test_marking_preserves_text_and_covers_quotes(pieces, data):
    html = "".join(pieces)
    text = fragment_fromstring(f"<div>{html}</div>").text_content()
    place = st.integers(0, len(text))
    quotes = [text[slice(*sorted((data.draw(place), data.draw(place))))] for _ in range(2)]
    shown, found = mark_quotes(html, quotes)
    tree = fragment_fromstring(f"<div>{shown}</div>")
    assert tree.text_content() == text
    assert found == all(quote.strip() for quote in quotes)
    held = "".join("".join(mark.text_content().split()) for mark in tree.iter("mark"))
    assert len(held) >= max((len("".join(quote.split())) for quote in quotes), default=0)
