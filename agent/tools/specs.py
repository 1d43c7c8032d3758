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
    if tool.params is None:
        return _ANY_PARAM
    schema = _slim(tool.params.model_json_schema())
    schema.pop("description", None)  # of the class; the tool has one of its own
    return schema


def _slim(schema: dict[str, Any]) -> dict[str, Any]:
    """Leave out what tells a model nothing: titles, and that what may be left out may be null."""
    choices = [choice for choice in schema.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1:
        rest = {key: value for key, value in schema.items() if key != "anyOf"}
        return _slim({**choices[0], **rest})
    kept = {key: value for key, value in schema.items() if key != "title"}
    if kept.get("default", "") is None:
        del kept["default"]
    if "properties" in kept:
        kept["properties"] = {name: _slim(of) for name, of in kept["properties"].items()}
    return kept
