"""All of `research memory`: the sealed log adds its commands from a module of its own."""

from agent.cli import sealing
from agent.cli.memory import memory

__all__ = ["memory", "sealing"]
