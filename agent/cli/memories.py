"""All of `research memory`: its commands stand by subject in modules of their own."""

from agent.cli import dreaming, exchange, sealing
from agent.cli.memory import memory

__all__ = ["dreaming", "exchange", "memory", "sealing"]
