"""Guided mode: rules direct the research; a small language model only picks the answer's words.

A model with a few billion parameters cannot drive a tool loop, but it can find an answer in
passages. The model is asked once, with a few short passages. Its answer is used only if it passes
these checks: a passage contains its words, and the question's names and figures are on the same
page, or in a passage that mentions this page's title. If the passages only identify the subject of
the question, the model names the subject, a second search looks it up, and the model is asked again
(a second hop).
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from agent.evidence.passages import bare_title
from agent.keyless.question import AnswerKind, analyse, keywords
from agent.keyless.researcher import Researcher
from agent.limits import STANDARD_LIMITS
from agent.models.base import ModelReply, ModelWrapper, Structured
from agent.prompts import SEARCHES, prompt
from agent.protocol.loose_json import loose_object
from agent.protocol.replies import NOT_FOUND, inert, parse
from agent.tools.web_tools import read
from agent.types import Message
from browser.text.sentences import sentences
from browser.text.words import STOP_WORDS, content_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.limits import DepthLimits
    from agent.models.base import Model, Task
    from agent.types import Passage

MAX_PASSAGES: Final = 4
MAX_SENTENCES: Final = 3
"""Sentences per passage in the request. Four passages of three sentences each contain the answers
to 164 of 200 questions, six passages 165; for 155 questions, the answer is in the first passage.
"""
MAX_PASSAGES_CHARS: Final = 1_400
"""Maximum total length of the passages in characters (about 300 tokens). A total of 1,800
characters would not contain more answers.
"""
MAX_ANSWER_WORDS: Final = 25
"""Maximum number of words in the sentence quoted as the answer; longer ones are shortened."""
MIN_COVERED: Final = 0.5
"""Minimum share of the question's words that must be on the answer's page. Together with the check
of the question's names, it accepts 122 of 130 correct answers, and wrongly accepts answers to 9 of
40 questions that have none (with names alone: 124 and 17).
"""
MAX_REPLY_TOKENS: Final = 500
"""Maximum number of tokens in a reply. Valid replies have at most 150; the limit stops a rambling
model.
"""
MAX_NAME_WORDS: Final = 6
"""Maximum number of words in a name that a second hop looks up."""
_WORD_RE = re.compile(r"[^\W_]+")
_NO_ANSWER = f"{NOT_FOUND} The passages that were read do not contain the answer."
_SECOND_HOP_PREFIX = "Looking up: "
"""Prefix of the reply that starts a second hop; the name and its passage id follow."""


class AnswerLocation(NamedTuple):
    """The position of an answer: a passage, and the span of the answer's words in its text."""

    passage: Passage
    start: int
    end: int


class GuidedModel(ModelWrapper):
    """A model that researches by fixed rules; its inner model only picks the answer's words."""

    sees = False
    native = False

    def __init__(self, inner: Model, limits: DepthLimits = STANDARD_LIMITS) -> None:
        super().__init__(inner)
        self._limits = limits
        self._researcher = Researcher(limits)

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:  # noqa: ARG002 - the inner model has its own prompt
        """Return the next tool calls, a cited answer, or NOT_FOUND; raises `ModelError`."""
        if messages[-1].content == SEARCHES:
            # Guided mode may start in the middle of a conversation, before anything was read.
            # Ignore the model's earlier attempts.
            asked_at = max(n for n, message in enumerate(messages) if message.question)
            messages = messages[: asked_at + 1]
        questions = [message.question for message in messages if message.question]
        question = questions[-1] if questions else ""
        hop = _current_hop(messages)

        # Code searches and reads; in a second hop, it only reads.
        calls = self._researcher.next_calls(messages) or []
        if calls and (hop is None or calls[0].name == read.name):
            tags = "\n".join(f"<<TOOL:{call.name}:{call.param}>>" for call in calls)
            return ModelReply(tags, model=self.name)

        # Ask the model for the answer's words.
        passages = self._select_passages(messages, question, hop)
        if not passages:
            return ModelReply(_NO_ANSWER, model=self.name)
        request = [Message("user", _request(question, passages))]
        if isinstance(self._model, Structured):
            schema = _reply_schema(len(passages))
            reply = await self._model.reply_as(prompt("guided"), request, schema, MAX_REPLY_TOKENS)
        else:
            reply = await self._model.reply(prompt("guided"), request)

        # Find these words in the passages. If they do not answer the question, try a second hop.
        words, number = _read_reply(reply.text)
        found = _locate_answer(words, number, passages)
        if found is None:
            return ModelReply(_NO_ANSWER, reply.usage, reply.model)
        text = answer(found, question, passages, _stems_by_source(messages))
        steps = sum(bool(message.observations) for message in messages)
        incomplete = text.startswith(NOT_FOUND) or lacks_requested_place(found, question)
        if incomplete and hop is None and steps < self._limits.steps - 2:
            text = second_hop(words, found.passage, question) or text
        return ModelReply(text, reply.usage, reply.model)

    def _select_passages(
        self, messages: Sequence[Message], question: str, hop: tuple[str, Passage] | None
    ) -> list[Passage]:
        """Select the best passages that fit; in a second hop, the leading passage comes first."""
        selected: list[Passage] = []
        if hop is not None:
            name, leading = hop
            selected.append(leading)
            # In a second hop, passages are ranked by that hop's question.
            query = f"{name} {_missing_keywords(question, leading)}"
            messages = [
                replace(m, question=query) if m.question == question else m for m in messages
            ]
        room = MAX_PASSAGES_CHARS - sum(len(passage.text) for passage in selected)
        for passage in self._researcher.best_passages(messages, MAX_PASSAGES, MAX_SENTENCES):
            is_leading = hop is not None and passage.id == hop[1].id
            if not is_leading and (not selected or len(passage.text) <= room):
                selected.append(passage)
                room -= len(passage.text)
        return selected

    def takes(self, task: Task) -> bool:  # noqa: ARG002 - the same for all
        """Return False for every task: planning follows rules, and answers are not judged."""
        return False


def _read_reply(reply: str) -> tuple[str, int]:
    """Read the answer's words and a passage number (0 if none) from a JSON or plain-text reply."""
    fields = loose_object(reply)
    plain = "" if "{" in reply else parse(reply).text
    words = " ".join(str(fields.get("answer") or plain).split())
    if fields.get("found") is False or words.startswith(NOT_FOUND):
        words = ""
    number = fields.get("passage")
    return words, number if isinstance(number, int) else 0


def answer(
    found: AnswerLocation,
    question: str,
    passages: Sequence[Passage],
    pages: Mapping[int, frozenset[str]],
) -> str:
    """Return the sentence that contains the answer, with a citation, or NOT_FOUND.

    The question's names and figures must be on the answer's page (`pages` maps each source to its
    stems), or in a passage that mentions this page's title, which is then cited first.
    """
    passage = found.passage
    near = _stems(passage) | pages.get(passage.source, frozenset())
    leading = None
    if missing := missing_values(question, near):
        leading = next((p for p in passages if _leads_to_page(p, passage, question, near)), None)
        if leading is None:
            return f"{NOT_FOUND} None of the passages that were read mentions {', '.join(missing)}."
        near |= _stems(leading)
    stems = set(content_words(question))
    if len(stems & near) < MIN_COVERED * len(stems):
        return _NO_ANSWER
    text = f"{_answer_excerpt(passage.text, found.start, found.end)} [{passage.id}]"
    if leading is None:
        return text
    start, end = _find_phrase(leading.text, bare_title(_page_title(passage))) or (0, 1)
    return f"{_answer_excerpt(leading.text, start, end)} [{leading.id}] {text}"


def second_hop(name: str, leading: Passage, question: str) -> str:
    """Return a search for the name that the model gave instead of an answer, or "".

    The name must be new, and its passage must contain at least one of the names in the question.
    """
    if len(name.split()) > MAX_NAME_WORDS or not name[:1].isupper():
        return ""
    is_new = not set(content_words(name)) <= set(content_words(question))
    missing = missing_values(question, _stems(leading))
    names = missing_values(question, frozenset())
    if not is_new or len(missing) >= len(names):
        return ""
    call = json.dumps(
        {"query": f"{name} {_missing_keywords(question, leading)}"}, ensure_ascii=False
    )
    return f"{_SECOND_HOP_PREFIX}{inert(name)} [{leading.id}]\n<<TOOL:WEB_SEARCH:{call}>>"


def lacks_requested_place(found: AnswerLocation, question: str) -> bool:
    """Return whether the question asks for a kind of place ("in what city") that the passage lacks.

    If so, the words found probably do not name the place, but can be used to look the place up.
    This applies to 7 of 9 two-hop development questions, and to 1 of 300 one-hop questions, for
    which the second hop finds the same answer.
    """
    asked = analyse(question)
    asks_for_place = asked.kind is AnswerKind.PLACE and bool(asked.focus)
    return asks_for_place and not asked.focus & _stems(found.passage)


def _current_hop(messages: Sequence[Message]) -> tuple[str, Passage] | None:
    """Return the name that a second hop looks up, and the passage that led to it."""
    for message in reversed(messages):
        if message.role == "assistant" and message.content.startswith(_SECOND_HOP_PREFIX):
            break
    else:
        return None
    first_line = message.content.partition("\n")[0]
    name, _, cited = first_line.removeprefix(_SECOND_HOP_PREFIX).rpartition(" [")
    passage_id = cited.rstrip("]")
    for observation in (o for m in messages for o in m.observations):
        for passage in observation.passages:
            if passage.id == passage_id:
                start, end = _find_phrase(passage.text, name) or (0, 1)
                start, end = _sentences_around(passage.text, start, end)
                headings = [part for part in (observation.title, passage.heading) if part]
                text = passage.text[start:end]
                return name, replace(passage, heading=" › ".join(headings), text=text)
    return None


def _leads_to_page(leading: Passage, passage: Passage, question: str, near: frozenset[str]) -> bool:
    """Return whether `leading` mentions the page of `passage` and has the values missing there."""
    title = set(content_words(bare_title(_page_title(passage))))
    names_page = bool(title) and title <= set(content_words(leading.text))
    missing = missing_values(question, near | _stems(leading))
    return leading.id != passage.id and names_page and not missing


def _missing_keywords(question: str, leading: Passage) -> str:
    """Return the question's keywords that the `leading` passage does not contain."""
    near = _stems(leading)
    return " ".join(w for w in keywords(question).split() if not near.issuperset(content_words(w)))


def _locate_answer(words: str, number: int, passages: Sequence[Passage]) -> AnswerLocation | None:
    """Find the passage with the answer's words, trying the numbered one first (models miscount).

    If no passage contains the words as a phrase, look for a sentence that contains all of them in
    any form. Small models omit words ("bridge across the Tyne" for "a bridge was built across the
    Tyne") and change their endings ("oxygen chamber" for "uses special oxygen chambers").
    """
    first = passages[number - 1 : number] if number > 0 else ()
    for find in (_find_phrase, _find_sentence_with_words):
        for passage in (*first, *passages):
            if span := find(passage.text, words):
                return AnswerLocation(passage, *span)
    return None


def _page_title(passage: Passage) -> str:
    return passage.heading.partition(" › ")[0]


def _stems(passage: Passage) -> frozenset[str]:
    return frozenset(content_words(f"{passage.heading} {passage.text}"))


def _stems_by_source(messages: Sequence[Message]) -> dict[int, frozenset[str]]:
    """Return the stems in all passages that were read, by source."""
    found: dict[int, frozenset[str]] = {}
    for passage in (p for m in messages for o in m.observations for p in o.passages):
        found[passage.source] = found.get(passage.source, frozenset()) | _stems(passage)
    return found


def missing_values(question: str, near: frozenset[str]) -> list[str]:
    """Return the question's names and figures whose stems are not in `near`."""
    missing = []
    for number, word in enumerate(question.replace("’", "'").split()):
        is_figure = any(c.isdigit() for c in word)
        is_name = any(c.isupper() for c in word) and (number > 0 or not _is_plain(word))
        if (is_figure or is_name) and not near.issuperset(content_words(word)):
            missing.append(word.strip(".,;:?!\"'()"))
    return missing


def _is_plain(word: str) -> bool:
    """Return whether a question's first word is capitalised only because of its position."""
    return word.casefold() in STOP_WORDS or not word[1:] or word[1:].islower()


def _request(question: str, passages: Sequence[Passage]) -> str:
    lines = [
        f"[{number}] ({inert(p.heading)}) {inert(' '.join(p.text.split()))}"
        for number, p in enumerate(passages, 1)
    ]
    return "\n".join([*lines, "", f"Question: {question}"])


def _reply_schema(passages: int) -> dict[str, Any]:
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


def _find_phrase(text: str, phrase: str) -> tuple[int, int] | None:
    """Find a phrase in `text`, comparing only letters and digits; returns its span."""
    wanted, found = [word for word, _, _ in _tokens(phrase)], _tokens(text)
    if not wanted:
        return None
    for n in range(len(found) - len(wanted) + 1):
        if [word for word, _, _ in found[n : n + len(wanted)]] == wanted:
            return found[n][1], found[n + len(wanted) - 1][2]
    return None


def _find_sentence_with_words(text: str, phrase: str) -> tuple[int, int] | None:
    """Find a sentence that contains the stems of all words in a phrase; returns their span."""
    wanted = {_stem(word) for word, _, _ in _tokens(phrase)}
    if not wanted:
        return None
    tokens = [(_stem(word), start, end) for word, start, end in _tokens(text)]
    for sentence in sentences(text):
        matching = [
            token
            for token in tokens
            if sentence.start <= token[1] < sentence.end and token[0] in wanted
        ]
        if {word for word, _, _ in matching} == wanted:
            return matching[0][1], matching[-1][2]
    return None


def _stem(word: str) -> str:
    return next(iter(content_words(word)), word)


def _tokens(text: str) -> list[tuple[str, int, int]]:
    """Return each sequence of letters and digits, case-folded, with its span."""
    return [(word[0].casefold(), *word.span()) for word in _WORD_RE.finditer(text)]


def _answer_excerpt(text: str, start: int, end: int) -> str:
    """Return the sentence around a span verbatim, shortened to `MAX_ANSWER_WORDS` if necessary."""
    first, last = _sentences_around(text, start, end)
    words = text[first:last].split()
    if len(words) <= MAX_ANSWER_WORDS:
        return " ".join(words)
    # The index of the span's first word; a span may begin inside a word.
    begins_in_word = start > first and not text[start - 1].isspace()
    span_start = len(text[first:start].split()) - begins_in_word
    span_words = len(text[first:end].split()) - span_start
    margin = max(0, MAX_ANSWER_WORDS - span_words) // 2
    begin = min(max(0, span_start - margin), len(words) - MAX_ANSWER_WORDS)
    stop = begin + MAX_ANSWER_WORDS
    kept = " ".join(words[begin:stop]).rstrip(",;:")
    return f"{'…' if begin else ''}{kept}{'…' if stop < len(words) else ''}"


def _sentences_around(text: str, start: int, end: int) -> tuple[int, int]:
    spans = [s for s in sentences(text) if s.end > start and s.start < end]
    return (spans[0].start, spans[-1].end) if spans else (0, len(text))
