"""Addresses and references in an answer that appear in nothing that was read."""

from __future__ import annotations

import pytest

from agent.loop.unseen import remove_unseen_addresses

SENTENCE = "It was lit in 1871. [S1¶2]"
SEEN = "<web> https://hesk.example/light says so."


@pytest.mark.parametrize(
    "invented",
    [
        "\n\n## References\n1. Smith (2019). Lights. https://made-up.example/a\n2. Ow (2020).",
        "\n\nSources:\n- [Hesk](https://made-up.example/hesk)",
        "\n\n**Quellen:**\n* https://made-up.example/x",
        '\n\n[^1]: https://made-up.example/hesk "Hesk"',
    ],
)
def test_invented_reference_list_is_removed_with_its_heading(invented):
    text, gone = remove_unseen_addresses(SENTENCE + invented, SEEN)
    assert text == SENTENCE
    assert all("made-up.example" in address for address in gone)
    assert gone


def test_unseen_url_in_sentence_is_removed_without_sentence():
    text, gone = remove_unseen_addresses(
        "See [the light](https://made-up.example/x) of 1871. [S1¶2]", SEEN
    )
    assert (text, gone) == ("See the light of 1871. [S1¶2]", ["https://made-up.example/x"])
    text, _ = remove_unseen_addresses("It stands (https://made-up.example/x). [S1¶2]", SEEN)
    assert text == "It stands. [S1¶2]"


def test_references_to_read_sources_are_kept():
    listed = f"{SENTENCE}\n\nSources:\n- https://hesk.example/light\n- The keeper's log. [S1¶3]"
    assert remove_unseen_addresses(listed, SEEN) == (listed, [])
    mixed = f"{listed}\n- https://made-up.example/x"
    assert remove_unseen_addresses(mixed, SEEN)[0] == listed
