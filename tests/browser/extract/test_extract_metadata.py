"""What a page states about itself in visible lines: author, dates, language, licence."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browser.extract import extract
from browser.text.languages import language_of

if TYPE_CHECKING:
    from browser.types import Document

BODY = (
    "<p>The harbour has been dredged every spring since the channel silted up in the great storm, and the council says that it will be again.</p>"
    * 4
)


def read(around: str, head: str = "") -> Document:
    return extract(
        f"<title>Dredging | Courier</title>{head}<h1>Dredging</h1>{around}{BODY}", "https://e.org/a"
    )


@pytest.mark.parametrize(
    ("line", "author"),
    [
        ("<p>By Tom Reed, maritime editor</p>", "Tom Reed"),
        ("<p>Von Heike Brandt</p>", "Heike Brandt"),
        ("<p>Reportage von Lena Voss</p>", "Lena Voss"),
        ("<p>Reporting by Tom Reed and Nora Vik</p>", "Tom Reed, Nora Vik"),
        ("<p>von Kai Petersen, 21.04.2024</p>", "Kai Petersen"),
        ("<div><a href='/@nv'>Nora Vik</a><span>Jan 3, 2024</span></div>", "Nora Vik"),
        ("<p>Written by Ludwig van der Meer</p>", "Ludwig van der Meer"),
        ("<p class=author>Author: keelhaul</p>", "keelhaul"),
        ("<p class=byline>3 May 2024 · <b>by</b> <i>keelhaul</i> · <a>Reply</a></p>", "keelhaul"),
        ("<p class=author>3 May 2024</p>", None),
        ("<p>Surrounded by water on three sides.</p>", None),
        ("<p>Share on Facebook</p>", None),
    ],
)
def test_author_is_read_from_line_below_title(line: str, author: str | None) -> None:
    assert read(line).author == author


@pytest.mark.parametrize(
    ("line", "published", "modified"),
    [
        ("<p>11 February 2024, 8:30am</p>", "2024-02-11", None),
        ("<p>Stand: 14.03.2024, 17:45 Uhr</p>", None, "2024-03-14"),
        (
            "<p>Veröffentlicht am 3. April 2024, aktualisiert am 5. April 2024</p>",
            None,
            "2024-04-03",
        ),
        ("<div><span>7 min read</span><span>Jan 3, 2024</span></div>", "2024-01-03", None),
        ("<p>2024-02-08 by the press office</p>", "2024-02-08", None),
        ("<p>Thu, 02/08/2024</p>", None, None),
        ("<h2>What the storm of 3 May 1998 did to the whole coast</h2>", None, None),
    ],
)
def test_dates_are_read_from_lines_around_title(
    line: str, published: str | None, modified: str | None
) -> None:
    document = read(line)
    assert (document.published, document.modified) == (published, modified)


def test_labelled_date_below_body_is_used() -> None:
    page = f"<title>Lock</title><h1>Lock</h1>{BODY}<p>Published 4 January 2023</p><p>Seen on 9 May 2024</p>"
    assert extract(page, "https://e.org/a").published == "2023-01-04"


def test_declared_metadata_takes_precedence_over_visible_lines() -> None:
    declared = "<meta name=author content='Ada Holm'><meta property='article:published_time' content='2024-01-01'>"
    document = read("<p>By Tom Reed, 11 February 2024</p>", declared)
    assert (document.author, document.published) == ("Ada Holm", "2024-01-01")


def test_all_citation_authors_are_listed() -> None:
    head = "<meta name=citation_author content='Holm, Ada'><meta name=citation_author content='Lund, Edda'>"
    assert read("", head).author == "Ada Holm, Edda Lund"


GERMAN = "Der Hafen von Elmstedt wird seit der großen Sturmflut in jedem Frühjahr neu ausgebaggert, und die Verwaltung teilte mit, dass es auch in diesem Jahr so sein wird. "


def test_language_is_detected_if_undeclared_or_left_at_english() -> None:
    page = f"<title>Hafen</title><p>{GERMAN * 3}</p>"
    assert extract(page, "https://e.org/").language == "de"
    assert extract(f"<html lang=en>{page}</html>", "https://e.org/").language == "de"
    assert extract(f"<html lang=de-AT>{page}</html>", "https://e.org/").language == "de-AT"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (GERMAN, "de"),
        (
            "Le port est dragué chaque printemps depuis que le chenal est envasé par les tempêtes, et les pêcheurs ne sont pas contents de ces travaux dans la baie.",
            "fr",
        ),
        (
            "El puerto se draga cada primavera porque el canal se llena de arena con las tormentas, y los pescadores no están contentos con las obras de la bahía.",
            "es",
        ),
        ("港の航路は大きな嵐で砂に埋まってから毎年春に浚渫されている。", "ja"),
        ("港口的航道自从大风暴以后每年春天都要清淤一次。", "zh"),
        ("Маяк в порту светит каждую ночь, и рыбаки видят его издалека.", "ru"),
        ("Hafen 12", None),
    ],
)
def test_language_is_detected_by_script_and_function_words(text: str, language: str | None) -> None:
    assert language_of(text) == language


def test_adjacent_links_are_separated_but_inline_letters_are_not() -> None:
    page = "<div><a href=/a>Magazin</a><a href=/b>Politik</a></div><p><b>H</b><i>ello</i> there</p>"
    text = extract(page, "https://e.org/").text
    assert "Magazin Politik" in text
    assert "Hello there" in text


@pytest.mark.parametrize(
    "around",
    [
        "<p>The channel was first dredged on 3 May 1893.</p>",
        "<p>Tables by Ada Holm hang in the harbour office today.</p>",
        "<h2>2 November 1893</h2><p>Quiet.</p><h2>18 November 1893</h2><p>Late.</p>",
    ],
)
def test_names_and_dates_in_prose_are_not_metadata(around: str) -> None:
    document = read(around)
    assert (document.author, document.published) == (None, None)
