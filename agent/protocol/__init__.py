"""The text protocol between the loop and a model: tool tags, thoughts and tool results."""

from agent.protocol.call_results import format_results
from agent.protocol.loose_json import loose_object
from agent.protocol.replies import NOT_FOUND, inert, parse

__all__ = ["NOT_FOUND", "format_results", "inert", "loose_object", "parse"]
