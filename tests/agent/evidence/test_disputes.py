"""Passages that may disagree with an answer, for the judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.evidence import Evidence
from agent.evidence.disputes import rival_passages

if TYPE_CHECKING:
    from collections.abc import Callable

    from browser.types import Page


def test_addresses_in_question_do_not_hide_disagreeing_page(make_page: Callable[..., Page]) -> None:
    pages = {
        "http://127.0.0.1:8080/a": "Mount Ketil rises to 4,120 m, the highest of the Sorrel Alps.",
        "http://127.0.0.1:8080/b": "The summit of Mount Ketil stands at 4,165 m.",
    }
    evidence = Evidence("How high is Mount Ketil? " + " ".join(pages))
    for url, text in pages.items():
        evidence.add(make_page(text, url=url))
    answer = f"{next(iter(pages.values()))} [S1¶1]"
    assert [passage.id for passage in rival_passages(answer, evidence)] == ["S2¶1"]
