"""Text similarity as in the reference engine: one request per text, cached by content."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import TYPE_CHECKING

from agent.memory.vectors import cosine

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    Vector = Sequence[float]
    Fetch = Callable[[str], Awaitable[Vector | None]]
    """Returns a text's vector, or None if the endpoint returns none."""

TEXT_UNITS = 2_000
"""Characters of a text that are embedded, as in the reference engine."""
KEPT = 300
"""Maximum vectors cached; the least recently used one is dropped."""


class Embeddings:
    """Vectors of texts, each fetched once."""

    def __init__(self, fetch: Fetch, model: str) -> None:
        self._fetch = fetch
        self._model = model
        self.kept: OrderedDict[str, Vector] = OrderedDict()

    async def near(self, question: str, texts: Iterable[str]) -> dict[str, float]:
        """Return the cosine of each text and the question, -1 to 1, if the text has a vector."""
        asked = await self._of(question)
        if asked is None:
            return {}
        found = {text: await self._of(text) for text in texts}
        return {text: cosine(asked, vector) for text, vector in found.items() if vector is not None}

    async def _of(self, text: str) -> Vector | None:
        key = hashlib.sha256(f"{self._model}\0{text}".encode("utf-8", "replace")).hexdigest()
        if key in self.kept:
            self.kept.move_to_end(key)
            return self.kept[key]
        vector = await self._fetch(text[:TEXT_UNITS])
        if vector is not None:
            self.kept[key] = vector
            while len(self.kept) > KEPT:
                self.kept.popitem(last=False)
        return vector
