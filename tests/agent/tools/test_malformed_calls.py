"""Slightly malformed calls: accepted anyway, or requested once more."""

from __future__ import annotations

import json

import pytest
from pydantic import Field

from agent.errors import ToolError
from agent.tools.registry import AS_WRITTEN, LENIENT, PICKED, Params, Tool, ToolResult


class Search(Params):
    query: str
    site: str | None = None
    limit: int = Field(10, ge=1)


async def search(_context, given):
    return ToolResult({})


TOOL = Tool("SEARCH", "Search.", Search, search)


@pytest.mark.parametrize(
    ("param", "tier", "fields"),
    [
        ('{"query": "old lamps", "limit": 3}', AS_WRITTEN, {"query": "old lamps", "limit": 3}),
        ("old lamps", AS_WRITTEN, {"query": "old lamps"}),
        ('"old lamps"', AS_WRITTEN, {"query": "old lamps"}),
        ('{"query": "two\nlines"}', AS_WRITTEN, {"query": "two\nlines"}),
        ('{"query": "old lamps",}', LENIENT, {"query": "old lamps"}),
        ("{query: 'old lamps', limit: 3}", LENIENT, {"query": "old lamps", "limit": 3}),
        ('{"query": "old lamps"', LENIENT, {"query": "old lamps"}),
        ("{'query': 'lamps', 'site': None}", LENIENT, {"query": "lamps", "site": None}),
        ("{“query”: “old lamps”}", LENIENT, {"query": "old lamps"}),
        ('```json\n{"query": "old lamps"}\n```', LENIENT, {"query": "old lamps"}),
        ('{"q": "old lamps"}', PICKED, {"query": "old lamps"}),
        ('{"search_term": "lamps", "limit": 3}', PICKED, {"query": "lamps", "limit": 3}),
        ("query: old lamps", PICKED, {"query": "old lamps"}),
        ('query="old lamps", limit=3', PICKED, {"query": "old lamps", "limit": 3}),
        ("<query>old lamps</query>", PICKED, {"query": "old lamps"}),
        ("lamps: which query to ask?", AS_WRITTEN, {"query": "lamps: which query to ask?"}),
        ("site of the old lamps", AS_WRITTEN, {"query": "site of the old lamps"}),
    ],
)
def test_malformed_parameter_is_repaired(param, tier, fields):
    reading = TOOL.parse(param)
    got = reading.arguments.model_dump(exclude_unset=True)
    assert ({key: got[key] for key in fields}, reading.tier) == (fields, tier)


@pytest.mark.parametrize("param", ['{"limit": 3}', "{}", "", '{"query": "x", "limit": 0}'])
def test_missing_required_value_is_refused_with_usage(param):
    with pytest.raises(ToolError) as caught:
        TOOL.parse(param)
    assert "<<TOOL:SEARCH:" in caught.value.hint


BROKEN = '<<TOOL:WEB_SEARCH:{"site": "example.org"}>>'


@pytest.fixture
def script(tmp_path):
    def write(*lines):
        path = tmp_path / "script.jsonl"
        path.write_text("\n".join(json.dumps(line) for line in lines) + "\n")
        return f"scripted:{path}"

    return write


def of_type(events, kind):
    return [event.data for event in events if event.type == kind]


async def test_unreadable_call_returns_usage_hint(ask, script, events):
    report = await ask(model=script(BROKEN, "NOT_FOUND"))
    [result] = of_type(events(report), "tool.result")
    assert "error" in result["data"]
    assert "<<TOOL:WEB_SEARCH:" in result["hint"]


async def test_call_repaired_by_code_needs_no_model_request(ask, script, events):
    report = await ask(model=script("<<TOOL:WEB_SEARCH:{query: 'Hesk Light',}>>", "NOT_FOUND"))
    [mended] = of_type(events(report), "call.repaired")
    assert (mended["tier"], mended["into"]) == ("lenient", {"query": "Hesk Light"})
    assert report.usage.model_calls == 2
