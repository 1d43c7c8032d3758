"""For any input, extraction returns a Document or an ExtractError, and no invented words."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from browser.errors import ExtractError
from browser.extract import extract, extract_body
from browser.text.words import clean
from tests.browser.extract.test_extract_body import pdf

URL = "https://example.org/a"
_TAGS = (
    "div p ul li table tr td th h1 h2 a b sup span pre br dl dt dd main aside article nav".split()
)
_WORDS = st.text(alphabet="ab é“”…[]()|#*-1\u00a0\u200b", min_size=1, max_size=12)


@st.composite
def markup(draw: st.DrawFn) -> str:
    """Tag soup: elements opened and closed at random, with relevant attributes."""
    parts = []
    for _ in range(draw(st.integers(0, 25))):
        tag = draw(st.sampled_from(_TAGS))
        attribute = draw(
            st.sampled_from(
                ["", " hidden", " style='display:none'", " class=nav", " rowspan=3", " href=#x"]
            )
        )
        parts.append(
            draw(
                st.sampled_from([f"<{tag}{attribute}>", f"</{tag}>", draw(_WORDS).replace("<", "")])
            )
        )
    return "".join(parts)


@given(markup())
def test_extracted_words_all_occur_in_page(html: str) -> None:
    document = extract(f"<p>start</p>{html}", URL)
    written = clean(f"{re.sub(r'<[^>]*>', '', html)} start")
    for word in re.findall(r"\w+", document.text):
        # Text before and after a hidden element may look like one word on the page.
        rest = iter(written)
        assert all(letter in rest for letter in word)


@given(
    st.binary(max_size=400),
    st.sampled_from(["", "text/html", "application/json", "text/csv", "text/xml", "text/plain"]),
)
def test_arbitrary_bytes_return_document_or_raise_extract_error(
    body: bytes, content_type: str
) -> None:
    try:
        document = extract_body(body, content_type, URL)
    except ExtractError:
        return
    assert document.url == URL


def test_pdfs_are_extracted_concurrently() -> None:
    bodies = [pdf(f"Page {n} of one", "and two") for n in range(24)]
    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(lambda body: extract_body(body, "application/pdf", URL).text, bodies))
    assert texts == [f"Page {n} of one\n\nand two" for n in range(24)]


def test_control_characters_between_moved_elements_are_dropped() -> None:
    page = "<head><title>t</title><main>a</main>b\x0c&#1;</head>\x0bc<p>d"
    assert extract(page, URL).text.split() == ["a", "bc", "d"]


def test_thousand_nested_tables_do_not_break_extraction() -> None:
    page = f"<title>t</title><article><p>{'word ' * 200}</p>{'<table><tr><td>x' * 1_000}"
    assert extract(page, URL).text.count("word") == 200
