"""Checks a claim against the passages that it cites, in three layers.

*Literal* finds claims that stand there word for word. *Values* lists figures, dates and names that
do not stand there, and reports a contradiction where the claim equals a sentence except for one
value or negation. A *judge* (a model), if there is one, decides everything else, with words that it
quotes: without words of the passages its *supported* or *contradicted* does not count. It may
overrule the values if they follow from those words, but never a literal match.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from agent.evidence.facts import extract_facts
from agent.evidence.literal import StatementIndex, check_literal, find_words, split_ellipses
from agent.evidence.units import quantities
from agent.evidence.values import cell_quantities, find_contradiction, underived, value_index
from agent.types import Passage, Verdict, VerdictState

Judge = Callable[[str, Sequence[Passage]], Verdict | None]
"""Decides a claim that does not stand in the passages literally. Returns a verdict with a literal
quote from one of them, or None if it does not decide."""

NO_WORDS = "the judge called it {state}, and quoted no words of the passages"
"""Reason where a judge's verdict does not count."""


def verify_claim(
    claim: str, passages: Sequence[Passage | str], judge: Judge | None = None
) -> Verdict:
    """Check one claim against passages (or plain strings): supported, contradicted or undecided.

    The verdict's quote stands literally in a passage. The reason of an undecided verdict names the
    values that were not found.
    """
    index = statement_index(tuple(passages), ())
    verdict = check_claim(claim, index)
    if judge is None or is_literal(verdict) or not index.passages:
        return verdict
    return with_judge(claim, verdict, judge(claim, index.passages), index.passages)


@functools.lru_cache(maxsize=64)
def statement_index(
    passages: tuple[Passage | str, ...], titles: tuple[tuple[int, str], ...]
) -> StatementIndex:
    """Build the index of some passages, cached; `titles` are (source number, page title) pairs."""
    return StatementIndex(passages, dict(titles))


def check_claim(claim: str, index: StatementIndex, texts: tuple[str, ...] = ()) -> Verdict:
    """Check a claim in code: literally, then by its values.

    Values are looked up in `texts`, the cited sources as a whole; without them in the passages.
    """
    if not claim.strip() or not index.statements:
        return Verdict(VerdictState.UNDECIDED, reason="there is nothing to compare")
    decided = check_literal(claim, index) or find_contradiction(claim, index)
    if decided is not None:
        return decided
    facts = extract_facts(claim)
    if not texts:
        texts = tuple(f"{passage.heading}\n{passage.text}" for passage in index.passages)
    missing = value_index(texts).missing(facts)
    reason = "it does not stand there in these words"
    if missing:
        reason = not_found(missing, "what is cited")
    elif facts.figures or facts.dates or facts.names:
        reason = "its figures, dates and names stand there, but not in these words"
    return Verdict(VerdictState.UNDECIDED, reason=reason, missing=missing)


def not_found(missing: Sequence[str], where: str) -> str:
    """Format the reason that some values of a claim do not stand in `where`."""
    quoted = [f"“{' '.join(value.split())}”" for value in missing]
    return f"{', '.join(quoted)} {'does' if len(quoted) == 1 else 'do'} not stand in {where}"


def is_literal(verdict: Verdict) -> bool:
    """Tell whether code found the claim word for word, which no judge may overrule."""
    return verdict.state is VerdictState.SUPPORTED and verdict.decided_by == "code"


def with_judge(
    claim: str,
    verdict: Verdict,
    judged: Verdict | None,
    passages: Sequence[Passage],
    titles: Sequence[str] = (),
) -> Verdict:
    """Combine code's verdict on a claim with a judge's, which counts only with quoted words.

    `passages` are all that it may quote, as well as the `titles` of pages. Without such words
    code's verdict stays, and the reason says so. Figures and dates that code did not find must
    follow from the words; names that do not stand there remain in `missing`.
    """
    if judged is None:
        return verdict
    cited = judged.quotes or (judged.quote,)
    found = find_quotes(cited, passages)
    in_titles = (find_words(quote, title) for quote in cited for title in titles)
    quotes = tuple(dict.fromkeys((*(quote for quote, _ in found), *filter(None, in_titles))))
    is_supported = judged.state.holds
    if not quotes and judged.state is VerdictState.DONE:  # that it was begun is on record
        return replace(judged, state=VerdictState.ATTEMPTED, quote="", decided_by="judge")
    if not quotes and (is_supported or judged.state is VerdictState.CONTRADICTED):
        reason = f"{verdict.reason}; {NO_WORDS.format(state=judged.state.value)}"
        return replace(verdict, reason=reason)
    quote, passage = max(found, key=lambda pair: len(pair[0]), default=("", None))
    final = replace(
        judged,
        quote=quote,
        quotes=quotes,
        decided_by="judge",
        passage=passage.id if passage else None,
        missing=(),
    )
    if not is_supported:
        return final
    values = dict.fromkeys((*verdict.missing, *_values_of_other_rows(claim, found, passages)))
    rows = [passage for _, passage in found if passage.kind == "table"]
    cells = [quantity for row in rows for quantity in cell_quantities(row)]
    unfounded = underived(values, [*quotes, *(row.text for row in rows)], cells)
    if unfounded:
        words = " and ".join(f"“{' '.join(quote.split())}”" for quote in quotes)
        reason = f"{not_found(unfounded, 'what is cited')}, and does not follow from {words}"
        return replace(final, state=VerdictState.UNDECIDED, reason=reason, missing=unfounded)
    return replace(final, missing=tuple(v for v in verdict.missing if not quantities(v)))


def find_quotes(quotes: Iterable[str], passages: Sequence[Passage]) -> list[tuple[str, Passage]]:
    """Find quotations in passages; returns the words as they stand there, and their passages.

    A quotation with an ellipsis is several.
    """
    found: list[tuple[str, Passage]] = []
    for quote in quotes:
        for part in split_ellipses(quote):
            pairs = ((find_words(part, passage.text), passage) for passage in passages)
            if pair := next((pair for pair in pairs if pair[0]), None):
                found.append(pair)
    return found


def _values_of_other_rows(
    claim: str, found: Sequence[tuple[str, Passage]], passages: Sequence[Passage]
) -> tuple[str, ...]:
    """Return the values of a claim that stand only in table rows which are not quoted.

    A row speaks of one thing: what another row says is not said of it. Nothing is returned where no
    row is quoted.
    """
    rows = {passage.id for _, passage in found if passage.kind == "table"}
    if not rows:
        return ()
    texts = (f"{p.heading}\n{p.text}" for p in passages if p.kind != "table" or p.id in rows)
    return value_index(tuple(texts)).missing(extract_facts(claim))
