"""Wikipedia: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

from browser.types import Link
from tests.browser.extract.platforms.reading import parsed


def test_wikipedia_article() -> None:
    page = """<h1 id=firstHeading>Tide</h1><div id=mw-content-text><div class=mw-parser-output><table class=infobox><tr><th>Period<td>12 h</table>
    <p>Tides rise.<sup class=reference><a href="#cite_note-1">[1]</a></sup></p><div class=toc>Contents</div><h2>Causes<span class=mw-editsection>[edit]</span></h2><p>The Moon.</p>
    <ol class=references><li id=cite_note-1><span class=reference-text>Rower, <a class=external href="https://e.org/r">Tides</a>.</span></ol></div></div>
    <div id=mw-normal-catlinks><ul><li><a>Oceans</a></ul></div>"""
    article = parsed("https://en.wikipedia.org/wiki/Tide", page)
    assert (article.title, article.text) == ("Tide", "Tides rise.\n\n## Causes\n\nThe Moon.")
    assert article.fields == {"infobox: Period": "12 h"}
    assert [(s.title, s.text) for s in article.items] == [
        ("Tide", "Tides rise."),
        ("Causes", "The Moon."),
    ]
    assert article.links == (Link("https://e.org/r", "Rower, Tides.", "reference"),)
    assert article.tags == ("Oceans",)
