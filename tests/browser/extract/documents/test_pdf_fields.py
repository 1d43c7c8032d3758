"""The fields of a PDF form: values, boxes and choices beside their labels."""

from __future__ import annotations

import pytest

from browser.extract import extract_body
from tests.browser.extract.documents.pdfs import annotated_pdf

Texts = list[tuple[float, float, float, str]]
Rect = tuple[float, float, float, float]


def read(texts: Texts, *fields: str) -> str:
    return extract_body(annotated_pdf(texts, *fields), "", "https://e.org/form.pdf").text


def widget(rect: Rect, entries: str, flags: int = 4) -> str:
    edges = " ".join(map(str, rect))
    look = "/DA(/F1 11 Tf 0 g)"
    return f"<</Type/Annot/Subtype/Widget/Rect[{edges}]/F {flags}{look}{entries}>>"


def typed(left: float, bottom: float, value: str, name: str = "f1", flags: int = 4) -> str:
    rect = (left, bottom, left + 150, bottom + 17)
    return widget(rect, f"/FT/Tx/T({name})/V({value})", flags)


def box(left: float, bottom: float, state: str, kind: str = "", name: str = "b1") -> str:
    form = "<</Type/XObject/Subtype/Form/BBox[0 0 10 10]>>"
    rect = (left, bottom, left + 10, bottom + 10)
    entries = f"/FT/Btn{kind}/T({name})/V/{state}/AS/{state}/AP<</N<</Yes {form}/Off {form}>>>>"
    return widget(rect, entries)


def test_values_stand_beside_their_labels() -> None:
    texts: Texts = [(50, 700, 11, "Name of ship:"), (50, 670, 11, "Owner:"), (50, 640, 11, "End")]
    text = read(texts, typed(150, 666, "Runa Askvold"), typed(150, 696, "Sea Lettuce", "f2"))
    assert text.split("\n\n") == ["Name of ship: Sea Lettuce", "Owner: Runa Askvold", "End"]


def test_value_stands_between_the_words_that_it_is_printed_between() -> None:
    texts: Texts = [(50, 700, 11, "Name: ____________________ Born: ____________")]
    assert read(texts, typed(86, 697, "Ada")) == "Name: Ada ____________________ Born: ____________"


def test_value_follows_the_label_above_it() -> None:
    texts: Texts = [(50, 700, 11, "Owner"), (250, 700, 11, "Port"), (50, 600, 11, "Signed")]
    text = read(texts, typed(250, 676, "Hesk"), typed(50, 676, "Runa", "f2"))
    assert text.split() == ["Owner", "Port", "Runa", "Hesk", "Signed"]


def test_value_without_printed_label_is_labelled_with_its_own_name() -> None:
    texts: Texts = [(50, 700, 11, "Application")]
    named = widget((50, 400, 200, 417), "/FT/Tx/T(f1)/TU(Home port)/V(Hesk)")
    text = read(texts, named, typed(50, 380, "9.85", "length"))
    assert text.split("\n\n")[0] == "Application"
    assert "Home port: Hesk" in text
    assert "length: 9.85" in text


@pytest.mark.parametrize("kind", ["", "/Ff 32768"])
def test_boxes_show_their_state_beside_their_words(kind: str) -> None:
    texts: Texts = [(70, 700, 11, "Shore power"), (70, 680, 11, "Winter storage")]
    text = read(texts, box(55, 699, "Yes", kind), box(55, 679, "Off", kind, "b2"))
    assert text.split("\n") == ["[x] Shore power", "[ ] Winter storage"]


def test_choice_shows_its_label() -> None:
    options = "/FT/Ch/Ff 131072/T(port)/Opt[[(h)(Hesk)][(b)(Brae)]]/V(h)"
    text = read([(50, 700, 11, "Home port:")], widget((150, 695, 300, 712), options))
    assert text == "Home port: Hesk"


def test_hidden_and_empty_fields_and_passwords_are_not_read() -> None:
    secret = widget((150, 596, 300, 613), "/FT/Tx/Ff 8192/T(p)/V(hunter2)")
    fields = (typed(150, 696, "Hidden", flags=2), typed(150, 646, "", "f2"), secret)
    text = read([(50, 700, 11, "Name of ship:"), (50, 600, 11, "Password:")], *fields)
    assert "Hidden" not in text
    assert "f2" not in text
    assert "hunter2" not in text


def test_form_without_printed_text_is_read_by_its_names() -> None:
    assert read([], typed(50, 400, "Hesk", "port"), box(50, 300, "Yes")) == "port: Hesk\n\n[x] b1"
