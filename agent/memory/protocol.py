"""The seam behind which any memory stands: what a run asks of it.

`Memory` is one; another engine that has these methods can be handed to `research(memory=…)`. All
are synchronous, and called from one thread at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.memory.types import Hit, Layers, Origin, Turn
    from agent.memory.upkeep import Upkeep
    from agent.types import Report


class AnyMemory(Protocol):
    """What is known from before, as a run reads and writes it."""

    def layers(self, question: str, session: str | None = None) -> Layers:
        """Gather what a run is given; without a session, history begins anew."""
        ...

    def search(self, query: str, limit: int = 10, kinds: Sequence[str] | None = None) -> list[Hit]:
        """Find memories, best first; a score of 1 is about what has every word of the query."""
        ...

    def near(self, question: str, texts: Sequence[str]) -> dict[str, float]:
        """Give the cosine of a question and each text; nothing where there are no embeddings."""
        ...

    def remember(self, key: str, value: Any, *, origin: Origin | None = None) -> int:
        """Save a value under a key; raises `ReservedKey` for keys of the engine."""
        ...

    def append_turn(self, session: str, role: str, text: str) -> None:
        """Add a message to a conversation, which is opened if it is new."""
        ...

    def turns(self, session: str, limit: int = ...) -> list[Turn]:
        """List the last messages of a conversation, oldest first."""
        ...

    def latest_session(self) -> str | None:
        """Name the conversation last spoken in."""
        ...

    def upkeep(self, session: str) -> Upkeep:
        """Give what the jobs after an answer change."""
        ...

    def record_run(
        self, report: Report, steps: Sequence[str] = (), used: Sequence[int] = ()
    ) -> list[int]:
        """Write what a run leaves; returns ids."""
        ...

    def close(self) -> None:
        """Let go of what is held open."""
        ...
