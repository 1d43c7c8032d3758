"""What is known from before: conversations, what was remembered, what earlier runs left.

Importing this package loads no database library; opening a memory does.
"""

from agent.memory.errors import BadImport, MemoryUnavailable, ReservedKey
from agent.memory.layers import build_messages
from agent.memory.memory import Memory
from agent.memory.protocol import AnyMemory
from agent.memory.types import Dreamed, Hit, Layers, Origin, Seal, SealCheck, Session, Stamped, Turn

__all__ = [
    "AnyMemory",
    "BadImport",
    "Dreamed",
    "Hit",
    "Layers",
    "Memory",
    "MemoryUnavailable",
    "Origin",
    "ReservedKey",
    "Seal",
    "SealCheck",
    "Session",
    "Stamped",
    "Turn",
    "build_messages",
]
