"""The language that the loop and a model share: tool tags, thoughts, tool results."""

from agent.protocol.replies import NOT_FOUND, inert, parse
from agent.protocol.results import CallResult, format_results

__all__ = ["NOT_FOUND", "CallResult", "format_results", "inert", "parse"]
