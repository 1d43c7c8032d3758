"""Searching and reading by rules: which tools to call next, and the passages that bear best."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from agent.depth import STANDARD
from agent.keyless.findings import Findings
from agent.keyless.notebook import take_notes
from agent.keyless.policy import _steps
from agent.types import ToolCall
from browser.text import sentences as cut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.depth import Effort
    from agent.models.base import Message
    from agent.types import Passage


class Researcher:
    """Does a question's research without a language model: searches, reads, follows a second hop.

    It holds no state: what it says follows from the conversation alone, that is from
    `Message.question` and `Message.observations`, never from their text. `effort` says how far it
    reaches out. Used so, by a model that writes the answer itself:

        researcher = Researcher(effort)
        calls = researcher.next_calls(messages)      # list[ToolCall]: make them, and ask again
        if calls is None:                            # ready: nothing further is worth a call
            passages = researcher.best_passages(messages, limit=6, sentences=3)
    """

    def __init__(self, effort: Effort = STANDARD) -> None:
        self._effort = effort

    def next_calls(self, messages: Sequence[Message]) -> list[ToolCall] | None:
        """The tool calls of the next step, at least one; None when it is time to answer.

        Calls of one list are independent and may run at once. The last step that the effort allows
        is left for the answer, and after a message that holds no observations (a limit is reached)
        nothing is called.
        """
        found = Findings(take_notes(messages), self._effort)
        for step in _steps(found.notes, self._effort):
            if calls := step(found):
                return [
                    ToolCall(tool, json.dumps(param, ensure_ascii=False)) for tool, param in calls
                ]
        return None

    def best_passages(
        self, messages: Sequence[Message], limit: int = 6, sentences: int = 3
    ) -> list[Passage]:
        """The passages read that bear best on the question, best first; empty where none does.

        Each is a slice of a passage that was shown, at most `sentences` sentences around the best
        one, and has that passage's `id`, to be cited by; `heading` begins with the page's title.
        """
        found = Findings(take_notes(messages), self._effort)
        shown = {p.id: p for m in messages for o in m.observations for p in o.passages}
        best: dict[tuple[str, int], Passage] = {}
        for scored in found.ranking.scored:
            passage = shown.get(scored.sentence.passage)
            if passage is not None and len(best) < limit:
                piece = _around(passage, scored.sentence.text, sentences)
                piece = replace(
                    piece, heading=f"{scored.sentence.title} › {piece.heading}".strip(" ›")
                )
                best.setdefault((piece.id, piece.start), piece)
        return list(best.values())


def _around(passage: Passage, text: str, most: int) -> Passage:
    """Cut a passage down to the block of `most` sentences that holds a text."""
    spans = cut(passage.text)
    at = next((n for n, span in enumerate(spans) if text in passage.text[span.start : span.end]), 0)
    block = spans[at - at % most : at - at % most + most]
    if not block:
        return passage
    start, end = block[0].start, block[-1].end
    return replace(
        passage, text=passage.text[start:end], start=passage.start + start, end=passage.start + end
    )
