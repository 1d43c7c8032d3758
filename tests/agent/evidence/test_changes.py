"""What a later read of a page says in place of quoted words."""

from __future__ import annotations

import pytest

from agent.evidence.changes import compare_words, passages_in_place, supporting_quotes
from agent.types import Passage

LOOP = "The loop is 13.4 kilometres long."
SHOP = "The on-line shop receives orders until noon."


def page(*texts):
    return [Passage(f"S1¶{n}", 0, text) for n, text in enumerate(texts, 1)]


@pytest.mark.parametrize(
    ("words", "now", "state"),
    [
        (LOOP, f"Not counting the diversion, {LOOP.replace('The', 'the')}", "stands"),
        (LOOP, f"Without anybody noticing, {LOOP.replace('The', 'the')}", "contradicted"),
        (SHOP, "The online shop receives orders until noon.", "stands"),
        (SHOP, "The on-line shop recieves orders until noon.", "stands"),
        (SHOP, "The on-line shop refuses orders until noon.", "changed"),
        ("The county closed the old bridge.", "The country closed the old bridge.", "changed"),
        ("It seats 1221 people in all.", "It seats 2121 people in all.", "contradicted"),
    ],
)
def test_compare_words_tolerates_hyphens_and_typos_but_not_new_meaning(words, now, state):
    before = page(f"An opening sentence. {words} A last one.")
    after = page(f"An opening sentence. {now} A last one.")
    assert compare_words(words, words, before, after).state == state


def test_replacement_sentence_must_share_rare_words():
    gone = "The accounts are checked every year by two auditors who do not belong to the board."
    before = page(f"The board meets in May. {gone} The glass is made in Bohemia. Members vote.")
    now = "The minutes are sent out by e-mail and can be read in the members' area."
    glass = "The glass comes from a family works in the Bohemian Forest."
    after = page(f"The board meets in May. {now} {glass} Members vote.")
    assert compare_words(gone, gone, before, after).state == "gone"
    found = compare_words("It is Bohemian.", "The glass is made in Bohemia.", before, after)
    assert (found.state, found.new) == ("changed", glass)


def test_passages_in_place_returns_text_now_at_old_position():
    old = "Last entry is 45 minutes before closing time."
    new = "Nobody can be let in when we shut soon."
    rest = ["Bring a towel.", "Lockers take a coin."]
    found = passages_in_place(old, page(rest[0], old, rest[1]), page(rest[0], new, rest[1]))
    assert [passage.text for passage in found] == [new]
    assert passages_in_place(old, page(*rest), page(*rest)) == []


def test_supporting_quotes_prefers_quotes_of_the_judge():
    quotes = ["Wardens allow ten minutes after a voucher has run out.", "A book costs £15;"]
    claim = "Ten visitor vouchers cost £15."
    assert supporting_quotes(claim, quotes, ["A book costs £15;"]) == ["A book costs £15;"]
    assert len(supporting_quotes(claim, quotes)) == 1
