"""Tools as functions: each with its fields and types, and nothing that says nothing."""

from __future__ import annotations

import json

import pytest

from agent.evidence import Evidence
from agent.guard import Secrets
from agent.tools import Limits, Registry, ToolContext
from agent.tools.registry import tool_specs
from agent.tools.toolset import tools_for


@pytest.fixture
def registry():
    context = ToolContext("q", Evidence(), Limits(), lambda *_, **__: None, str, Secrets("q"))
    return Registry(tools_for(context))


def test_every_field_keeps_its_type_and_loses_its_padding(registry):
    for spec in tool_specs(registry):
        function = spec["function"]
        fields = function["parameters"]["properties"]
        tool = registry.get(function["name"])
        assert set(fields) == set(tool.params.model_fields if tool.params else ())
        for field in fields.values():
            assert {"type", "enum"} & set(field), (function["name"], field)
            assert "title" not in field
        assert "null" not in json.dumps(fields)


def test_of_two_tools_that_do_the_same_one_is_told_of_and_both_can_be_called(registry):
    told = {spec["function"]["name"] for spec in tool_specs(registry)}
    assert "READ" in told
    assert "FETCH_URL" not in told
    assert registry.get("FETCH_URL") is not None
