"""What a reader sees on a page becomes text; its frame is kept separate."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

import pytest

from browser.extract import extract
from browser.types import Link

URL = "https://example.org/harbour/tides.html"


def text(body: str) -> str:
    return extract(f"<html><body>{body}</body></html>", URL).text


def test_blocks_are_separated_by_blank_lines() -> None:
    assert text("<h2>Tides</h2><p>One.</p><div>Two.</div>") == "## Tides\n\nOne.\n\nTwo."


def test_whitespace_collapses_around_inline_elements() -> None:
    assert (
        text("<p>The <b>old</b>\n  <a href=x>pier</a>&nbsp;stands.</p>") == "The old pier stands."
    )


def test_typographic_characters_are_unchanged() -> None:
    odd = "“Straße” – it’s 3 × 4… ½ km"
    assert text(f"<p>{odd}</p>") == odd


def test_list_items_form_one_block() -> None:
    assert text("<ul><li>Cod<li>Eel<ul><li>Small eel</ul></ul><p>End.</p>") == (
        "- Cod\n- Eel\n- Small eel\n\nEnd."
    )


def test_terms_and_details_stay_together() -> None:
    assert text("<dl><dt>Depth<dd>12 m<dt>Width<dd>40 m</dl>") == "Depth: 12 m\n\nWidth: 40 m"


def test_single_br_breaks_line_and_double_br_breaks_paragraph() -> None:
    assert text("<div>One<br>two<br><br>three</div>") == "One\ntwo\n\nthree"


def test_code_keeps_its_lines() -> None:
    assert text("<pre>a = 1\n  b = 2</pre>") == "a = 1\n  b = 2"


def test_table_rowspans_are_filled() -> None:
    document = extract(
        "<table><caption>Boats</caption><tr><th>Name<th>Port<tr><td rowspan=2>Ada<td>East"
        "<tr><td>West</table>",
        URL,
    )
    assert document.text == "Boats\n| Name | Port |\n| --- | --- |\n| Ada | East |\n| Ada | West |"
    assert document.tables[0].rows == (("Name", "Port"), ("Ada", "East"), ("Ada", "West"))
    assert document.tables[0].caption == "Boats"


def test_layout_tables_are_read_as_blocks() -> None:
    assert text("<table><tr><td><h1>Harbour</h1><p>Open.</p></td></tr></table>") == (
        "# Harbour\n\nOpen."
    )


def test_reference_marks_are_dropped_and_superscripts_kept() -> None:
    marked = '<p>Built in 1907.<sup class=reference><a href="#n1">[1]</a></sup> It holds 10<sup>2</sup> boats, the 1<sup>st</sup>.</p>'
    assert text(marked) == "Built in 1907. It holds 10^2 boats, the 1st."


def test_page_chrome_is_dropped_and_short_content_kept() -> None:
    page = (
        "<div class=cookie-banner>We use cookies <button>Accept</button></div>"
        "<header><nav><a href=/>Home</a></nav></header><main><h1>Ferry</h1><p>Yes.</p>"
        "<p>Price: 4 €</p></main><aside class=related><p>You may also like the zoo.</p></aside>"
        "<footer>© Harbour board</footer>"
    )
    assert text(page) == "# Ferry\n\nYes.\n\nPrice: 4 €"


def test_page_entirely_inside_menu_box_is_read() -> None:
    assert "Cod is 4 €." in text("<div class=menu><h2>Fish</h2><p>Cod is 4 €.</p></div>")


def test_article_body_excludes_byline_and_related_links() -> None:
    sentence = "The lock keeper opened the gates again after a winter of repairs on the canal. "
    page = f"""<html><head><meta property=og:type content=article><title>Lock opens | Post</title></head>
    <body><article><h1>Lock opens</h1><p>By Ann Rower - 3 May 2024</p><p>{sentence * 3}</p>
    <p>{sentence * 2}</p><p><a href=/b>Read more: Bridge closes for the summer</a></p>
    <p>{sentence * 3}</p></article>
    <ul>{"".join(f"<li><a href=/{n}>Another headline number {n}</a>" for n in range(30))}</ul>"""
    body = extract(page, URL).text
    assert body.count("lock keeper") == 8
    assert "Bridge closes" not in body
    assert "Another headline" not in body
    assert "Ann Rower" not in body


def test_catalogue_keeps_every_entry() -> None:
    cards = "".join(
        f"<div class=card><h3>Rope {n}</h3><p>A strong rope for boats that are moored in deep "
        f"water, sold by the metre.</p><span>{n} €</span></div>"
        for n in range(1, 21)
    )
    page = text(f"<h1>Ropes</h1>{cards}")
    assert all(f"### Rope {n}" in page and f"{n} €" in page for n in range(1, 21))


def test_metadata_is_read_from_head_and_json_ld() -> None:
    document = extract(
        """<html lang=de-AT><head><title>Flut – Hafenblatt</title>
        <link rel=canonical href=/flut><meta property=og:site_name content=Hafenblatt>
        <script type="application/ld+json">{"@type":"NewsArticle","headline":"Flut",
        "author":[{"name":"Eva Kai"},{"name":"Jo Mole"}],"datePublished":"2024-05-03T08:00:00Z",
        "dateModified":"2024-05-04"}</script></head><body><h1>Flut</h1><p>Text.</p>""",
        URL,
    )
    assert document.title == "Flut"
    assert document.author == "Eva Kai, Jo Mole"
    assert document.published == "2024-05-03T08:00:00+00:00"
    assert document.modified == "2024-05-04"
    assert document.language == "de-AT"
    assert document.canonical_url == "https://example.org/flut"
    assert document.site == "Hafenblatt"


def test_links_are_absolute_and_next_page_is_marked() -> None:
    links = extract(
        '<a href="boats.html">Boats</a> <a href="#top">Top</a> <a href="?p=2">Next page</a>'
        ' <a href="javascript:x()">x</a><link rel=next href="?p=2">',
        URL,
    ).links
    assert links == (
        Link("https://example.org/harbour/boats.html", "Boats"),
        Link("https://example.org/harbour/tides.html?p=2", "Next page", "next"),
    )


def test_markdown_keeps_links_and_emphasis() -> None:
    document = extract('<p>See the <em>old</em> <a href="/pier">pier</a>.</p>', URL)
    assert document.markdown == "See the *old* [pier](https://example.org/pier)."


def test_unclosed_tags_are_parsed_as_in_browsers() -> None:
    assert text("<p>One<p>Two<div>Three</p>") == "One\n\nTwo\n\nThree"


def test_very_deep_and_very_wide_pages_are_bounded() -> None:
    assert text("<div>" * 20_000 + "deep") is not None
    wide = extract("".join(f"<a href=/{n}>l{n}</a> " for n in range(10_000)), URL)
    assert len(wide.links) == 2_000


def test_head_ends_at_first_body_element() -> None:
    page = "<meta charset=utf-8><title>T</title><main><p>One.</p></main> two <p>Three.</p>"
    assert extract(page, URL).text == "One.\n\ntwo\n\nThree."


@pytest.mark.parametrize(
    ("head", "heading", "title"),
    [
        (
            "<title>Tide - Wiki</title><meta property=og:title content='rise of water'>",
            "Tide",
            "Tide",
        ),
        ("<title>Tide | The Port</title><meta property=og:title content=Tide>", "The Port", "Tide"),
        ("<title>The Port</title><meta property=og:title content='Tide today'>", "Tide", "Tide"),
        ("<title>Tide</title>", "Welcome", "Tide"),
        ("", "Tide", "Tide"),
    ],
)
def test_title_is_chosen_from_title_meta_and_heading(head: str, heading: str, title: str) -> None:
    page = f"<head>{head}</head><body><h1>{heading}</h1><p>Text.</p>"
    assert extract(page, URL).title == title


def test_article_keeps_section_headings() -> None:
    prose = "<p>The tide comes twice a day and the keeper writes its height into the book.</p>" * 3
    page = f"""<html><head><meta property=og:type content=article><title>Tides</title></head><body>
    <article><h1>Tides</h1>{prose}<h1>Related work</h1>{prose}<h2>Method</h2>{prose}</article></body>"""
    text = extract(page, URL).text
    assert not text.startswith("# Tides")
    assert "# Related work" in text
    assert "## Method" in text


def test_repeated_menu_items_are_content() -> None:
    dishes = "".join(f"<li class=menu-item>Dish {n} costs {n} €</li>" for n in range(1, 30))
    page = text(
        f"<h1>The Anchor</h1><p>Open from noon.</p><ul>{dishes}</ul><div class=social>Follow</div>"
    )
    assert all(f"- Dish {n} costs {n} €" in page for n in range(1, 30))
    assert "Follow" not in page


def test_notes_and_headers_inside_main_are_kept() -> None:
    page = "<main><header><h2>Mooring</h2><p>In short.</p></header><p>Text.</p><aside class='note tip'><p>Use two lines.</p></aside></main>"
    assert text(page) == "## Mooring\n\nIn short.\n\nText.\n\nUse two lines."


def test_fact_box_in_article_is_kept_and_link_box_dropped() -> None:
    facts = "<tr><th>Built</th><td>1829</td></tr><tr><th>Height</th><td>34 m</td></tr>"
    links = "<li><a href=/a>Another light</a></li><li><a href=/b>A third</a></li>"
    page = text(
        f"<article><aside><table>{facts}</table></aside><p>A tower.</p></article>"
        f"<aside><ul>{links}</ul></aside><aside><table>{facts.replace('Built', 'Page')}</table></aside>"
    )
    assert page == "- Built: 1829\n- Height: 34 m\n\nA tower."


def test_sortable_table_keeps_header_text() -> None:
    head = "<tr><th><button>Light</button></th><th><button>Tower, m</button></th></tr>"
    row = "<tr><td>Hesk</td><td>34 <button>Buy</button></td></tr>"
    rows = "| Light | Tower, m |\n| --- | --- |\n| Hesk | 34 |"
    assert text(f"<table>{head}{row}</table>") == rows


def test_markdown_marks_hug_words_and_skip_empty_elements() -> None:
    page = "<p>A<b> bold </b>word,<i> </i>a<a href='/b'> link </a>and <a href='javascript:go()'>none</a>.</p>"
    page += "<p><b>One<b> two</b></b><b> three</b></p><p><i>One</i><i>two</i></p>"
    page += "<a href=/c><h2>Title</h2><div>Teaser text</div></a>"
    markdown = extract(page, "https://e.org/").markdown
    assert markdown.startswith("A **bold** word, a [link](https://e.org/b) and none.")
    assert "## [Title](https://e.org/c)\n\n[Teaser text](https://e.org/c)" in markdown
    assert "**One two** **three**\n\n*Onetwo*" in markdown


def test_name_value_table_becomes_labelled_list() -> None:
    rows = (
        "<tr><th colspan=2>Hesk light</th></tr><tr><th>First lit:</th><td>1 November 1829</td></tr>"
    )
    rows += "<tr><th>Height</th><td>34 m</td></tr>"
    assert text(f"<table>{rows}</table>") == (
        "Hesk light\n- First lit: 1 November 1829\n- Height: 34 m"
    )


BODY = "".join(
    f"<p>{'The light stands on the point and was lit by its keepers. ' * 3}</p>" for _ in range(4)
)


def test_facts_below_article_keep_their_labels() -> None:
    facts = "<dl><dt>First lit</dt><dd>1 November 1829</dd></dl><ul><li>Height: 34 m</li></ul>"
    page = text(f"<main><h1>Hesk light</h1>{BODY}{facts}</main>")
    assert page.endswith("First lit: 1 November 1829\n\n- Height: 34 m")


def test_last_live_blog_card_is_kept() -> None:
    said = ("The harbour is closed.", "Boats wait outside.", "Wind rises to nine.", "Two are in.")
    cards = [
        f"<div class=card><h3>1{n}:00</h3><p>{line} {'It goes on and on, as it did before. ' * 9}</p></div>"
        for n, line in enumerate(said)
    ]
    last = "<div class=card><h3>15:00</h3><p>All boats are home.</p></div>"
    assert text(f"<main><h1>Storm</h1>{''.join(cards)}{last}</main>").endswith(
        "All boats are home."
    )


@pytest.mark.parametrize(
    "heading",
    [
        '<h1><a class=header href="#the-slice-type">The Slice Type</a></h1>',
        '<h1>The Slice Type<a class=headerlink href="#the-slice-type">¶</a></h1>',
    ],
)
def test_self_linked_heading_is_preferred_over_manual_name_as_title(
    heading: str,
) -> None:
    page = (
        "<title>The Slice Type - Manual of Hesk</title><h1><a href='/'>Manual of Hesk</a></h1>"
        f"<main>{heading}<p>A slice refers to a part of a row, and owns nothing of it.</p></main>"
    )
    assert extract(page, "https://docs.example/book/slices.html").title == "The Slice Type"
