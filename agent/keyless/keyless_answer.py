"""The final reply: the sentence that answers, cited, or a refusal that says why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.evidence.passages import cells_of, columns_of
from agent.keyless.candidates import BULLETS, MOST_ITEMS, has_kind
from agent.keyless.question import AnswerKind
from agent.protocol.replies import NOT_FOUND
from browser.extract.blocks import FOLDED
from browser.text.words import content_words, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.keyless.candidates import Candidate, Ranking, Scored

LEAST_COVERED, UNNAMED = 0.35, 0.15
"""Share of the question's weight below which nothing is answered, and what is added to it where the
question names something and no page about that was read. Of sixteen features this one alone told
unanswerable questions better on unseen halves; without it 33 of 60 are refused where 42 are."""
LEAST_SAID = 0.25
"""Share of the question's weight that the sentence itself, what heads it, its page's title or the
sentence before it on the way must say: what only stands nearby is no answer. On two closed webs no
right answer of 340 says less; the most that loses none is .30 on one and .33 on the other."""
NEARLY = 2.5
"""Score by which a runner-up in the same passage may be worse, of about 14, to be said too. One in
another passage helped 2 of 40 answers."""
CLOSEST, LONGEST_QUOTE = 3, 240
"""Passages shown with a refusal, and characters of each."""
OPENING = 2
"""Sentences that are given of a page that is asked about as a whole."""


def is_thin(ranking: Ranking, best: Scored | None) -> bool:
    """Too little of the question is said for an answer."""
    if best is None or best.covered < LEAST_COVERED + (0 if ranking.named else UNNAMED):
        return True
    said = best.candidate.said | (best.bridge.said if best.bridge else frozenset())
    if ranking.covers(said) < LEAST_SAID:
        return True
    reason = ranking.question.kind is AnswerKind.REASON
    lacking = reason and not has_kind(best.candidate.text, ranking.question)
    return lacking or not ranking.says_role(best)


def quoted(ranking: Ranking) -> str:
    """Give the answer: the best sentence, and a second one where the first alone may not do.

    That is the one that leads to it, for a second hop; else the runner-up if it is nearly as good.
    """
    best, *others = (x for x in ranking.scored if x.candidate.whole)
    said = [best.candidate]
    if best.bridge is not None:
        said.append(best.bridge)
    elif others and others[0].score >= best.score - NEARLY:
        second = others[0].candidate
        said += [second] if second.passage.id == said[0].passage.id else []
    return "\n\n".join(cited(candidate, ranking) for candidate in said)


def cited(candidate: Candidate, ranking: Ranking) -> str:
    """Give a sentence as it stands, or a row in words, with the passage that it is from.

    What it leads to, ending with a colon, follows: the items of a list, or the lines of code.
    """
    said = [f"{worded(candidate, ranking)} [{candidate.passage.id}]"]
    for passage in candidate.then:
        text = passage.text.removeprefix(FOLDED)
        lines = [line for line in text.split("\n") if line.strip()][:MOST_ITEMS]
        code = passage.kind == "text" and not text.rstrip().endswith(".")
        texts = [f"- `{line}`" if code else f"- {line.lstrip(BULLETS)}" for line in lines]
        said += [f"{text} [{passage.id}]" for text in texts]
    return said[0] if len(said) == 1 else f"{said[0]}\n\n" + "\n".join(said[1:])


def worded(candidate: Candidate, ranking: Ranking) -> str:
    """Say a table's row as `Header: value (row)`; a sentence as it stands.

    The row is told by those of its cells that the question names, else by its first. Of several
    columns those are said whose name the question has, if the kind of answer is there, else all.
    """
    passage, question = candidate.passage, ranking.question
    if passage.kind != "table":
        return _plain(candidate.text)
    columns = [(head, cell) for head, cell in columns_of(passage) if cell]
    if len(columns) <= 2:
        cells = [cell for cell in cells_of(passage.text) if cell]
        return f"{cells[0]}: {', '.join(cells[1:])}" if cells[1:] else cells[0]
    terms = set(question.terms)
    keys = [pair for pair in columns if terms & set(content_words(pair[1]))]
    if not keys or len(keys) == len(columns):
        keys = columns[:1]
    others = [pair for pair in columns if pair not in keys]
    asking = set(words(question.text))
    forms = terms.union(*(ranking.forms[term] for term in terms))
    exact = [pair for pair in others if set(words(pair[0])) <= asking]
    named = exact or [pair for pair in others if forms & set(content_words(pair[0]))]
    if not named or not has_kind(" ".join(cell for _, cell in named), question):
        named = others
    values = ", ".join(f"{head}: {cell}" if head else cell for head, cell in named)
    return f"{values} ({', '.join(cell for _, cell in keys)})"


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
    """The closest sentences as such, each cited; nothing where none comes near."""
    near = [x for x in ranking.scored if x.candidate.whole and x.covered >= LEAST_COVERED / 2]
    closest = [x.candidate for x in near[:CLOSEST]]
    lines = [f"- “{_short(_plain(c.text))}” [{c.passage.id}]" for c in closest]
    return "\n\nClosest passages:\n\n" + "\n".join(lines) if lines else ""


def _plain(text: str) -> str:
    """Without the marks of Markdown for bold type, of which a cut sentence may hold one alone."""
    return text.replace("**", "").strip()


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE].rsplit(' ', 1)[0]} …"
