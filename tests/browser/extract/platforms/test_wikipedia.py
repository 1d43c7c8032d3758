"""Wikipedia: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

from browser.extract.platforms import parse_platform
from browser.types import Link
from tests.browser.extract.platforms.reading import parse_record


def test_article_yields_sections_infobox_and_references() -> None:
    page = """<h1 id=firstHeading>Tide</h1><div id=mw-content-text><div class=mw-parser-output><table class=infobox><tr><th>Period<td>12 h</table>
    <p>Tides rise.<sup class=reference><a href="#cite_note-1">[1]</a></sup></p><div class=toc>Contents</div><h2>Causes<span class=mw-editsection>[edit]</span> <span class=editsection>[edit]</span></h2><p>The Moon.</p>
    <ol class=references><li id=cite_note-1><span class=reference-text>Rower, <a class=external href="https://e.org/r">Tides</a>.</span></ol></div></div>
    <div id=mw-normal-catlinks><ul><li><a>Oceans</a></ul></div>"""
    article = parse_record("https://en.wikipedia.org/wiki/Tide", page)
    assert (article.title, article.text) == ("Tide", "Tides rise.\n\n## Causes\n\nThe Moon.")
    assert article.fields == {"infobox: Period": "12 h"}
    assert [(s.title, s.text) for s in article.items] == [
        ("Tide", "Tides rise."),
        ("Causes", "The Moon."),
    ]
    assert article.links == (Link("https://e.org/r", "Rower, Tides.", "reference"),)
    assert article.tags == ("Oceans",)


def _page(inner: str, lang: str = "en", foot: str = "") -> str:
    return f"""<html lang={lang}><body><h1 id=firstHeading>Elm</h1><div id=mw-content-text><div class=mw-parser-output>{inner}</div></div>{foot}</body></html>"""


def test_infobox_lists_line_breaks_and_notes_are_flattened() -> None:
    box = """<table class="infobox vcard"><tbody><tr><th colspan=2>Port Elm</th></tr><tr><th>Mayors<td>Ann Rower<br>Jo Mole<sup class=reference><a>[1]</a></sup></tr>
    <tr><th>Rivers<td><div class=plainlist><ul><li>Elm</li><li>Ash <small>(east)</small></li></ul></div></tr></tbody></table><p>A <b>port</b>.</p><span class=geo>53.5; 8.1</span>"""
    article = parse_record("https://en.wikipedia.org/wiki/Port_Elm", _page(box))
    assert article.fields == {
        "language": "en",
        "coordinates": "53.5; 8.1",
        "infobox: Mayors": "Ann Rower, Jo Mole",
        "infobox: Rivers": "Elm, Ash (east)",
    }


def test_new_heading_markup_and_german_last_edit_are_parsed() -> None:
    body = """<p>Ein Ort.</p><div class="mw-heading mw-heading2"><h2 id=Lage>Lage</h2><span class=mw-editsection>[Bearbeiten]</span></div><p>Am Fluss.</p>"""
    foot = "<ul><li id=footer-info-lastmod> Diese Seite wurde zuletzt am 3. Mai 2024 um 12:00 Uhr bearbeitet.</ul>"
    article = parse_record("https://de.wikipedia.org/wiki/Elm", _page(body, "de", foot))
    assert (article.fields["language"], article.modified) == ("de", "2024-05-03")
    assert [(s.title, s.text) for s in article.items] == [
        ("Elm", "Ein Ort."),
        ("Lage", "Am Fluss."),
    ]


def test_disambiguation_redirect_and_missing_pages() -> None:
    apart = '<p><b>Elm</b> may refer to:</p><ul><li><a href="/wiki/Elm_(tree)">Elm (tree)</a></ul><table id=disambigbox class=metadata><tr><td>This page lists</table>'
    page = parse_record("https://en.wikipedia.org/wiki/Elm", _page(apart))
    assert (page.kind, "Elm (tree)" in page.text) == ("disambiguation", True)
    assert "This page lists" not in page.text

    moved = "<span class=mw-redirectedfrom>(Redirected from <a>Elmtree</a>)</span>"
    page = parse_record("https://en.wikipedia.org/wiki/Elm", _page(f"<p>A tree.</p>{moved}"))
    assert page.fields["redirected_from"] == "Elmtree"

    missing = "<div class=noarticletext><p>Wikipedia does not have an article.</p></div>"
    assert parse_platform("https://en.wikipedia.org/wiki/Elmm", _page(missing)) is None


def test_other_mediawiki_site_is_parsed() -> None:
    page = _page("<p>A boat.</p>").replace("<body>", '<meta name=generator content="MediaWiki 1.39"><body>')  # fmt: skip
    assert parse_record("https://wiki.boats.example/index.php/Elm", page).text == "A boat."
