"""Tools as functions: what a model needs to call them, and no more."""

from __future__ import annotations

from pydantic import Field

from agent.tools import Registry
from agent.tools.registry import Params, Tool
from agent.tools.specs import tool_specs


class Given(Params):
    """Words about the class."""

    title: str = Field(description="Its name.")
    site: str | None = None
    limit: int = Field(10, ge=1)


def test_a_schema_says_names_types_and_bounds_and_leaves_the_rest_out():
    tool = Tool("FIND", "Finds.", Given, None)
    [spec] = tool_specs(Registry([tool]))
    assert spec["function"]["parameters"] == {
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "Its name."},
            "site": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1, "default": 10},
        },
        "required": ["title"],
    }


def test_a_function_of_the_caller_takes_anything():
    async def weigh(param: str) -> str:
        """Weigh it."""
        return param

    [spec] = tool_specs(Registry().with_functions({"weigh": weigh}))
    assert spec["function"]["parameters"]["additionalProperties"]
