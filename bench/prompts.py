"""Measures prompt lengths: the system prompt for each kind of run, and what is added on demand.

    python -m bench.prompts

Tokens are estimated as for the context window: four characters of English per token.
"""

from __future__ import annotations

import json
import sys

from agent.evidence import Evidence
from agent.guard.window import tokens
from agent.limits import LimitSettings
from agent.memory import Memory
from agent.prompts import BROWSING, CITING, GUIDES, prompt, system_prompt
from agent.tools.context import ToolContext
from agent.tools.registry import Registry, tool_specs
from agent.tools.toolset import available_tools

LONGEST = 1_200
"""Maximum tokens of a system prompt, which every request repeats; longest with an open page."""
TARGETS_MISSED = 8


def main() -> int:
    """Print the sizes; return 8 if a system prompt is too long."""
    with Memory.open(":memory:") as memory:
        bare, full = tools(None), tools(memory)
        sizes = {
            "without memory": tokens(system_prompt(bare)),
            "with memory": tokens(system_prompt(full)),
            "a page before it": tokens(system_prompt(full, guides=[BROWSING, CITING])),
            "deep": tokens(system_prompt(full, depth="deep")),
            "functions": tokens(system_prompt(full, native=True)),
        }
        offered = tokens(json.dumps(tool_specs(full)))
    for name, size in sizes.items():
        more = f" and {offered:,} of functions" if name == "functions" else ""
        print(f"{name:18} {size:6,} tokens{more}")
    groups = {name: "\n".join(group["lines"]) for name, group in full.groups().items()}
    for name, text in {**{name: prompt(name) for name in GUIDES}, **groups}.items():
        print(f"+ {name:16} {tokens(text):6,} tokens, once, when first used")
    return 0 if max(sizes.values()) <= LONGEST else TARGETS_MISSED


def tools(memory: Memory | None) -> Registry:
    """Return the tools in a run."""
    context = ToolContext("", Evidence(), LimitSettings(), lambda *_, **__: None, str)
    context.memory = memory
    return Registry(tool for tool, why in available_tools(context) if not why)


if __name__ == "__main__":
    sys.exit(main())
