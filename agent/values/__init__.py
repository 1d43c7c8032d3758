"""Typed values beside the answer: data of a person's own JSON Schema, each value cited."""

from agent.values.schema import Schema

__all__ = ["VALUES", "Schema"]

VALUES = "values"
"""Place of the calls that ask for them, and name of the prompt."""
