"""A Python program's functions as tools: described by signatures, called with checked values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Annotated, Literal

import pytest
from pydantic import Field

from agent.errors import UsageError
from agent.tools.registry import tools_from_functions


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


@pytest.mark.parametrize("function", [print, lambda a, b, /: a, lambda a, *more: a])
def test_undescribable_function_is_refused_by_name(function):
    with pytest.raises(UsageError, match="the tool ODD cannot be described"):
        tools_from_functions({"ODD": function})
