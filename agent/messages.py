"""The system prompt, and the notes that the loop itself puts into a conversation."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.tools import Registry

WRAP_UP = (
    "[Limit reached: {limit}. No further tool runs. Give your best final answer now from what is "
    "known above, with citations, and say what is missing.]"
)
"""Asked once when a bound is reached."""
GO_ON = "[Note: go on: call a tool, or write the answer.]"
"""Said after a turn that only thought."""


def system_prompt(tools: Registry, *, browsing: bool = True) -> str:
    """Assemble the system prompt: core, the tools there are, and helpers for what they can do."""
    parts = [_read("core.md"), _tool_list(tools)]
    if browsing:
        parts.append(_read("browsing.md"))
    return "\n".join(parts)


def _tool_list(tools: Registry) -> str:
    lines = [f"- `{tool.usage()}` {tool.description}".rstrip() for tool in tools]
    return "\n".join(["## Tools", *lines, ""])


def prompt(name: str) -> str:
    """Read a prompt by its name."""
    return _read(f"{name}.md").rstrip("\n")


def _read(name: str) -> str:
    return resources.files("agent.prompts").joinpath(name).read_text(encoding="utf-8")
