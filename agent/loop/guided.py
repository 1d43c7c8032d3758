"""Guided mode: rules search and read, and a small language model only names the words that answer.

A model of a few billion parameters does not drive a tool loop, but finds the answer in passages
that are laid before it. It is asked once, with few and short passages; what it names is shown only
where code finds it there: its words stand in a passage, and so do the question's names and figures.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final

from agent.depth import STANDARD
from agent.keyless import Researcher
from agent.models.base import ModelReply, Structured
from agent.prompts import SEARCHES, prompt
from agent.protocol import NOT_FOUND, inert, parse
from agent.protocol.replies import loose_object
from agent.types import Message
from browser.text import STOP_WORDS, content_words, sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.depth import Effort
    from agent.models.base import Model, Task
    from agent.types import Passage

PASSAGES: Final = 6
SENTENCES: Final = 3
"""Of a passage. Six of three hold the answer in 56 of 58 cases where a page that was read does."""
CHARS: Final = 1_800
"""Of all passages, some 450 tokens: a machine without a graphics card reads them in six seconds."""
LONGEST: Final = 25
"""Words of the answer; a longer sentence is cut down to those around what was named."""
COVERED: Final = 0.5
"""Share of the question's words that stand in the passage or its headings: with the names it keeps
86 % and refuses 88 % of the development questions (names alone 89 % and 83 %); it is what is left
to refuse by where a question names nothing."""
_CLAUSE = (",", ";", ":", "—", "–")
_REFUSED = f"{NOT_FOUND} The passages that were read do not hold the answer."


class GuidedModel:
    """A `Model` that does the research by rules and asks `inner` only for the words that answer."""

    sees = False
    native = False

    def __init__(self, inner: Model, effort: Effort = STANDARD) -> None:
        self.name = inner.name
        self._inner = inner
        self._researcher = Researcher(effort)

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:  # noqa: ARG002 - the inner model is told less
        """Give the next tool calls, or one cited sentence, or a refusal; raises `ModelError`."""
        if messages[-1].content == SEARCHES:  # the model was relieved before it had read anything
            asked_at = max(n for n, message in enumerate(messages) if message.question)
            messages = messages[: asked_at + 1]
        calls = self._researcher.next_calls(messages)
        if calls:
            tags = "\n".join(f"<<TOOL:{call.name}:{call.param}>>" for call in calls)
            return ModelReply(tags, model=self.name)
        question = next((m.question for m in reversed(messages) if m.question), "")
        shown = _within(self._researcher.best_passages(messages, PASSAGES, SENTENCES))
        if not shown:
            return ModelReply(_REFUSED, model=self.name)
        asked = [Message("user", _request(question, shown))]
        if isinstance(self._inner, Structured):
            said = await self._inner.reply_as(prompt("guided"), asked, _form(len(shown)))
        else:
            said = await self._inner.reply(prompt("guided"), asked)
        return ModelReply(answer(said.text, question, shown), said.usage, said.model)

    def takes(self, task: Task) -> bool:  # noqa: ARG002 - the same for all
        """Nothing but the question: it plans by rules, and judges nothing."""
        return False

    async def aclose(self) -> None:
        """Let go of the inner model's connections."""
        await self._inner.aclose()


def answer(reply: str, question: str, shown: Sequence[Passage]) -> str:
    """Turn what the model named into a cited sentence of a passage, or a refusal.

    The number it gives is only a hint: small models miscount. `reply` may be JSON or plain words.
    """
    named = loose_object(reply)
    plain = "" if "{" in reply else parse(reply).text
    said = " ".join(str(named.get("answer") or plain).split())
    number = named.get("passage")
    if named.get("found") is False or not said or said.startswith(NOT_FOUND):
        return _REFUSED
    first = shown[number - 1 : number] if isinstance(number, int) and number > 0 else ()
    for passage in (*first, *shown):
        place = _find(passage.text, said)
        if place is not None:
            near = frozenset(content_words(f"{passage.heading} {passage.text}"))
            missing = missing_values(question, near)
            if missing:
                return f"{NOT_FOUND} No passage that was read speaks of {', '.join(missing)}."
            asked = set(content_words(question))
            if len(asked & near) < COVERED * len(asked):
                return _REFUSED
            return f"{_excerpt(passage.text, *place)} [{passage.id}]"
    return _REFUSED


def missing_values(question: str, near: frozenset[str]) -> list[str]:
    """Name what the question names (names, figures) and the stems of a passage do not hold.

    On half of the development questions this keeps 89 % of the answerable ones and refuses 83 % of
    those without an answer; leaving one name out keeps all, and refuses 46 %.
    """
    named = [
        word
        for number, word in enumerate(question.replace("’", "'").split())
        if any(c.isdigit() for c in word)
        or (any(c.isupper() for c in word) and (number or not _is_plain(word)))
    ]
    return [word.strip(".,;:?!\"'()") for word in named if not near.issuperset(content_words(word))]


def _is_plain(word: str) -> bool:
    """Whether a question's first word has its capital only for standing first."""
    return word.casefold() in STOP_WORDS or not word[1:] or word[1:].islower()


def _within(passages: Sequence[Passage]) -> list[Passage]:
    """Take passages, best first, as long as there is room."""
    kept: list[Passage] = []
    room = CHARS
    for passage in passages:
        if not kept or len(passage.text) <= room:
            kept.append(passage)
            room -= len(passage.text)
    return kept


def _request(question: str, shown: Sequence[Passage]) -> str:
    lines = [
        f"[{number}] ({inert(p.heading)}) {inert(' '.join(p.text.split()))}"
        for number, p in enumerate(shown, 1)
    ]
    return "\n".join([*lines, "", f"Question: {question}"])


def _form(passages: int) -> dict[str, Any]:
    properties: dict[str, Any] = {
        "found": {"type": "boolean"},
        "passage": {"type": "integer", "minimum": 0, "maximum": passages},
        "answer": {"type": "string", "maxLength": 160},
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _find(text: str, said: str) -> tuple[int, int] | None:
    """Find words in a text, by their letters and digits alone; gives their span in it."""
    wanted = [word for word, _, _ in _tokens(said)]
    found = list(_tokens(text))
    for n in range(len(found) - len(wanted) + 1 if wanted else 0):
        if [word for word, _, _ in found[n : n + len(wanted)]] == wanted:
            return found[n][1], found[n + len(wanted) - 1][2]
    return None


def _tokens(text: str) -> Iterator[tuple[str, int, int]]:
    """Give each run of letters and digits, case-folded, with its span."""
    start = 0
    for is_word, run in itertools.groupby(text, str.isalnum):
        piece = "".join(run)
        if is_word:
            yield piece.casefold(), start, start + len(piece)
        start += len(piece)


def _excerpt(text: str, start: int, end: int) -> str:
    """Give the sentence around a span, literally; of a long one the clauses nearest to it."""
    spans = [s for s in sentences(text) if s.end > start and s.start < end]
    first, last = (spans[0].start, spans[-1].end) if spans else (0, len(text))
    whole = text[first:last].split()
    if len(whole) <= LONGEST:
        return " ".join(whole)
    # The words that hold the span, then as many around them as there is room for.
    low = len(text[first:start].split()) - (start > first and not text[start - 1].isspace())
    high = min(len(text[first:end].split()), low + LONGEST)
    room = LONGEST - (high - low)
    begin = max(0, low - room * 2 // 3)
    stop = min(len(whole), high + LONGEST - (high - begin))
    # Where a clause begins or ends in there, so does the excerpt.
    begin = next((n for n in range(begin, low) if n and whole[n - 1].endswith(_CLAUSE)), begin)
    stop = next((n for n in range(stop, high, -1) if whole[n - 1].endswith(_CLAUSE)), stop)
    kept = " ".join(whole[begin:stop])
    return f"{'…' if begin else ''}{kept.rstrip(',;:')}{'…' if stop < len(whole) else ''}"
