"""What the model can do: one family of tools a file, all called through the policy."""

from agent.tools.context import Limits, ToolContext, Web
from agent.tools.policy import Policy
from agent.tools.registry import Params, Registry, Risk, Tool, ToolResult

__all__ = [
    "Limits",
    "Params",
    "Policy",
    "Registry",
    "Risk",
    "Tool",
    "ToolContext",
    "ToolResult",
    "Web",
]
