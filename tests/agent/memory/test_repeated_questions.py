"""Repeated real runs over the same pages: nothing accumulates.

`python -m bench.junk` does it two hundred times.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from agent.memory.layers import context_block
from agent.memory.memory_types import Hit, Origin
from agent.memory.outcomes import drop_duplicates
from agent.types import Report, ReportSource, Sentence, VerdictState
from tests.agent.memory.repeated_questions import ROTATION, rounds

if TYPE_CHECKING:
    from pathlib import Path

    from agent.memory import Memory
    from fixtures.server import Site

URL = "https://a.example/pier"
FORMS = (
    "When was Hesk Light first lit?",
    "Hesk Light was first lit when?",
    "How long is Sunnock Pier?",
)


async def test_repeating_questions_adds_no_memories(site: Site, tmp_path: Path) -> None:
    first, last = await rounds(site, tmp_path, 2 * len(FORMS), FORMS)
    assert first.counts["fact"] > 0
    assert first.counts == last.counts
    assert last.injected <= ROTATION * first.injected
    assert (first.twice, first.prompts, last.twice, last.prompts) == ([], [], [], [])


def _hit(number: int, kind: str, text: str, url: str | None = None) -> Hit:
    origin = Origin("r1", url, trusted=False)
    return Hit(number, None, text, kind, 1.0, datetime(2026, 1, 1, tzinfo=UTC), url, origin)


def test_recalled_memories_are_distinct() -> None:
    page, other = "https://a.example/pier", "https://b.example/pier"
    hits = [
        _hit(1, "outcome", "How long is the pier? → answered: The pier is 184 metres long.", None),
        _hit(2, "fact", "The pier is 184 metres long.", page),
        _hit(3, "fact", "Pier: the pier is 184 metres long.", other),
        _hit(4, "source", "The pier — good for: How long is the pier?", page),
        _hit(5, "source", "Piers — good for: How long is the pier?", "https://c.example/"),
        _hit(6, "playbook", "Playbook for: How long is the pier?\nSteps:\n1) WEB_SEARCH pier"),
        _hit(7, "playbook", "Playbook for: pier length\nSteps:\n1) WEB_SEARCH pier length"),
        _hit(8, "outcome", "Who built the pier? → answered: Ada Finch built it in 1901."),
    ]
    assert [hit.id for hit in drop_duplicates(hits)] == [2, 5, 6, 8]


def test_playbook_is_found_by_question_not_by_urls(memory: Memory) -> None:
    text = "The pier is 184 metres long. [1]"
    source = ReportSource(n=1, url=URL, title="Pier", fetched_at="2026", sha256="a", via="http")
    sentence = Sentence(text=text, citations=[1], verdict=VerdictState.SUPPORTED)
    pier = Report(
        run="r1",
        question="How long is the pier?",
        status="answered",
        answer=text,
        sentences=[sentence],
        sources=[source],
    )
    steps = ("WEB_SEARCH pier length", f"READ {URL}", "READ https://a.example/council-report")
    memory.record_run(pier, steps)
    (found,) = memory.search("pier", kinds=["playbook"])
    assert "council" not in found.text, "it did not serve"
    assert URL in found.text
    assert memory.search("good for playbook answered steps example") == []
    assert "[playbook]" in context_block(memory.layers("How long is the pier?").recalled)
