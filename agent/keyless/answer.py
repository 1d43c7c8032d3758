"""The final reply: the sentence that answers, cited, or a refusal that says why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.keyless.question import AnswerKind
from agent.keyless.ranking import cells_of, has_kind
from agent.protocol import NOT_FOUND
from browser.text import content_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.keyless.question import Question
    from agent.keyless.ranking import Candidate, Ranking, Scored

LEAST_COVERED = 0.43
"""Share of the question's weight below which nothing is answered. Coverage alone told answerable
from unanswerable questions better than any fitted mixture of eight features did, on the web that
was not fitted to."""
NEARLY = 1.0
"""Score by which a runner-up may be worse, of about 13, to be said too."""
CLOSEST, LONGEST_QUOTE = 3, 240
"""Passages shown with a refusal, and characters of each."""
OPENING = 2
"""Sentences that are given of a page that is asked about as a whole."""


def is_thin(ranking: Ranking, best: Scored | None) -> bool:
    """Too little of the question is said for an answer."""
    if best is None or best.covered < LEAST_COVERED:
        return True
    reason = ranking.question.kind is AnswerKind.REASON
    return reason and not has_kind(best.candidate.text, ranking.question)


def quoted(ranking: Ranking) -> str:
    """Give the answer: the best sentence, and a second one where the first alone may not do.

    That is the one that leads to it, for a second hop; else the runner-up if it is nearly as good.
    """
    whole = [x for x in ranking.scored if x.candidate.whole]
    best, others = whole[0], whole[1:2]
    said = [best.candidate]
    if best.bridge is not None:
        said.append(best.bridge)
    elif others and others[0].score >= best.score - NEARLY:
        said.append(others[0].candidate)
    return "\n\n".join(cited(candidate, ranking.question) for candidate in said)


def cited(candidate: Candidate, question: Question) -> str:
    """Give a sentence as it stands, or a row in words, with the passage that it is from."""
    return f"{worded(candidate, question)} [{candidate.passage.id}]"


def worded(candidate: Candidate, question: Question) -> str:
    """Say a table's row as `Header: value (row)`; a sentence as it stands.

    Of several columns those are said whose head the question names, else all.
    """
    passage = candidate.passage
    if passage.kind != "table":
        return candidate.text
    cells = cells_of(passage.text)
    head = cells_of(passage.heading.rpartition(" › ")[2])
    if len(head) != len(cells) or len(cells) == 1:
        return f"{cells[0]}: {', '.join(filter(None, cells[1:]))}" if cells[1:] else cells[0]
    asked = set(content_words(question.text))
    columns = [n for n in range(len(cells)) if cells[n] and head[n]]
    rows = [n for n in columns if set(content_words(cells[n])) & asked]
    row = rows[0] if rows else columns[0]
    others = [n for n in columns if n != row]
    named = [n for n in others if set(content_words(head[n])) & asked] or others
    values = ", ".join(f"{head[n]}: {cells[n]}" for n in named)
    return f"{values} ({cells[row]})"


def of_the_page(candidates: Sequence[Candidate], selection: str) -> str:
    """What the page in view says: the sentences that are selected, else those it opens with."""
    selected = frozenset(content_words(selection))
    whole = [c for c in candidates if c.whole and c.passage.kind != "table"]
    marked = [c for c in whole if selected and c.own <= selected]
    return " ".join(f"{c.text} [{c.passage.id}]" for c in (marked or whole)[:OPENING])


def refusal(ranking: Ranking, pages: int) -> str:
    """Say what the pages lack: words of the question that none of them says."""
    if not pages:
        return f"{NOT_FOUND} No page could be read that bears on the question."
    read = f"{NOT_FOUND} Of {pages} page{'s' if pages != 1 else ''} read"
    best = ranking.scored[0] if ranking.scored else None
    left = ranking.unmet(best.candidate) if best else []
    missing = f" says what is asked: {', '.join(left)}" if left else " says enough"
    return f"{read} none{missing}.{closest(ranking)}"


def beyond(task: str, ranking: Ranking) -> str:
    """Say that a request takes a language model, and show the passages that come closest."""
    said = (
        f"{NOT_FOUND} Without a language model only single facts are quoted: to {task} takes one."
    )
    return f"{said}{closest(ranking)}"


def closest(ranking: Ranking) -> str:
    """The closest sentences as such, each with its page; nothing where none comes near."""
    near = [x for x in ranking.scored if x.candidate.whole and x.covered >= LEAST_COVERED / 2]
    lines = [f"- “{_short(x.candidate.text)}” — {x.candidate.page}" for x in near[:CLOSEST]]
    return "\n\nClosest passages:\n\n" + "\n".join(lines) if lines else ""


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE].rsplit(' ', 1)[0]} …"
