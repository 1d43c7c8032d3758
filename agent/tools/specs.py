"""The tools of a run as function specifications, for models that call natively."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent.tools.registry import Registry, Tool

_ANY_PARAM = {"type": "object", "properties": {}, "additionalProperties": True}


def tool_specs(tools: Registry) -> list[dict[str, Any]]:
    """Describe each tool by name, purpose and JSON Schema of its parameters."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": _schema(tool),
            },
        }
        for tool in tools
        if tool.listed
    ]


def _schema(tool: Tool) -> dict[str, Any]:
    return _ANY_PARAM if tool.params is None else tool.params.model_json_schema()
