"""The edges of a body: where it begins and ends, and what surrounds it."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

from browser.extract import extract

URL = "https://example.org/a"
ARTICLE = "<meta property='og:type' content='article'>"
SUMMARY = "A flat stone, a little water and more patience than anybody thinks is what it takes."
PROSE = [
    "The harbour has been dredged every spring since the channel silted up in the great storm.",
    "Officials said on Tuesday that the new breakwater would cost twice as much as planned.",
    "Fishermen complained that the works had driven the herring away from the inner bay.",
]
BODY = "".join(f"<p>{text}</p>" for text in PROSE)


def text_of(page: str) -> str:
    return extract(page, URL).text


def test_main_element_excludes_surrounding_banner_and_signup() -> None:
    banner = "<section><p>An official website of the government, and here is how you know that it is one.</p></section>"
    text = text_of(f"{banner}<main><h1>Permits</h1>{BODY}</main><div>Sign up for news</div>")
    assert "official website" not in text
    assert "Sign up" not in text
    assert all(line in text for line in PROSE)


def test_small_main_element_does_not_limit_body() -> None:
    text = text_of(f"<main><p>Welcome to all of you.</p></main><div>{BODY}</div>")
    assert all(line in text for line in PROSE)


def test_table_layout_yields_middle_column() -> None:
    menu = "<td><a href=/a>Home</a><br><a href=/b>Join us</a></td>"
    notices = "<td>NEWS<br>The fete is in July, bring a cake</td>"
    page = f"<table><tr><td colspan=3>Locomotive Society</td></tr><tr>{menu}<td><h2>Dredging</h2>{BODY}</td>{notices}</tr></table>"
    text = text_of(page)
    assert all(line in text for line in PROSE)
    assert "Join us" not in text
    assert "cake" not in text


def test_summary_below_headline_is_part_of_body() -> None:
    page = f"{ARTICLE}<article><header><h1>Sharpening</h1><p>{SUMMARY}</p></header><div>{BODY}</div></article>"
    assert text_of(page).split("\n\n") == [SUMMARY, *PROSE]


def test_caption_below_headline_is_not_a_summary() -> None:
    caption = "<div class=picture-caption>With a crane the boat was lifted onto the quay on Friday evening.</div>"
    page = f"{ARTICLE}<article><h1>Dredging</h1>{caption}<div>{BODY}</div></article>"
    assert text_of(page).split("\n\n") == PROSE


def test_heading_is_dropped_with_its_section() -> None:
    links = "".join(f"<li><a href='/{n}'>A soup of the kind {n}</a></li>" for n in range(4))
    page = (
        f"{ARTICLE}<article><h1>Soup</h1>{BODY}<h2>From our kitchen</h2><ul>{links}</ul></article>"
    )
    assert "From our kitchen" not in text_of(page)


def test_heading_above_kept_paragraphs_is_kept() -> None:
    page = f"{ARTICLE}<article><h1>Dredging</h1>{BODY}<div class=box><h3>Who pays?</h3></div>{BODY}</article>"
    assert "Who pays?" in text_of(page)


def test_list_between_paragraphs_is_kept() -> None:
    entries = "<ul><li>six moors</li><li>pollen</li></ul>"
    page = f"{ARTICLE}<div><h1>Moors</h1>{BODY}{entries}{BODY.replace('The', 'Each')}</div>"
    assert "six moors" in text_of(page)


def test_call_to_action_line_is_left_out() -> None:
    page = (
        f"{ARTICLE}<article><h1>Museums</h1>{BODY}<div><a href=/b>Book tickets</a></div></article>"
    )
    assert "Book tickets" not in text_of(page)


def test_title_skips_heading_that_names_the_site() -> None:
    head = "<title>Inkwell » On fountain pens</title><h1><a href='/'>Inkwell</a></h1>"
    assert extract(f"{head}<h2>On fountain pens</h2>{BODY}", URL).title == "On fountain pens"
    last = "<title>Damp wall - Stone Forum</title><h1>Stone Forum</h1><h2>Damp wall</h2>"
    assert extract(f"{last}{BODY}", URL).title == "Damp wall"


def test_labelled_facts_above_body_are_kept() -> None:
    def fact(label: str, value: str) -> str:
        return f"<div class=field><div>{label}</div><div>{value}</div></div>"

    facts = fact("When", "Thursday, 16 May 2024, 6 pm") + fact("Where", "Lecture room 2, Old Mint")
    links = "".join(f"<li><a href='/{n}'>Lecture number {n}</a></li>" for n in range(9))
    page = f"<main><h1>The tides</h1><article><div>{facts}<div>{BODY}</div></div></article><div><ul>{links}</ul></div></main>"
    text = text_of(page)
    assert "Thursday, 16 May 2024, 6 pm" in text
    assert "Old Mint" in text
    assert "Lecture number" not in text


def test_box_with_generated_class_is_identified_by_data_component() -> None:
    letter = "<div class=css-1x9 data-component=newsletter-box><h3>The morning</h3><p>Our letter tells you what happened in the markets on each day of the week.</p></div>"
    page = f"{ARTICLE}<article><h1>Copper</h1><div>{BODY}{letter}{BODY.replace('The', 'Each')}</div></article>"
    text = text_of(page)
    assert "Each harbour" in text
    assert "Our letter" not in text
