"""The language that the loop and a model share: tool tags, thoughts, tool results."""

from agent.protocol.results import CallResult, format_results
from agent.protocol.text import NOT_FOUND, inert, parse

__all__ = ["NOT_FOUND", "CallResult", "format_results", "inert", "parse"]
