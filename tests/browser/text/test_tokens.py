"""Words in any script, their stems, and what is left without stop words."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browser.text.words import content_words, count_words, stem, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Keeper's Log", ["the", "keeper", "log"]),
        ("O’Brien sailed", ["obrien", "sailed"]),
        ("Pérez and Åse Øst", ["perez", "and", "ase", "øst"]),
        ("deep-level tunnel_7", ["deep", "level", "tunnel", "7"]),
        ("灯台 1829", ["灯", "台", "1829"]),
        ("ﬁnal ＡＢＣ", ["final", "abc"]),
        ("가나다", ["가나다"]),
        ("… — !", []),
    ],
)
def test_words_are_folded_and_split(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_composed_and_decomposed_accents_are_equal() -> None:
    assert words("caf\u00e9") == words("cafe\u0301") == ["cafe"]


def test_non_latin_diacritics_are_kept() -> None:
    assert words("が") != words("か")


def test_word_forms_share_a_stem() -> None:
    assert stem("lighthouses") == stem("lighthouse")
    assert stem("1829") == "1829"


def test_content_words_drop_stop_words_and_keep_order() -> None:
    assert content_words("Who was the keeper of the light?") == ["keeper", "light"]


@given(st.text(max_size=60))
def test_words_contain_no_white_space_or_capitals(text: str) -> None:
    assert all(w and not any(c.isspace() for c in w) and w == w.casefold() for w in words(text))


def test_words_are_counted_in_scripts_without_spaces() -> None:
    assert count_words("two words") == 2
    assert count_words("zwei Wörter") == 2
    assert count_words("港口的航道很深") == 4


def test_stem_is_thread_safe() -> None:
    said = [f"{root}{end}" for root in ("search", "relat", "organ") for end in ("ing", "ions", "s")]
    said += [f"{word}{n}" for n in range(300) for word in said]
    alone = [stem(word) for word in said]
    stem.cache_clear()
    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(lambda _: [stem(word) for word in said], range(4)))
    finally:
        sys.setswitchinterval(switching)
    assert together == [alone] * 4
