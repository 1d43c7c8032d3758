"""Memory that persists between runs: conversations, saved values, and earlier runs' findings.

Importing this package does not load a database library; using `Memory` does.
"""

from typing import TYPE_CHECKING, Any

from agent.memory.layers import build_messages
from agent.memory.memory_types import (
    BadImport,
    Consolidated,
    Hit,
    Layers,
    MemoryUnavailable,
    Origin,
    ReservedKey,
    Turn,
)

if TYPE_CHECKING:
    from agent.memory.memory_api import Memory

__all__ = [
    "BadImport",
    "Consolidated",
    "Hit",
    "Layers",
    "Memory",
    "MemoryUnavailable",
    "Origin",
    "ReservedKey",
    "Turn",
    "build_messages",
]


def __getattr__(name: str) -> Any:
    """Import `Memory` when it is first used: importing SQLAlchemy takes a tenth of a second."""
    if name != "Memory":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from agent.memory.memory_api import Memory  # noqa: PLC0415 - a run without memory does not load it

    return Memory
