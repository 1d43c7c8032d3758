"""A Python program's functions as tools: described by signatures, called with checked values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Annotated, Literal

import pytest
from pydantic import Field

from agent.errors import UsageError
from agent.tools.registry import tools_from_functions
from agent.tools.toolset import plugin_tools


@dataclass
class Tide:
    """What a tide table says."""

    port: str
    at: date
    metres: float


def tides(port: str, days: Annotated[int, Field(le=7)] = 1, unit: Literal["m", "ft"] = "m"):
    """List the high tides of a port.

    `days` counts from today.
    """
    return [Tide(port, date(2026, 11, 28 + n), 2.5) for n in range(days)]


def test_signature_and_docstring_describe_a_function():
    [tool] = tools_from_functions({"TIDES": tides})
    assert tool.description == "List the high tides of a port. `days` counts from today."
    assert tool.usage() == '<<TOOL:TIDES:{"port":text,"days"?:number,"unit"?:m|ft}>>'
    assert tool.parameters["properties"]["days"]["maximum"] == 7


async def test_plain_function_result_is_cited(ask, script):
    model = script('<<TOOL:TIDES:{"port":"Hesk","days":2}>>', "Hesk is at 2.5 metres. [S1]")
    report = await ask("How high is the tide?", model=model, tools={"TIDES": tides})
    assert "Hesk" in report.sources[0].quotes[0]


async def test_citation_of_missing_passage_of_result_keeps_answer(ask, script):
    words = "The tide at Hesk is 2.5 metres high. [S1¶1]"
    model = script('<<TOOL:TIDES:{"port":"Hesk"}>>', words)
    report = await ask("How high is the tide?", model=model, tools={"TIDES": tides})
    assert report.status == "answered"
    assert report.answer == "The tide at Hesk is 2.5 metres high. [1]"


async def test_citation_of_source_that_was_never_shown_is_not_an_answer(ask, script):
    model = script('<<TOOL:TIDES:{"port":"Hesk"}>>', "It is 2.5 metres high. [S7¶1]")
    report = await ask("How high is the tide?", model=model, tools={"TIDES": tides})
    assert report.status == "not_found"


async def test_invalid_arguments_are_refused_with_validation_error(ask, script, events):
    model = script('<<TOOL:TIDES:{"port":"Hesk","days":30}>>', "NOT_FOUND")
    report = await ask("How high is the tide?", model=model, tools={"TIDES": tides})
    results = [e.data["data"] for e in events(report) if e.type == "tool.result"]
    assert "days: Input should be less than or equal to 7" in results[0]["error"]


async def test_methods_and_callable_objects_are_tools(ask, script, events):
    class Ports:
        def names(self) -> tuple[str, ...]:
            return ("Hesk", "Sunnock")

        async def __call__(self, port: str) -> dict[str, str]:
            return {"mayor": f"the mayor of {port}"}

    tools = {"NAMES": Ports().names, "MAYOR": Ports()}
    model = script("<<TOOL:NAMES>><<TOOL:MAYOR:Hesk>>", "NOT_FOUND")
    report = await ask("Who is the mayor?", model=model, tools=tools)
    results = [e.data["data"] for e in events(report) if e.type == "tool.result"]
    assert results == [["Hesk", "Sunnock"], {"mayor": "the mayor of Hesk"}]


@pytest.mark.parametrize(
    "function",
    [print, lambda a, b, /: a, lambda a, *more: a, lambda *a: a, lambda **a: a],
)
def test_undescribable_function_is_refused_by_name(function):
    with pytest.raises(UsageError, match="the tool ODD cannot be described"):
        tools_from_functions({"ODD": function})


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        ({"READ": tides}, "READ is the name of a built-in tool"),
        ({"web-search": tides}, "web-search is the name of a built-in tool"),
        ({"TIDES": "tides now"}, "the tool TIDES is not a function: 'tides now'"),
    ],
)
async def test_unusable_tool_is_refused_before_the_run(ask, script, tools, message):
    with pytest.raises(UsageError, match=message) as refused:
        await ask("How high is the tide?", model=script("NOT_FOUND"), tools=tools)
    assert refused.value.hint


def test_plugin_tool_with_a_built_in_name_is_refused(tmp_path, monkeypatch):
    info = tmp_path / "shadow-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: shadow\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[urchin.tools]\nshadow = shadow_tools:READ\n")
    (tmp_path / "shadow_tools.py").write_text(
        "from agent.tools.registry import tools_from_functions\n"
        "[READ] = tools_from_functions({'READ': lambda url: url})\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match="READ is the name of a built-in tool"):
        list(plugin_tools(["shadow"]))
