"""A run together with memory: what it leaves, and what the next one is given."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from agent.evidence.store import Evidence
from agent.journal.events import Event
from agent.memory import Hit, Layers, Memory, Origin, ReservedKey, Turn
from agent.run.outcome import MAX_PLAYBOOK_STEPS, ReportBuilder
from agent.tools.context import ToolContext
from agent.tools.policy import result_event_data
from agent.tools.toolset import available_tools
from agent.types import Observation, ToolCall

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from agent.types import Report

QUESTION = "How old is Hesk Light?"
_WITHOUT = """
import asyncio, sys, agent.cli.ask
from agent import research
report = asyncio.run(research("q", model=sys.argv[1], data_dir=sys.argv[2], memory=False))
assert report.status == "not_found", report
unused = {
    "sqlalchemy", "playwright", "ruamel", "pydantic_monty", "trafilatura", "statistics",
    "agent.models.local", "agent.models.router", "agent.run.preview", "agent.run.resume",
    "agent.wiki", "browser.extract.documents.mail", "browser.extract.documents.packed",
    "browser.extract.text_formats", "browser.read.crawl",
}
assert not unused & sys.modules.keys(), unused & sys.modules.keys()
"""


def _result(name: str, param: str, **data: Any) -> Event:
    call = ToolCall(name, param)
    tools = {tool.name: tool for tool, _ in available_tools(ToolContext("", Evidence()))}
    result = Observation(call, data, **tools[name].describe(call))
    return Event(1, "", "tool.result", "0/1/1", result_event_data(result))


async def test_run_stores_facts_and_steps_for_the_next_run(
    ask: Any, script: Callable[..., str], site: Any, tmp_path: Path, events: Any
) -> None:
    said = "Hesk Light is the oldest of the five lighthouses of the isles. [S1]"
    answering = script(f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>', said)
    report = await ask(QUESTION, model=answering, memory=True)
    assert report.status == "answered"
    with Memory.open(tmp_path / "data" / "memory.db") as memory:
        kinds = {hit.kind: hit for hit in memory.newest()}
        assert {"fact", "outcome", "source"} <= kinds.keys()
        assert kinds["fact"].origin.run == report.run
    again = await ask(QUESTION, model=answering, memory=True)
    (request, *_) = [event for event in events(again) if event.type == "model.request"]
    assert "[fact]" in request.data["messages"][-1]["content"]


class ListEngine:
    """Another engine: it knows one thing, stores turns and runs in lists, and has no jobs."""

    def __init__(self) -> None:
        self.said: list[Turn] = []
        self.runs: list[Report] = []
        self.closed = False
        self._housekeeping = Memory.open(":memory:")

    def layers(self, question: str, session: str | None = None) -> Layers:
        return Layers(recalled=(Hit(1, None, "The keeper knows the year", "note", 1.0),))

    def search(self, query: str, limit: int = 10, kinds: Any = None) -> list[Hit]:
        return list(self.layers(query).recalled)

    def similarities(self, question: str, texts: Sequence[str]) -> dict[str, float]:
        return {}

    def remember(self, key: str, value: Any, *, origin: Origin | None = None) -> int:
        raise ReservedKey("this shelf is full")

    def conversation(self, name: str) -> ListEngine:
        return self

    def append(self, *new: Turn) -> None:
        self.said += new

    def turns(self, limit: int | None = None) -> list[Turn]:
        return self.said

    def __getattr__(self, name: str) -> Any:
        """Leave the profile, skills and other conversation layers to the usual engine."""
        usual = self._housekeeping
        return (
            getattr(usual, name) if hasattr(usual, name) else getattr(usual.conversation("s"), name)
        )

    def record_run(
        self, report: Report, steps: Sequence[str] = (), used: Sequence[int] = ()
    ) -> list[int]:
        self.runs.append(report)
        return []

    def close(self) -> None:
        self.closed = True
        self._housekeeping.close()


async def test_run_accepts_any_engine_with_memory_methods(
    ask: Any, answering: str, events: Any
) -> None:
    shelf = ListEngine()
    report = await ask(QUESTION, model=answering, memory=shelf)
    (request, *_) = [event for event in events(report) if event.type == "model.request"]
    assert "The keeper knows the year" in request.data["messages"][-1]["content"]
    assert [turn.role for turn in shelf.said] == ["user", "assistant"]
    assert [run.run for run in shelf.runs] == [report.run]
    assert not shelf.closed, "whoever opened it closes it"
    shelf.close()


def test_run_imports_no_unused_library(script: Callable[..., str], tmp_path: Path) -> None:
    command = [sys.executable, "-c", _WITHOUT, script("NOT_FOUND nothing"), str(tmp_path / "d")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


def _playbook(results: Sequence[Event]) -> tuple[str, ...]:
    builder = ReportBuilder(QUESTION)
    for event in results:
        builder.add(event)
    return builder.playbook


def test_playbook_lists_queries_once_and_no_typed_text() -> None:
    results = [
        _result("WEB_SEARCH", '{"query":"tower  clock"}'),
        _result("WEB_SEARCH", "tower clock"),
        _result("READ", '{"url":"https://a.example/"}', error="404"),
        _result("TYPE", '{"ref":"e1","text":"hunter2"}'),
        _result("READ", "{broken"),
    ]
    assert _playbook(results) == ("WEB_SEARCH tower clock",)


def test_playbook_of_long_run_is_bounded() -> None:
    urls = [f"https://a.example/{number}" + "x" * 999 for number in range(40)]
    steps = _playbook([_result("READ", json.dumps({"url": url})) for url in urls])
    assert len(steps) == MAX_PLAYBOOK_STEPS
    assert max(map(len, steps)) <= 205
