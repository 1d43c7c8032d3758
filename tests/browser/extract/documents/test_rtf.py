"""Rich Text Format, as Word, LibreOffice and TextEdit write it."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browser.errors import ExtractError
from browser.extract import extract_body
from browser.extract.documents.packed import read_with_plugin

if TYPE_CHECKING:
    from browser.types import Document

STYLES = r"{\stylesheet{\ql Normal;}{\s1\outlinelevel0 heading 1;}{\s2 \'dcberschrift 2;}{\*\cs10 Default;}}"


def read(inside: str, *, head: str = r"\ansi\ansicpg1252\deff0", name: str = "a.rtf") -> Document:
    body = rf"{{\rtf1{head}{{\fonttbl{{\f0\fnil\fcharset0 Arial;}}}}{inside}}}".encode("latin-1")
    return extract_body(body, "", f"https://example.org/{name}")


def test_headings_are_recognised_by_style() -> None:
    document = read(
        STYLES
        + r"\pard\s1 The lighthouse\par\pard\plain It was lit in 1867.\par Nobody came.\par\pard\s2 Keepers\par\pard Ada Holm\par"
    )
    assert document.kind == "rtf"
    assert document.title == "The lighthouse"
    assert document.markdown.split("\n\n") == [
        "# The lighthouse",
        "It was lit in 1867.",
        "Nobody came.",
        "## Keepers",
        "Ada Holm",
    ]


def test_info_group_is_metadata_not_text() -> None:
    info = r"{\info{\title Tides of Elm}{\author Ada Holm}{\operator bob}{\creatim\yr2020\mo5\dy3\hr9}{\revtim\yr2021\mo1\dy9}}"
    document = read(rf"{info}{{\*\generator Writer;}}High water is at noon.\par")
    assert document.text == "High water is at noon."
    assert (document.title, document.author) == ("Tides of Elm", "Ada Holm")
    assert (document.published, document.modified) == ("2020-05-03", "2021-01-09")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"caf\'e9", "café"),
        (r"\u252 ?ber", "über"),
        (r"\uc1\u8364\'80 5", "€ 5"),
        (r"\uc2\u28207\'83\'5e now", "港 now"),
        (r"\u-10179?\u-8704?!", "😀!"),
        (r"a\~b\_c\-d", "a\u00a0b\u2011cd"),
        (r"\ldblquote hi\rdblquote\emdash\{x\}\\", "“hi”—{x}\\"),
        (r"one\line two", "one\ntwo"),
        (r"{\f1 \'cf\'f0\'e8}", "При"),
        (r"{\f2 \'93\'fa\'96\'7b}", "日本"),
    ],
)
def test_escaped_characters_are_decoded(written: str, meant: str) -> None:
    fonts = r"{\fonttbl{\f1\fcharset204 Arial Cyr;}{\f2\fcharset128 MS Gothic;}}"
    assert read(rf"{fonts}\pard {written}\par").text == meant


def test_table_keeps_rows_and_surrounding_paragraphs() -> None:
    row = r"\trowd\cellx100\cellx200\pard\intbl {0}\cell {1}\cell\row "
    rows = row.format("Hour", "Level") + row.format("six", r"3 m\par and rising")
    document = read(rf"\pard Before\par {rows}\pard After\par")
    [table] = document.tables
    assert table.rows == (("Hour", "Level"), ("six", "3 m and rising"))
    assert document.text.startswith("Before")
    assert document.text.endswith("After")


def test_links_keep_their_text() -> None:
    field = (
        r'{\field{\*\fldinst{ HYPERLINK "https://tides.example/a" }}{\fldrslt{\ul the almanac}}}'
    )
    document = read(rf"\pard See {field} for more.\par")
    assert document.text == "See the almanac for more."
    assert [(link.url, link.text) for link in document.links] == [
        ("https://tides.example/a", "the almanac")
    ]


def test_hidden_and_deleted_text_headers_and_pictures_are_left_out() -> None:
    picture = r"{\pict\wmetafile8\bin5 }{}\}}"
    document = read(
        rf"{{\header Page top\par}}{picture}\pard Seen{{\v  unseen}}{{\deleted  gone}}{{\*\unknown x}} \v and\v0 all\par"
    )
    assert document.text == "Seen all"


def test_footnotes_are_placed_at_the_end() -> None:
    document = read(
        r"\pard Lit in 1867{\super\chftn{\footnote\pard\plain {\super\chftn} After the letters.}}.\par Then dark.\par"
    )
    assert document.text.split("\n\n") == ["Lit in 1867.", "Then dark.", "After the letters."]


def test_oversized_file_is_truncated_with_note() -> None:
    document = read(r"\pard " + r"wave \'e4{x} " * 150_000)
    assert document.text.startswith("wave ä")
    assert any("only the beginning" in note for note in document.notes)


def test_rtf_is_detected_by_content_not_file_name() -> None:
    assert read(r"\pard Hello there\par", name="letter.doc").kind == "rtf"


@given(
    st.lists(
        st.sampled_from([*r"{}\'*ax3 ", r"\par", r"\u", r"\bin", r"\'e", "{\\field{\\*\\fldinst"])
    )
)
def test_malformed_rtf_never_raises(pieces: list[str]) -> None:
    body = ("{\\rtf1 " + "".join(pieces)).encode()
    assert extract_body(body, "", "https://example.org/x.rtf").kind == "rtf"


def test_unsupported_kind_error_names_package_to_install() -> None:
    with pytest.raises(ExtractError, match="WPD files need a plug-in") as refused:
        read_with_plugin("wpd", b"", "https://example.org/a.wpd", "a.wpd")
    assert "pip install urchin-extras" in refused.value.hint
