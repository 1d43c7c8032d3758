"""The system prompt, and the notes that the loop itself puts into a conversation."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent.depth import Depth
    from agent.tools import Registry

WRAP_UP = (
    "[Limit reached: {limit}. No further tool runs. Give your best final answer now from what is "
    "known above, with citations, and say what is missing.]"
)
"""Asked once when a bound is reached."""
GO_ON = "[Note: go on: call a tool, or write the answer.]"
"""Said after a turn that only thought."""


def system_prompt(
    tools: Registry,
    *,
    native: bool = False,
    depth: Depth = "standard",
    guides: Iterable[str] = (),
) -> str:
    """Assemble the system prompt: core, how tools are called, the tools there are.

    Offered as functions (`native`), tools are described with the functions. A depth other than
    the standard one says how far to go; `guides` are those that the run needs from its beginning.
    """
    calling = [_read("functions.md")] if native else [_read("tags.md"), _tool_list(tools)]
    further = [f"{name}.md" for name in guides] + ([f"{depth}.md"] if depth != "standard" else [])
    return "\n".join([_read("core.md"), *calling, *map(_read, further)])


def _tool_list(tools: Registry) -> str:
    lines = [f"- `{tool.usage()}` {tool.description}".rstrip() for tool in tools if tool.listed]
    return "\n".join(["## Tools", *lines, ""])


def prompt(name: str) -> str:
    """Read a prompt by its name."""
    return _read(f"{name}.md").rstrip("\n")


def _read(name: str) -> str:
    return resources.files("agent.prompts").joinpath(name).read_text(encoding="utf-8")
