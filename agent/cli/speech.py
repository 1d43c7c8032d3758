"""What the model is saying just now, as a person likes to see it: no tags, the last few words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from browser.text import clean

if TYPE_CHECKING:
    from agent.journal import Event

_THOUGHT = re.compile(r"<</?THINK>>")
_CALL = re.compile(r"<<TOOL:.*?(?:>>|$)|<<[A-Z/]*>?$|<$", re.DOTALL)


class Speech:
    """Listens to the pieces of replies; of several at a time the one that spoke last is shown."""

    def __init__(self) -> None:
        self._said: dict[str, str] = {}
        self._speaker = ""

    def note(self, event: Event) -> None:
        """Take up an event: pieces add up until the whole reply stands."""
        if event.type == "model.delta":
            before = "" if event.data["anew"] else self._said.get(event.place, "")
            self._said[event.place] = before + event.data["text"]
            self._speaker = event.place
        elif event.type == "model.reply":
            self._said.pop(event.place, None)

    def last_words(self, width: int) -> str:
        """Give what was said last, on one line; empty while nothing is being said."""
        said = _THOUGHT.sub(" ", _CALL.sub(" ", self._said.get(self._speaker, "")))
        flat = " ".join(clean(said).split())
        return flat if len(flat) <= width else "…" + flat[1 - width :]
