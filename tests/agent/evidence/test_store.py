from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from agent.errors import ToolError
from agent.evidence import Evidence
from browser.types import SearchResult

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from browser.types import Page

TEXT = """# Grey Holm

The tower was designed by Ada Renwick.

It is 31 metres high and painted white.

# Ferries

The ferry to Tern Point leaves from Pier 4 at noon."""


def test_sources_are_numbered_in_order_added(make_page: Callable[..., Page]) -> None:
    evidence = Evidence()
    first = evidence.add(make_page(TEXT))
    second = evidence.add(make_page(TEXT, url="https://other.test/"))
    assert (first.n, second.n) == (1, 2)
    assert first.sha256 == hashlib.sha256(first.text.encode()).hexdigest()


def test_same_url_and_text_is_the_same_source(make_page: Callable[..., Page]) -> None:
    evidence = Evidence()
    first = evidence.add(make_page(TEXT))
    assert evidence.add(make_page(TEXT, url="https://harbour.test/page#top")) is first


def test_changed_text_at_the_same_url_is_a_new_source(make_page: Callable[..., Page]) -> None:
    evidence = Evidence()
    first = evidence.add(make_page(TEXT))
    second = evidence.add(make_page(TEXT + "\n\nTickets cost 4 crowns."))
    assert second.n != first.n
    assert evidence.source(1) is first
    assert evidence.by_url("https://harbour.test/page") is second


def test_a_page_without_text_is_refused(make_page: Callable[..., Page]) -> None:
    with pytest.raises(ToolError, match="no readable text"):
        Evidence().add(make_page("  \n"))


def test_snippet_sources_are_marked(read_at: datetime) -> None:
    result = SearchResult("https://x.test/", "Tern Point", "A light on the coast.")
    source = Evidence().add_snippet(result, read_at)
    assert source.via == "snippet"
    assert {p.kind for p in source.passages} == {"snippet"}


def test_passages_and_neighbours_are_found_by_id(make_page: Callable[..., Page]) -> None:
    evidence = Evidence()
    evidence.add(make_page(TEXT))
    assert evidence.passage("S1¶2").text.startswith("The tower")
    assert [p.id for p in evidence.neighbours("S1¶2")] == ["S1¶1", "S1¶3"]
    assert evidence.passage("S1¶99") is None
    assert evidence.neighbours("S7¶1") == ()


def test_search_matches_heading_words(make_page: Callable[..., Page]) -> None:
    evidence = Evidence()
    evidence.add(make_page(TEXT))
    assert evidence.search("height of Grey Holm in metres", 1)[0].id == "S1¶3"
    assert evidence.search("who designed the tower", 1)[0].id == "S1¶2"
    assert evidence.search("submarine", 3) == []


def test_search_shows_a_repeated_passage_once(make_page: Callable[..., Page]) -> None:
    evidence = Evidence()
    evidence.add(make_page(TEXT))
    evidence.add(make_page(TEXT + "\n\nMore."))
    found = evidence.search("ferry pier", 8)
    assert len(found) == len({p.text for p in found})
    assert {p.source for p in evidence.search("ferry", 8, source=2)} == {2}


def test_control_characters_are_removed_and_page_offsets_adjusted(
    make_page: Callable[..., Page],
) -> None:
    source = Evidence().add(make_page("One\u202e page.\n\nTwo pages.", pages=(0, 12)))
    assert source.text == "One page.\n\nTwo pages."
    assert [p.page for p in source.passages] == [1, 2]
