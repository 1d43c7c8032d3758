"""Guided mode: rules search and read, and a small language model only names the words that answer.

A model of a few billion parameters does not drive a tool loop, but finds the answer in passages
that are laid before it. It is asked once, with few and short passages; what it names is shown only
where code finds it there: its words stand in a passage, and the question's names and figures on the
same page, or in a passage that leads to it. Where the passages only say who or what is meant, the
model names that, it is looked up, and the model is asked a second time.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from agent.evidence.passages import bare_title
from agent.keyless.question import AnswerKind, analyse, keywords
from agent.keyless.researcher import Researcher
from agent.limits import STANDARD
from agent.models.base import ModelReply, Structured
from agent.prompts import SEARCHES, prompt
from agent.protocol.replies import NOT_FOUND, inert, loose_object, parse
from agent.types import Message
from browser.text.sentences import sentences
from browser.text.words import STOP_WORDS, content_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.limits import Effort
    from agent.models.base import Model, Task
    from agent.types import Passage

PASSAGES: Final = 4
SENTENCES: Final = 3
"""Of a passage. Four of three hold the answer of 164 of 200 questions, six of 165; 155 times it is
the first."""
CHARS: Final = 1_400
"""Of all passages, some 300 tokens as a rule; 1,800 hold no more answers."""
LONGEST: Final = 25
"""Words of the answer; a longer sentence is cut down."""
COVERED: Final = 0.5
"""Share of the question's words that stand on the page. With the names it leaves 122 of 130 answers
that were shown, and of 40 questions without one 9 (names alone: 124 and 17), whatever is named."""
LONGEST_REPLY: Final = 500
"""Tokens: the form takes 150 at most, where it is kept; a model that babbles ends here."""
NAME: Final = 6
"""Words of a name that is looked up, at most."""
_WORD = re.compile(r"[^\W_]+")
_REFUSED = f"{NOT_FOUND} The passages that were read do not hold the answer."
_LOOK_UP = "Looking up: "
"""Begins the turn of a second hop; the name and the id of the passage that names it follow."""


class Named(NamedTuple):
    """What the model named: words that answer, and the passage (0 for none)."""

    answer: str
    passage: int


class Found(NamedTuple):
    """Where the words that were named stand: a passage, and their span in its text."""

    passage: Passage
    start: int
    end: int


class GuidedModel:
    """A `Model` that does the research by rules and asks `inner` only for the words that answer."""

    sees = False
    native = False

    def __init__(self, inner: Model, effort: Effort = STANDARD) -> None:
        self.name = inner.name
        self._inner = inner
        self._effort = effort
        self._researcher = Researcher(effort)

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:  # noqa: ARG002 - the inner model is told less
        """Give the next tool calls, or a cited answer, or a refusal; raises `ModelError`."""
        if messages[-1].content == SEARCHES:  # the model was relieved before it had read anything
            asked_at = max(n for n, message in enumerate(messages) if message.question)
            messages = messages[: asked_at + 1]
        question = next((m.question for m in reversed(messages) if m.question), "")
        hop = _hop_under_way(messages)
        calls = self._researcher.next_calls(messages) or []
        if calls and (hop is None or calls[0].name == "READ"):
            tags = "\n".join(f"<<TOOL:{call.name}:{call.param}>>" for call in calls)
            return ModelReply(tags, model=self.name)
        shown = self._shown(messages, question, hop)
        if not shown:
            return ModelReply(_REFUSED, model=self.name)
        asked = [Message("user", _request(question, shown))]
        if isinstance(self._inner, Structured):
            form = _form(len(shown))
            said = await self._inner.reply_as(prompt("guided"), asked, form, LONGEST_REPLY)
        else:
            said = await self._inner.reply(prompt("guided"), asked)
        named = _read_reply(said.text)
        found = _locate(named, shown)
        if found is None:
            return ModelReply(_REFUSED, said.usage, said.model)
        text = answer(found, question, shown, _stems_by_source(messages))
        steps = sum(bool(message.observations) for message in messages)
        halfway = text.startswith(NOT_FOUND) or names_no_place(found, question)
        if halfway and hop is None and steps < self._effort.steps - 2:
            text = second_hop(named.answer, found.passage, question) or text
        return ModelReply(text, said.usage, said.model)

    def _shown(
        self, messages: Sequence[Message], question: str, hop: tuple[str, Passage] | None
    ) -> list[Passage]:
        """The passages to show, as many as there is room for; on a second hop the leading one."""
        if hop is None:
            return _fit_passages(self._researcher.best_passages(messages, PASSAGES, SENTENCES))
        name, leading = hop
        wanted = f"{name} {_open_words(question, leading)}"
        asked = [replace(m, question=wanted) if m.question == question else m for m in messages]
        best = self._researcher.best_passages(asked, PASSAGES, SENTENCES)
        return _fit_passages([leading, *(p for p in best if p.id != leading.id)])

    def takes(self, task: Task) -> bool:  # noqa: ARG002 - the same for all
        """Nothing but the question: it plans by rules, and judges nothing."""
        return False

    async def aclose(self) -> None:
        """Let go of the inner model's connections."""
        await self._inner.aclose()


def _read_reply(reply: str) -> Named:
    """Read the model's reply, JSON or plain words."""
    said = loose_object(reply)
    plain = "" if "{" in reply else parse(reply).text
    words = " ".join(str(said.get("answer") or plain).split())
    if said.get("found") is False or words.startswith(NOT_FOUND):
        words = ""
    number = said.get("passage")
    return Named(words, number if isinstance(number, int) else 0)


def answer(
    found: Found, question: str, shown: Sequence[Passage], pages: Mapping[int, frozenset[str]]
) -> str:
    """Turn what was found into a cited sentence of its passage, or a refusal.

    What the question names must stand on its page (`pages` has the stems of each source), or in a
    passage that names this page: that one is then cited before it.
    """
    passage = found.passage
    near = _stems(passage) | pages.get(passage.source, frozenset())
    leading = None
    if missing := missing_values(question, near):
        leading = next((p for p in shown if _leads(p, passage, question, near)), None)
        if leading is None:
            return f"{NOT_FOUND} No passage that was read speaks of {', '.join(missing)}."
        near |= _stems(leading)
    asked = set(content_words(question))
    if len(asked & near) < COVERED * len(asked):
        return _REFUSED
    text = f"{_excerpt(passage.text, found.start, found.end)} [{passage.id}]"
    if leading is None:
        return text
    at = _find(leading.text, bare_title(_page(passage))) or (0, 1)
    return f"{_excerpt(leading.text, *at)} [{leading.id}] {text}"


def second_hop(name: str, leading: Passage, question: str) -> str:
    """Write the search for what the model named instead of an answer; "" where that is none.

    It must be a new name, and stand in a passage that has one of the question's own.
    """
    if len(name.split()) > NAME or not name[:1].isupper():
        return ""
    new = not set(content_words(name)) <= set(content_words(question))
    missing, names = (missing_values(question, x) for x in (_stems(leading), frozenset[str]()))
    if not new or len(missing) >= len(names):
        return ""
    call = json.dumps({"query": f"{name} {_open_words(question, leading)}"}, ensure_ascii=False)
    return f"{_LOOK_UP}{inert(name)} [{leading.id}]\n<<TOOL:WEB_SEARCH:{call}>>"


def names_no_place(found: Found, question: str) -> bool:
    """Tell whether a place is asked for ("in what city") beside words that speak of none.

    Then they may only lead to it: so with 7 of 9 development questions of two hops, and with 1 of
    300 plain ones, whose answer a second look finds again.
    """
    asked = analyse(question)
    wanted = asked.kind is AnswerKind.PLACE and asked.focus
    return bool(wanted) and not asked.focus & _stems(found.passage)


def _hop_under_way(messages: Sequence[Message]) -> tuple[str, Passage] | None:
    """Find the name that was looked up for a second hop, and the passage that led to it."""
    turns = [m.content for m in messages if m.role == "assistant"]
    said = next((text for text in reversed(turns) if text.startswith(_LOOK_UP)), "")
    name, _, cited = said.partition("\n")[0].removeprefix(_LOOK_UP).rpartition(" [")
    read = ((o.title, p) for m in messages for o in m.observations for p in o.passages)
    leading = next(((title, p) for title, p in read if p.id == cited.rstrip("]")), None)
    if not said or leading is None:
        return None
    title, passage = leading
    start, end = _sentences_around(passage.text, *(_find(passage.text, name) or (0, 1)))
    heading = " › ".join(filter(None, (title, passage.heading)))
    return name, replace(passage, heading=heading, text=passage.text[start:end])


def _leads(leading: Passage, passage: Passage, question: str, near: frozenset[str]) -> bool:
    """Tell whether a passage names the page of another, and has what is missing near that one."""
    title = set(content_words(bare_title(_page(passage))))
    named = bool(title) and title <= set(content_words(leading.text))
    lacking = missing_values(question, near | _stems(leading))
    return leading.id != passage.id and named and not lacking


def _open_words(question: str, leading: Passage) -> str:
    """The question's telling words that a passage does not hold."""
    near = _stems(leading)
    return " ".join(w for w in keywords(question).split() if not near.issuperset(content_words(w)))


def _locate(named: Named, shown: Sequence[Passage]) -> Found | None:
    """Find the passage in which words stand, the one that was named first: models miscount.

    Where they stand together nowhere, a sentence that has them all will do: small models leave
    words out ("bridge across the Tyne" of "a bridge was built across the Tyne").
    """
    first = shown[named.passage - 1 : named.passage] if named.passage > 0 else ()
    for find in (_find, _find_spread):
        for passage in (*first, *shown):
            if span := find(passage.text, named.answer):
                return Found(passage, *span)
    return None


def _page(passage: Passage) -> str:
    return passage.heading.partition(" › ")[0]


def _stems(passage: Passage) -> frozenset[str]:
    return frozenset(content_words(f"{passage.heading} {passage.text}"))


def _stems_by_source(messages: Sequence[Message]) -> dict[int, frozenset[str]]:
    """Give the stems of what was read of each source."""
    found: dict[int, frozenset[str]] = {}
    for passage in (p for m in messages for o in m.observations for p in o.passages):
        found[passage.source] = found.get(passage.source, frozenset()) | _stems(passage)
    return found


def missing_values(question: str, near: frozenset[str]) -> list[str]:
    """Name what the question names (names, figures) and these stems do not hold."""
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


def _fit_passages(passages: Sequence[Passage]) -> list[Passage]:
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
    wanted, found = [word for word, _, _ in _tokens(said)], _tokens(text)
    for n in range(len(found) - len(wanted) + 1 if wanted else 0):
        if [word for word, _, _ in found[n : n + len(wanted)]] == wanted:
            return found[n][1], found[n + len(wanted) - 1][2]
    return None


def _find_spread(text: str, said: str) -> tuple[int, int] | None:
    """Find the sentence that has all of these words; gives the span from its first to its last."""
    wanted = {word for word, _, _ in _tokens(said)}
    for sentence in sentences(text) if wanted else ():
        there = [token for token in _tokens(text) if sentence.start <= token[1] < sentence.end]
        held = [token for token in there if token[0] in wanted]
        if {word for word, _, _ in held} == wanted:
            return held[0][1], held[-1][2]
    return None


def _tokens(text: str) -> list[tuple[str, int, int]]:
    """Give each run of letters and digits, case-folded, with its span."""
    return [(word[0].casefold(), *word.span()) for word in _WORD.finditer(text)]


def _excerpt(text: str, start: int, end: int) -> str:
    """Give the sentence around a span, literally; of a long one the words around the span."""
    first, last = _sentences_around(text, start, end)
    whole = text[first:last].split()
    if len(whole) <= LONGEST:
        return " ".join(whole)
    low = len(text[first:start].split()) - (start > first and not text[start - 1].isspace())
    span = len(text[first:end].split()) - low
    begin = min(max(0, low - max(0, LONGEST - span) // 2), len(whole) - LONGEST)
    stop = begin + LONGEST
    kept = " ".join(whole[begin:stop]).rstrip(",;:")
    return f"{'…' if begin else ''}{kept}{'…' if stop < len(whole) else ''}"


def _sentences_around(text: str, start: int, end: int) -> tuple[int, int]:
    spans = [s for s in sentences(text) if s.end > start and s.start < end]
    return (spans[0].start, spans[-1].end) if spans else (0, len(text))
