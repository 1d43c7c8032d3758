"""Typed values beside the answer: data of a person's own JSON Schema, each value cited."""

from agent.values.schema import Schema

__all__ = ["Schema"]
