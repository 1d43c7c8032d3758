"""Keeping the conversation within the context window, before every call.

Between two compactions messages are only appended, so that what a provider has cached stays
usable; at the high-water mark as much is taken out at once as lasts for several steps. Of old steps
a model's summary may take the place; without one their first words and outcomes are left.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agent import jsvalues as js
from agent.config import CONTEXT_WINDOW

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.types import Message

CONTEXT_CHARS = 80_000
"""The reference engine's budget for what a run begins with, in UTF-16 units."""
_HIGH_WATER = 3 / 4
"""Of the window: the rest is for the system prompt, the functions and the answer."""
_LOW_WATER = 1 / 2
"""Of that, left after a compaction: the next one is then several long pages away."""
FIRST_STEPS = 2
"""Steps at the beginning that stay as they are: they hold how the question was taken up."""
LAST_STEPS = 5
"""Newest steps that stay as they are while there is room."""
IMAGE_TOKENS = 2_000
"""Of one screenshot of 1280 × 900: providers count 1,100 to 1,900."""
NOTES_UNITS = 4_000
"""UTF-16 units of a summary of old steps: what the reference engine condenses a conversation to."""
PICTURE_GONE = "[The picture was taken out: a newer one is below.]"
_CHARS_PER_TOKEN = 4
"""English text and JSON; other scripts are counted as one token a character."""
_KEPT = 200
"""UTF-16 units that are left of a message, as in the reference engine."""
_MARK = "…[trimmed]"
_GUIDE = re.compile(r"<guide>\n.*?\n</guide>", re.DOTALL)
_PAGE_TOOLS = frozenset("OPEN SNAPSHOT CLICK TYPE SELECT PRESS SCROLL BACK".split())
"""Their results show the open page: of several only the newest is of use."""


def tokens(text: str) -> int:
    """Estimate how many tokens a text is, rather too many than too few."""
    plain = len(text.encode("ascii", "ignore"))
    return plain // _CHARS_PER_TOKEN + (len(text) - plain) + 1


def fit_opening(messages: Sequence[Message]) -> list[Message]:
    """Trim what a run begins with, oldest first; the last two messages never."""
    fitted = list(messages)
    total = sum(js.length(message.content) for message in fitted)
    for index, message in enumerate(messages[:-2]):
        if total <= CONTEXT_CHARS:
            break
        fitted[index] = replace(message, content=_beginning(message.content))
        total -= js.length(message.content) - js.length(fitted[index].content)
    return fitted


@dataclass(slots=True)
class Window:
    """The window of one conversation, in tokens; it remembers what was cut out of which message."""

    high: int = int(CONTEXT_WINDOW * _HIGH_WATER)
    low: int = int(CONTEXT_WINDOW * _HIGH_WATER * _LOW_WATER)
    _cut: dict[int, str] = field(default_factory=dict)
    _sizes: list[int] = field(default_factory=list)

    @classmethod
    def from_tokens(cls, window: int) -> Window:
        """Keep a conversation within a window of so many tokens."""
        high = int(window * _HIGH_WATER)
        return cls(high, int(high * _LOW_WATER))

    def fit(self, messages: Sequence[Message], question: int) -> list[Message]:
        """Return what is sent: `messages` with what was, or now has to be, taken out.

        `question` is the index of the question, which is never cut; neither is the newest
        observation.
        """
        fitted = self._as_sent(messages)
        for index, shorter in self._too_much(fitted, question).items():
            self._take_out(index, shorter)
            fitted[index] = replace(fitted[index], content=shorter)
        return fitted

    def steps_to_cut(self, messages: Sequence[Message], question: int) -> list[int]:
        """Name the observations that the next `fit` will cut, by their index; often none."""
        cut = self._too_much(self._as_sent(messages), question)
        return sorted(n for n in cut if n > question and messages[n].role == "user")

    def put_notes(self, notes: str, steps: Sequence[int], messages: Sequence[Message]) -> None:
        """Cut these observations, and let notes on them stand behind what is left of the last."""
        for index in steps:
            self._take_out(index, _shortened(messages[index]))
        said = js.well_formed(js.cut(notes, NOTES_UNITS))
        behind = f"[Notes on the steps up to here, which were cut:\n{said}]"
        self._take_out(steps[-1], f"{self._cut[steps[-1]]}\n{behind}")

    def _too_much(self, fitted: Sequence[Message], question: int) -> dict[int, str]:
        """Return what has to be shortened now, by its index."""
        total = sum(self._sizes) + IMAGE_TOKENS * sum(len(m.images) for m in fitted)
        cut: dict[int, str] = {}
        for index in _cutting_order(fitted, question) if total > self.high else ():
            if total <= self.low:
                break
            shorter = _shortened(fitted[index])
            saved = self._sizes[index] - tokens(shorter)
            if index not in self._cut and index not in cut and saved > 0:
                cut[index] = shorter
                total -= saved
        return cut

    def _take_out(self, index: int, shorter: str) -> None:
        self._cut[index] = shorter
        self._sizes[index] = tokens(shorter)

    def _as_sent(self, messages: Sequence[Message]) -> list[Message]:
        """Return the messages with what was taken out before; of pictures only the newest stay."""
        newest = max((n for n, message in enumerate(messages) if message.images), default=-1)
        fitted = list(messages)
        for n, message in enumerate(messages):
            if message.images and n != newest:
                bare = f"{message.content}\n{PICTURE_GONE}"
                fitted[n] = replace(message, content=self._cut.get(n, bare), images=())
            elif n in self._cut:
                fitted[n] = replace(message, content=self._cut[n])
        # Messages are only ever appended, so each is measured once.
        self._sizes += [tokens(m.content) for m in fitted[len(self._sizes) :]]
        return fitted


def _cutting_order(messages: Sequence[Message], question: int) -> Iterator[int]:
    """What goes first: superseded pages, old steps, history, then newer steps, then notes."""
    last = len(messages) - 1
    observed = [i for i in range(question + 1, last) if messages[i].role == "user"]
    # A page as it was is of no use once a later message shows it as it is.
    shown = [i for i, m in enumerate(messages) if m.role == "user" and _is_page(m, first=True)]
    yield from (i for i in observed if _is_page(messages[i]) and i < max(shown, default=0))
    yield from observed[FIRST_STEPS : -(LAST_STEPS - 1) or None]
    yield from range(question)
    yield from observed[FIRST_STEPS:]
    yield from observed[:FIRST_STEPS]
    yield from (i for i in range(question + 1, last) if messages[i].role == "assistant")


def _is_page(message: Message, *, first: bool = False) -> bool:
    """Whether a message shows the open page: alone, or as the `first` of its results."""
    tools = [seen.tool for seen in message.observations][: 1 if first else None]
    return bool(tools) and _PAGE_TOOLS.issuperset(tools)


def _shortened(message: Message) -> str:
    """Keep a message's first words and its guides, and of each result of an observation a line."""
    outline = []
    for seen in message.observations:
        source = str(seen.get("source") or "")
        where = f" {source}" if source[:1] == "S" and source[1:].isdecimal() else ""
        outline.append(f"{seen.tool}{where} {'failed' if seen.failed else 'ok'}")
    return "\n".join([_beginning(message.content), *outline, *_GUIDE.findall(message.content)])


def _beginning(text: str) -> str:
    """Cut a text; half a surrogate pair is dropped."""
    return js.well_formed(js.cut(text, _KEPT)) + _MARK
