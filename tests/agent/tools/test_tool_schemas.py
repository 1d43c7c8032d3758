"""Tools as functions: each with its fields and types, and no empty descriptions."""

from __future__ import annotations

import json
import pkgutil
from dataclasses import replace
from importlib import import_module

import pytest

from agent import tools
from agent.evidence import Evidence
from agent.jobs.task_tools import task_tools
from agent.limits import LimitSettings
from agent.memory import Memory
from agent.options import APPROVABLE, Options
from agent.prompts import system_prompt
from agent.prompts.skill_files import Skill
from agent.tools import toolset
from agent.tools.action_tools import ACTING_TOOLS, DOWNLOAD_TOOLS, SCRIPTING_TOOLS
from agent.tools.context import ToolContext
from agent.tools.registry import Registry, Tool, tool_specs
from agent.tools.toolset import available_tools
from agent.wiki import Wiki


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


def test_schema_fields_keep_type_without_padding(with_memory):
    every_tool = Registry(replace(tool, group=None) for tool in with_memory)
    specs = tool_specs(every_tool)
    assert {spec["function"]["name"] for spec in specs} >= {"REMEMBER", "CLICK", "READ"}
    for spec in specs:
        function = spec["function"]
        fields = function["parameters"]["properties"]
        tool = with_memory.get(function["name"])
        assert set(fields) == set(tool.params.model_fields)
        for field in fields.values():
            assert {"type", "enum"} & set(field), (function["name"], field)
            assert "title" not in field
        assert "null" not in json.dumps(fields)
        # A prompt names the same fields and types, though it builds no schema.
        from_schema = replace(tool, params=None, schema=function["parameters"])
        assert tool.signature() == from_schema.signature()
        assert tool.usage() == from_schema.usage()


def test_duplicate_tool_is_callable_but_not_offered(registry):
    told = {spec["function"]["name"] for spec in tool_specs(registry)}
    assert "READ" in told
    assert "FETCH_URL" not in told
    assert registry.get("FETCH_URL") is not None


def test_initial_prompt_describes_search_and_read_and_names_other_tools(with_memory):
    offered = json.dumps(tool_specs(with_memory), ensure_ascii=False)
    in_tags, native = system_prompt(with_memory), system_prompt(with_memory, native=True)
    assert len(in_tags) <= 1_700
    assert len(native) + len(offered) <= 2_400
    assert "REMEMBER(key, value)" in in_tags
    assert "REMEMBER(key, value)" in native
    assert "keeps a fact" not in in_tags + native + offered
    assert "CLICK" not in in_tags
    assert "`CLICK(ref" in system_prompt(with_memory, guides=["browsing"])


def test_every_tool_is_discoverable_in_prompt(with_memory):
    listed = {tool.name for tool in with_memory if tool.listed}
    lines = with_memory.lines()
    for group in with_memory.groups().values():
        lines += group["lines"]
    assert {name for name in listed if name not in "\n".join(lines)} == set()


def test_each_page_action_has_approval_wording():
    acting = [tool for tool in (*ACTING_TOOLS, *DOWNLOAD_TOOLS) if tool.acts]
    assert {tool.approval for tool in acting} <= set(APPROVABLE)
    assert [tool.name for tool in acting if not tool.verb] == []


def test_every_tool_is_offered_to_runs_and_declares_its_activity(tmp_path):
    context = ToolContext("", Evidence())
    context.wiki, context.skills = Wiki(tmp_path), [Skill("s", "", tmp_path, "user")]
    offered = [tool for tool, _ in available_tools(context)]
    tasks = task_tools(Options(), None)
    assert [tool.name for tool in (*offered, *SCRIPTING_TOOLS, *tasks) if not tool.activity] == []
    names = {tool.name for tool in (*offered, *SCRIPTING_TOOLS)}
    assert names == toolset.BUILT_IN, "the words of a tool not listed there would count as foreign"
    for info in pkgutil.iter_modules(tools.__path__, "agent.tools."):
        own = vars(import_module(info.name)).values()
        defined = {value.name for value in own if isinstance(value, Tool)}
        families = [family for family in own if isinstance(family, tuple) and family]
        defined |= {tool.name for family in families for tool in family if isinstance(tool, Tool)}
        assert defined <= names, f"available_tools does not offer a tool of {info.name}"
