"""What is known from before: conversations, what was remembered, what earlier runs left.

Importing this package loads no database library; opening a memory does.
"""

from agent.memory.errors import BadImport, MemoryUnavailable, ReservedKey
from agent.memory.layers import build_messages
from agent.memory.memory import Memory
from agent.memory.types import Hit, Layers, Origin, Session, Turn

__all__ = [
    "BadImport",
    "Hit",
    "Layers",
    "Memory",
    "MemoryUnavailable",
    "Origin",
    "ReservedKey",
    "Session",
    "Turn",
    "build_messages",
]
