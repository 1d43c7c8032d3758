"""Sentence ends are found where they are, and nowhere else."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browser.text.sentences import sentences, unwrap


def sentence_texts(text: str) -> list[str]:
    return [text[span.start : span.end] for span in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One ends. Two begins.", ["One ends.", "Two begins."]),
        ("Is it? Yes! Good.", ["Is it?", "Yes!", "Good."]),
        ("**It is lit.** It is green.", ["**It is lit.**", "It is green."]),
        ("_It is lit._ [S1]\nIt is green.", ["_It is lit._", "[S1]\nIt is green."]),
        ("Six voted no. Hanna left.", ["Six voted no.", "Hanna left."]),
        ("It is no. 7. She knew.", ["It is no. 7.", "She knew."]),
        ("Dr. Vane left. He came back.", ["Dr. Vane left.", "He came back."]),
        ("J. R. Holm sang. She danced.", ["J. R. Holm sang.", "She danced."]),
        ("It cost 3.50 crowns. Nobody paid.", ["It cost 3.50 crowns.", "Nobody paid."]),
        ('"We stay." They left.', ['"We stay."', "They left."]),
        ("पुल खुला। वह लंबा है।", ["पुल खुला।", "वह लंबा है।"]),
        ("متى فُتح؟ فُتح أمس. هو طويل.", ["متى فُتح؟", "فُتح أمس.", "هو طويل."]),
        ("یہ پل ہے۔ وہ لمبا ہے۔", ["یہ پل ہے۔", "وہ لمبا ہے۔"]),
        ("Ropes, nets etc. The rest sank.", ["Ropes, nets etc.", "The rest sank."]),
        ("Ropes, nets etc. Harbour dues apply.", ["Ropes, nets etc. Harbour dues apply."]),
        ("She moved to the U.S. In May she wrote.", ["She moved to the U.S.", "In May she wrote."]),
        ("The U.S. Navy came. All waved.", ["The U.S. Navy came.", "All waved."]),
        ("Ada Orr (b. 1960) paints. She sells.", ["Ada Orr (b. 1960) paints.", "She sells."]),
        ("Highs reach 46.5 °C. January is mild.", ["Highs reach 46.5 °C.", "January is mild."]),
        ("It has vitamin C. It is sour.", ["It has vitamin C.", "It is sour."]),
        ("It runs on 3 V. The rest is lost.", ["It runs on 3 V.", "The rest is lost."]),
        ("K. He and W. Orr agree. So do we.", ["K. He and W. Orr agree.", "So do we."]),
        ("It stands.[4] It fell.", ["It stands.[4]", "It fell."]),
        ("島は遠い。船は来ない。", ["島は遠い。", "船は来ない。"]),
        ("A heading\n\nA paragraph.", ["A heading", "A paragraph."]),
        ("a line\nbroken once. Next.", ["a line\nbroken once.", "Next."]),
        ("", []),
        ("   \n ", []),
    ],
)
def test_text_is_split_at_sentence_ends(text: str, expected: list[str]) -> None:
    assert sentence_texts(text) == expected


@given(st.text(alphabet="aB. !?\n\"'([])1é。", max_size=80))
def test_only_white_space_is_lost(text: str) -> None:
    spans = sentences(text)
    covered = {i for span in spans for i in range(span.start, span.end)}
    assert all(text[i].isspace() for i in range(len(text)) if i not in covered)


@given(st.text(max_size=80))
def test_spans_are_ordered_trimmed_and_disjoint(text: str) -> None:
    spans = sentences(text)
    assert all(a.end <= b.start for a, b in pairwise(spans))
    assert all(text[s.start : s.end] == text[s.start : s.end].strip() != "" for s in spans)


def test_unwrap_joins_hard_wrapped_lines() -> None:
    lines = [
        "\tSupport for setting user limits on image width and height was enabled",
        "\tby default.  The functions set_user_limits(), get_user_width_max(), and",
        "\tget_user_height_max() were added.",
    ]
    [joined] = unwrap(lines)
    assert "was enabled by default." in joined


def test_unwrap_joins_continuation_lines_of_list_items() -> None:
    lines = [
        ' * A new "--include-whitespace" option is added to "git patch-id", and',
        "   existing bugs in the internal patch-id logic that did not match",
        " * Another item.",
    ]
    assert len(unwrap(lines, frozenset("*"))) == 2


def test_unwrap_keeps_intentional_line_breaks() -> None:
    long = "a line that says in many words what is to be done with all of these fruits"
    lines = ["apples from the valley", "pears", long]
    assert unwrap(lines) == lines
