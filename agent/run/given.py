"""What a caller brings to a run beside the settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agent.journal import Event
    from agent.memory import AnyMemory
    from agent.models import Model
    from agent.run.past import Past


@dataclass(frozen=True, slots=True)
class Given:
    """What a caller brings beside the settings; None where the settings decide."""

    model: Model | None = None
    memory: AnyMemory | None = None
    tools: dict[str, Callable[[str], Awaitable[Any]]] = field(default_factory=dict)
    on_event: Callable[[Event], None] | None = None
    approve: Callable[[str], Awaitable[bool]] | None = None
    ask: Callable[[str], Awaitable[str]] | None = None
    config: bool = False
    past: Past | None = None
