"""Fits the conversation into the model's context window before each call.

Between two compactions, messages are only appended, so that the provider's prompt cache stays
valid. When the conversation reaches the high-water mark, enough is cut to make room for several
steps. Old steps are replaced with the model's summary, or with their first words and outcomes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agent import jsvalues as js
from agent.options import CONTEXT_WINDOW
from agent.types import ToolTrait
from browser.text.words import CHARS_PER_TOKEN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.types import Message

CONTEXT_CHARS = 80_000
"""Maximum UTF-16 units of a run's first messages, as in the reference engine."""
_HIGH_WATER = 3 / 4
"""Maximum share of the window for the conversation; the rest is for the system prompt, tool
definitions and the answer."""
_LOW_WATER = 1 / 2
"""Share of the high-water mark that a compaction leaves, to make room for several long pages."""
FIRST_STEPS = 2
"""Number of first steps, which are cut last because they show how the question was approached."""
LAST_STEPS = 5
"""Number of newest steps, which are cut only if cutting older ones is not enough."""
IMAGE_TOKENS = 2_000
"""Tokens counted for a screenshot of 1280 × 900; providers count 1,100 to 1,900."""
NOTES_UNITS = 4_000
"""Maximum UTF-16 units in a summary of old steps, as in the reference engine for conversations."""
PICTURE_GONE = "[The image was removed: a newer one is below.]"
_KEPT_UNITS = 200
"""UTF-16 units kept from a cut message, as in the reference engine."""
_TRIMMED_MARK = "…[trimmed]"
_GUIDE = re.compile(r"<guide>\n.*?\n</guide>", re.DOTALL)


def tokens(text: str) -> int:
    """Estimate the number of tokens in `text`, erring on the high side.

    Characters of other scripts than Latin count as one token each.
    """
    plain = len(text.encode("ascii", "ignore"))
    return plain // CHARS_PER_TOKEN + (len(text) - plain) + 1


def fit_opening(messages: Sequence[Message]) -> list[Message]:
    """Cut a run's first messages to `CONTEXT_CHARS`, oldest first, but never the last two."""
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
    """The window of one conversation; `high` and `low` are its watermarks, in tokens.

    It remembers its cuts, so that a cut message stays cut in later requests.
    """

    high: int = int(CONTEXT_WINDOW * _HIGH_WATER)
    low: int = int(CONTEXT_WINDOW * _HIGH_WATER * _LOW_WATER)
    _cut: dict[int, str] = field(default_factory=dict)  # shortened messages by index
    _sizes: list[int] = field(default_factory=list)  # tokens of each message as sent

    @classmethod
    def from_tokens(cls, window: int) -> Window:
        """Create the window for a model with a context of `window` tokens."""
        high = int(window * _HIGH_WATER)
        return cls(high, int(high * _LOW_WATER))

    def fit(self, messages: Sequence[Message], question: int) -> list[Message]:
        """Return the messages to send; old ones are cut if necessary.

        `question` is the index of the question. The question and the newest observation are never
        cut.
        """
        fitted = self._apply_cuts(messages)
        for index, shorter in self._new_cuts(fitted, question).items():
            self._cut_message(index, shorter)
            fitted[index] = replace(fitted[index], content=shorter)
        return fitted

    def shrink_after_rejection(
        self, fitted: Sequence[Message], question: int, system: int, limit: int | None
    ) -> list[Message]:
        """Cut a conversation that an endpoint rejected as too long; later ones are limited too.

        `system` is the size of the system prompt in tokens, `limit` the endpoint's window (None:
        unknown). If cutting old messages is not enough, the newest one is cut as well.
        """
        total = sum(tokens(message.content) for message in fitted)
        room = total if limit is None else int(limit * _HIGH_WATER) - system
        self.high = max(room if room < total else total // 2, tokens(fitted[question].content) + 1)
        self.low = int(self.high * _LOW_WATER)
        cut = self.fit(fitted, question)
        over = sum(tokens(message.content) for message in cut) - self.high
        last = len(cut) - 1
        if over > 0 and last > question:
            text = cut[last].content
            share = max(0.1, 1 - over / tokens(text))
            self._cut_message(last, js.cut(text, int(js.length(text) * share)) + _TRIMMED_MARK)
            cut[last] = replace(cut[last], content=self._cut[last])
        return cut

    def steps_to_cut(self, messages: Sequence[Message], question: int) -> list[int]:
        """Return the indexes of the observations that the next call of `fit` will cut."""
        cuts = self._new_cuts(self._apply_cuts(messages), question)
        return sorted(n for n in cuts if n > question and messages[n].role == "user")

    def put_notes(self, notes: str, steps: Sequence[int], messages: Sequence[Message]) -> None:
        """Cut these observations, and append notes about them to the last one."""
        for index in steps:
            self._cut_message(index, _shorten_message(messages[index]))
        text = js.cut_well_formed(notes, NOTES_UNITS)
        block = f"[Notes on the steps up to here, which were cut:\n{text}]"
        self._cut_message(steps[-1], f"{self._cut[steps[-1]]}\n{block}")

    def _new_cuts(self, fitted: Sequence[Message], question: int) -> dict[int, str]:
        """Return the messages to cut now, shortened, by index."""
        total = sum(self._sizes) + IMAGE_TOKENS * sum(len(m.images) for m in fitted)
        cuts: dict[int, str] = {}
        if total <= self.high:
            return cuts
        for index in _cutting_order(fitted, question):
            if total <= self.low:
                break
            shorter = _shorten_message(fitted[index])
            saved = self._sizes[index] - tokens(shorter)
            if index not in self._cut and index not in cuts and saved > 0:
                cuts[index] = shorter
                total -= saved
        return cuts

    def _cut_message(self, index: int, shorter: str) -> None:
        self._cut[index] = shorter
        self._sizes[index] = tokens(shorter)

    def _apply_cuts(self, messages: Sequence[Message]) -> list[Message]:
        """Return the messages with the cuts made so far, and with only the newest images."""
        newest = max((n for n, message in enumerate(messages) if message.images), default=-1)
        fitted = list(messages)
        for n, message in enumerate(messages):
            if message.images and n != newest:
                bare = f"{message.content}\n{PICTURE_GONE}"
                fitted[n] = replace(message, content=self._cut.get(n, bare), images=())
            elif n in self._cut:
                fitted[n] = replace(message, content=self._cut[n])
        # Messages are only appended, so each is measured once.
        self._sizes += [tokens(m.content) for m in fitted[len(self._sizes) :]]
        return fitted


def _cutting_order(messages: Sequence[Message], question: int) -> Iterator[int]:
    """Yield the indexes of messages in cutting order, some of them twice."""
    last = len(messages) - 1
    observed = [i for i in range(question + 1, last) if messages[i].role == "user"]
    # 1. Page snapshots, if a later message shows the current state.
    snapshots = [i for i, m in enumerate(messages) if m.role == "user" and _begins_with_page(m)]
    newest_snapshot = max(snapshots, default=0)
    yield from (i for i in observed if _is_page(messages[i]) and i < newest_snapshot)
    # 2. Old steps. Only LAST_STEPS - 1 are kept here, since the newest step is not in `observed`.
    yield from observed[FIRST_STEPS : 1 - LAST_STEPS]
    # 3. The messages before the question.
    yield from range(question)
    # 4. The newer steps, then the first ones.
    yield from observed[FIRST_STEPS:]
    yield from observed[:FIRST_STEPS]
    # 5. The model's messages.
    yield from (i for i in range(question + 1, last) if messages[i].role == "assistant")


def _is_page(message: Message) -> bool:
    """Return whether a message shows only the open page."""
    observations = message.observations
    return bool(observations) and all(ToolTrait.SHOWS_PAGE in o.traits for o in observations)


def _begins_with_page(message: Message) -> bool:
    """Return whether a message's first result shows the open page."""
    return any(ToolTrait.SHOWS_PAGE in o.traits for o in message.observations[:1])


def _shorten_message(message: Message) -> str:
    """Shorten a message to its first words, one line per tool result, and its guides."""
    lines = [_beginning(message.content)]
    for observation in message.observations:
        source = str(observation.get("source") or "")
        name = f" {source}" if source[:1] == "S" and source[1:].isdecimal() else ""
        lines.append(f"{observation.tool}{name} {'failed' if observation.failed else 'ok'}")
    return "\n".join([*lines, *_GUIDE.findall(message.content)])


def _beginning(text: str) -> str:
    """Cut `text` to its first words; half of a surrogate pair is dropped."""
    return js.cut_well_formed(text, _KEPT_UNITS) + _TRIMMED_MARK
