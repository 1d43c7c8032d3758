from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.evidence import split_passages
from agent.evidence.passages import MAX_PASSAGE_CHARS

ARTICLE = """# Lighthouses of the Skerry coast

The first lamp was lit in 1811.

It burned colza oil.

## Figures

| Light | Height | Lit |
| Grey Holm | 31 m | 1811 |
| Tern Point | 24 m | 1854 |

- Grey Holm is automatic
- Tern Point has a keeper
  and a dog

### Keepers

The last keeper left Grey Holm in 1987."""


def test_blocks_list_items_and_rows_become_passages_with_stable_ids() -> None:
    passages = split_passages(ARTICLE, 3)
    assert [p.kind for p in passages] == [
        *["heading", "text", "text", "heading", "table", "table", "table"],
        *["list", "list", "heading", "text"],
    ]
    assert passages[1].id == "S3¶2"
    assert passages[8].text == "- Tern Point has a keeper\n  and a dog"


def test_passages_carry_their_heading_path() -> None:
    passages = split_passages(ARTICLE, 1)
    assert passages[-1].heading == "Lighthouses of the Skerry coast › Figures › Keepers"
    assert passages[0].heading == ""


def test_table_rows_keep_their_header_cells() -> None:
    row = split_passages(ARTICLE, 1)[5]
    assert row.text == "| Grey Holm | 31 m | 1811 |"
    assert row.heading.endswith("Figures › Light | Height | Lit")


def test_table_separator_rows_are_not_passages() -> None:
    passages = split_passages("| a | b |\n|---|---|\n| 1 | 2 |", 1)
    assert [p.text for p in passages] == ["| a | b |", "| 1 | 2 |"]
    assert passages[1].heading == "a | b"


def test_long_paragraphs_are_cut_between_sentences() -> None:
    text = "The tide gauge at the pier was read every hour by the warden. " * 60
    passages = split_passages(text, 1)
    assert all(p.text.endswith("warden.") for p in passages)
    assert all(450 <= len(p.text) <= MAX_PASSAGE_CHARS for p in passages[:-1])


def test_page_numbers_come_from_page_offsets() -> None:
    text = "First page.\n\nSecond page.\n\nStill second."
    assert [p.page for p in split_passages(text, 1, (0, 13))] == [1, 2, 2]


@given(st.text(alphabet="ab .|#-\n\té漢", max_size=3000))
def test_passage_offsets_are_exact_and_no_text_is_lost(text: str) -> None:
    passages = split_passages(text, 1)
    assert all(text[p.start : p.end] == p.text and p.text.strip() for p in passages)
    kept = sum(sum(c in "abé漢" for c in p.text) for p in passages)
    assert kept == sum(c in "abé漢" for c in text)


@given(st.integers(min_value=800, max_value=6000))
def test_text_without_spaces_is_still_cut(length: int) -> None:
    assert all(len(p.text) <= MAX_PASSAGE_CHARS for p in split_passages("x" * length, 1))


def test_a_megabyte_is_split_quickly() -> None:
    paragraphs = "The ferry left at dawn. It came back with salt and news. " * 12
    for text in ((paragraphs + "\n\n") * 1500, paragraphs * 1500, "x" * 1_000_000):
        started = time.process_time()
        split_passages(text, 1)
        assert time.process_time() - started < 0.5


@pytest.mark.parametrize(
    ("rows", "header"),
    [
        (
            "| Country | People |\n| France | 68 million |\n| Spain | 48 million |",
            "Country | People",
        ),
        ("| Country | 2019 | 2020 |\n| France | 7 | 9 |", "Country | 2019 | 2020"),
        ("| 1st | 2nd |\n|---|---|\n| Ada | Bo |", "1st | 2nd"),
        ("| First lit | 1 November 1829 |\n| Tower | 34 m |", ""),
        ("| Maker | Ada Holm |\n| Year | 1846 |\n| Place | Hesk |", ""),
        ("| Hesk | 1829 | 34 m |\n| Marrow | 1851 | 27 m |", ""),
        ("| Ann | | +329.13 |\n| Ben | | -192.77 |", ""),
    ],
)
def test_header_row_is_detected_if_present(rows: str, header: str) -> None:
    first, *others = split_passages(rows, 1)
    assert first.heading == ""
    assert {passage.heading for passage in others} == {header}
