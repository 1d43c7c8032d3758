"""Memory views by kind, what consolidation draws on, and how often a memory was given and used."""

from __future__ import annotations

import json

import pytest

from agent.memory import Memory
from agent.memory.consolidation import consolidate
from agent.memory.outcomes import uses
from agent.types import Report, ReportSource, Sentence, VerdictState


@pytest.fixture
def kept(tmp_path):
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.add("The ferry to Marram failed: the page was gone", kind="error")
        memory.add("The ferry to Marram sails at nine", kind="fact", source="https://a.example/")
        memory.add("A way to the ferry of Marram: ask the harbour", kind="playbook")
        yield memory


def tool_result_data(events, report):
    return [e.data["data"] for e in events(report) if e.type == "tool.result"]


async def test_search_tool_filters_by_kind_or_knowledge_base(ask, script, kept, events):
    model = script(
        *(
            f"<<TOOL:SEARCH_MEMORY:{json.dumps({'query': 'ferry Marram', 'kinds': kinds})}>>"
            for kinds in (["error"], ["mind"], ["nope"])
        ),
        "NOT_FOUND",
    )
    report = await ask("When does it sail?", model=model, memory=kept)
    errors, mind, unknown = tool_result_data(events, report)
    assert [match["kind"] for match in errors["matches"]] == ["error"]
    assert {match["kind"] for match in mind["matches"]} == {"error", "playbook"}
    assert "no memories of kind nope" in unknown["error"]


def test_consolidation_draws_on_notes_and_errors(tmp_path):
    with Memory.open(":memory:") as memory:
        for word in ("first", "second", "third"):
            memory.add(f"Brackwater chandlery ledger {word}", kind="note")
        memory.add("Brackwater chandlery ledger lost", kind="observation")
        consolidate(memory.entries)
        assert [row.key.partition(":")[0] for row in memory.entries.all("insight")] == ["summary"]
        for word in ("gone", "torn"):
            memory.add(f"Kittiwake yawl rigging {word}", kind="error")
        consolidate(memory.entries)
        drawn = {row.key.partition(":")[0] for row in memory.entries.all("insight")}
        assert drawn == {"summary", "correction"}


def test_usage_counts_given_and_cited_memories():
    source = ReportSource(
        n=1, url="https://a.example/", title="a", fetched_at="", sha256="", via="http", quotes=[]
    )
    said = Sentence(text="It sails at ten. [1]", citations=[1], verdict=VerdictState.SUPPORTED)
    with Memory.open(":memory:") as memory:
        report = Report(
            run="r1", question="When?", status="answered", answer="It sails at ten. [1]",
            sentences=[said], sources=[source],
        )  # fmt: skip
        memory.record_run(report)
        [fact] = memory.search("sails ten", kinds=["fact"])
        note = memory.add("The ferry is blue", kind="note")
        memory.record_run(report.model_copy(update={"run": "r2"}), (), [fact.id, note])
        memory.record_run(
            report.model_copy(update={"run": "r3", "status": "failed", "sources": []}),
            (),
            [fact.id],
        )
        assert (
            uses(memory.entries, fact.id),
            uses(memory.entries, note),
            uses(memory.entries, 99),
        ) == (
            (2, 1),
            (1, 0),
            (0, 0),
        )


async def test_run_records_which_memories_it_was_given(ask, script, kept, events):
    report = await ask(
        "When does the ferry to Marram sail?", model=script("NOT_FOUND"), memory=kept
    )
    [given] = [e.data["memories"] for e in events(report) if e.type == "memory.given"]
    assert {"fact", "error"} <= {row["kind"] for row in given}
    assert all(row["score"] > 0 for row in given)
    assert uses(kept.entries, next(row["id"] for row in given))[0] == 1
