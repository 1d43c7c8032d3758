"""Tools as functions: each with its fields and types, and nothing that says nothing."""

from __future__ import annotations

import json

import pytest

from agent.evidence import Evidence
from agent.limits import LimitSettings
from agent.memory import Memory
from agent.prompts import system_prompt
from agent.tools.context import ToolContext
from agent.tools.registry import Registry, tool_specs
from agent.tools.toolset import available_tools

RAW = {"REMEMBER": ("key", "value"), "RECALL": ("key",), "SEARCH_MEMORY": ("query", "kinds")}
"""Tools that read their parameter by themselves, as the reference engine does."""


@pytest.fixture
def registry():
    context = ToolContext("q", Evidence(), LimitSettings(), lambda *_, **__: None, str)
    return Registry(tool for tool, why in available_tools(context) if not why)


@pytest.fixture
def with_memory():
    context = ToolContext("q", Evidence(), LimitSettings(), lambda *_, **__: None, str)
    context.memory = Memory.open(":memory:")
    yield Registry(tool for tool, why in available_tools(context) if not why)
    context.memory.close()


def test_every_field_keeps_its_type_and_loses_its_padding(with_memory):
    specs = [*tool_specs(with_memory), *tool_specs(with_memory, on_page=True)]
    assert {spec["function"]["name"] for spec in specs} >= {"REMEMBER", "CLICK", "READ"}
    for spec in specs:
        function = spec["function"]
        fields = function["parameters"]["properties"]
        tool = with_memory.get(function["name"])
        raw = RAW.get(tool.name, ())
        assert set(fields) == set(tool.params.model_fields if tool.params else raw)
        for field in fields.values():
            assert {"type", "enum"} & set(field), (function["name"], field)
            assert "title" not in field
        assert "null" not in json.dumps(fields)


def test_of_two_tools_that_do_the_same_one_is_told_of_and_both_can_be_called(registry):
    told = {spec["function"]["name"] for spec in tool_specs(registry)}
    assert "READ" in told
    assert "FETCH_URL" not in told
    assert registry.get("FETCH_URL") is not None


def test_tools_take_less_than_four_kilobytes_before_a_page_is_open(with_memory):
    assert len(json.dumps(tool_specs(with_memory), ensure_ascii=False).encode()) <= 4_000
    assert len("\n".join(with_memory.lines()).encode()) <= 4_000
    assert "CLICK" not in system_prompt(with_memory)
    assert "CLICK" in system_prompt(with_memory, guides=["browsing"])
