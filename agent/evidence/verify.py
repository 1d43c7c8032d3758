"""Checks a claim against the passages that it cites, in layers.

*Literal* finds claims that occur there word for word. *Values* lists figures, dates and names that
do not occur there, and reports a contradiction if the claim equals a sentence except for one value
or negation. A *judge* (a model), if there is one, decides everything else. Its verdict *supported*
or *contradicted* counts only if it quotes words from the passages that are about the claim. The
judge may override the value checks if the values follow from those words, but never an exact match.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from agent.evidence.facts import extract_facts, quantities
from agent.evidence.literal import StatementIndex, check_literal, find_words, split_ellipses
from agent.evidence.passages import sentence_index
from agent.evidence.values import (
    cell_quantities,
    find_contradiction,
    find_mismatched_numbers,
    find_underived_values,
    value_index,
)
from agent.types import Passage, Verdict, VerdictState
from browser.text.sentences import sentences

Judge = Callable[[str, Sequence[Passage]], Verdict | None]
"""Decides a claim that does not occur in the passages verbatim. Returns a verdict with a verbatim
quote from one of them, or None if it does not decide.
"""

Rule = Callable[[str, StatementIndex], Verdict | None]
RULES: Mapping[str, Rule] = {"literal": check_literal, "values": find_contradiction}
"""The checks in code, by layer, as in docs/verification.md; the first verdict takes precedence."""

CITED = "the cited text"
"""Placeholder for the sources in a reason; a report replaces it with their numbers."""
NOTHING_QUOTED = "the judge called it {state}, but quoted nothing from the passages"
QUOTE_OFF_TOPIC = "the judge called it {state}, but quoted {words}, which is not about the claim"
"""Reasons for not counting a judge's verdict."""


def verify_claim(
    claim: str, passages: Sequence[Passage | str], judge: Judge | None = None
) -> Verdict:
    """Check one claim against passages (or plain strings): supported, contradicted or undecided.

    The verdict's quote occurs verbatim in a passage. The reason for an undecided verdict lists the
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
    """Build the index of passages (cached); `titles` are (source number, page title) pairs."""
    return StatementIndex(passages, dict(titles))


def check_claim(claim: str, index: StatementIndex, texts: tuple[str, ...] = ()) -> Verdict:
    """Check a claim in code: literally, then by its values.

    Values are looked up in `texts` (the full cited sources) or, without them, in the passages.
    """
    if not claim.strip() or not index.statements:
        return Verdict(VerdictState.UNDECIDED, reason="there is nothing to compare it with")
    for rule in RULES.values():
        if (decided := rule(claim, index)) is not None:
            return decided
    facts = extract_facts(claim)
    if not texts:
        texts = tuple(f"{passage.heading}\n{passage.text}" for passage in index.passages)
    missing = value_index(texts).missing(facts)
    reason = f"this wording does not appear in {CITED}"
    if missing:
        reason = not_found(missing, CITED)
    elif facts.figures or facts.dates or facts.names:
        reason = f"{CITED} contains its figures, dates and names, but not this wording"
    return Verdict(VerdictState.UNDECIDED, reason=reason, missing=missing)


def not_found(missing: Sequence[str], where: str) -> str:
    """Format the reason for values of a claim that do not occur in `where`."""
    quoted = [f"“{' '.join(value.split())}”" for value in missing]
    return f"{', '.join(quoted)} {'does' if len(quoted) == 1 else 'do'} not appear in {where}"


def is_literal(verdict: Verdict) -> bool:
    """Return whether the claim was found word for word, a verdict that no judge may override."""
    return verdict.state is VerdictState.SUPPORTED and verdict.decided_by == "code"


def with_judge(
    claim: str,
    verdict: Verdict,
    judged: Verdict | None,
    passages: Sequence[Passage],
    titles: Sequence[str] = (),
) -> Verdict:
    """Combine the checks' verdict on a claim with a judge's, which counts only if it quotes words.

    The judge may quote only from `passages` and page `titles`. The words must be about the claim
    (`SentenceIndex.is_relevant_to`). Without such words, `verdict` is kept, and the reason mentions
    this. Figures and dates that `verdict` lists as missing must follow from the words; names that
    were not found remain in `missing`.
    """
    if judged is None:
        return verdict
    found = find_quotes(judged, passages)
    in_titles = find_in_titles(judged, titles)
    quotes = tuple(dict.fromkeys((*(quote for quote, _ in found), *in_titles)))
    # the record shows that the action was started
    if judged.state is VerdictState.DONE and not quotes:
        return replace(judged, state=VerdictState.ATTEMPTED, quote="", decided_by="judge")
    if not verdict_counts(claim, judged, passages, titles):
        if judged.state is verdict.state:  # code found words on the page for the same verdict
            return verdict
        reason = QUOTE_OFF_TOPIC if quotes else NOTHING_QUOTED
        reason = reason.format(state=judged.state.value, words=join_quotes(quotes))
        return replace(verdict, reason=f"{verdict.reason}; {reason}")
    quote, passage = max(found, key=lambda pair: len(pair[0]), default=("", None))
    final = replace(
        judged,
        quote=quote,
        quotes=quotes,
        decided_by="judge",
        passage=passage.id if passage else None,
        missing=(),
    )
    return (
        _check_judged_values(claim, verdict, final, found, passages) if final.state.holds else final
    )


def _check_judged_values(
    claim: str,
    verdict: Verdict,
    judged: Verdict,
    found: Sequence[tuple[str, Passage]],
    passages: Sequence[Passage],
) -> Verdict:
    """Check that a claim's figures and dates follow from the words the judge quoted for it."""
    values = dict.fromkeys((*verdict.missing, *_values_of_other_rows(claim, found, passages)))
    rows = [passage for _, passage in found if passage.kind == "table"]
    cells = [quantity for row in rows for quantity in cell_quantities(row)]
    unfounded = find_underived_values(values, [*judged.quotes, *(row.text for row in rows)], cells)
    if unfounded:
        verb = "does" if len(unfounded) == 1 else "do"
        where = f"{verb} not follow from {join_quotes(judged.quotes)}"
        reason = f"{not_found(unfounded, CITED)}, and {where}"
        return replace(judged, state=VerdictState.UNDECIDED, reason=reason, missing=unfounded)
    if others := find_mismatched_numbers(claim, _sentences_of(found) or judged.quotes):
        reason = (
            f"{join_quotes(others)}: the quoted words have a different number: "
            f"{join_quotes(judged.quotes)}"
        )
        return replace(judged, state=VerdictState.UNDECIDED, reason=reason, missing=others)
    return replace(judged, missing=tuple(v for v in verdict.missing if not quantities(v)))


def join_quotes(quotes: Iterable[str]) -> str:
    """Put quotations in quotation marks, each on one line, joined by “and”."""
    return " and ".join(f"“{' '.join(quote.split())}”" for quote in quotes)


def verdict_counts(
    claim: str, judged: Verdict, passages: Sequence[Passage], titles: Sequence[str] = ()
) -> bool:
    """Return whether a judge's verdict counts.

    A verdict that supports or contradicts a claim must quote words about the claim from the
    passages or titles.
    """
    if judged.state not in (VerdictState.SUPPORTED, VerdictState.CONTRADICTED):
        return True
    quotes: list[tuple[str, Passage | None]] = [*find_quotes(judged, passages)]
    quotes += ((words, None) for words in find_in_titles(judged, titles))
    index = sentence_index(tuple(passages), tuple(titles))
    if not quotes or index.is_relevant_to(claim, quotes):
        return bool(quotes)
    # Words with the claim's quantities count too: `400 ml water` is about 0.4 litres of water.
    facts = extract_facts(claim)
    quoted = tuple(words for words, _ in quotes)
    figures = [figure for words in quoted for figure in extract_facts(words).figures]
    dimensions = {figure.unit.dimension for figure in figures if figure.unit}
    quantities = [(figure, figure.unit.dimension) for figure in facts.figures if figure.unit]
    values = value_index(quoted)
    has_all = all(kind in dimensions and values.has_figure(figure) for figure, kind in quantities)
    return bool(quantities) and has_all and not values.missing(facts)


def find_quotes(judged: Verdict, passages: Sequence[Passage]) -> list[tuple[str, Passage]]:
    """Find a verdict's quotations in passages; returns (matching words, passage) pairs.

    A quotation with ellipses is treated as several quotations.
    """
    found: list[tuple[str, Passage]] = []
    for quote in judged.quotes or (judged.quote,):
        for part in split_ellipses(quote):
            pairs = ((find_words(part, passage.text), passage) for passage in passages)
            if pair := next((pair for pair in pairs if pair[0]), None):
                found.append(pair)
    return found


def find_in_titles(judged: Verdict, titles: Iterable[str]) -> list[str]:
    """Find a verdict's quotations in page titles; returns them as they appear there."""
    quotes = judged.quotes or (judged.quote,)
    return [words for title in titles for quote in quotes if (words := find_words(quote, title))]


def _sentences_of(found: Iterable[tuple[str, Passage]]) -> list[str]:
    """Return the complete sentences or table rows that contain the quoted words."""
    said: list[str] = []
    for quote, passage in found:
        is_row = passage.kind == "table"
        spans = [(0, len(passage.text))] if is_row else sentences(passage.text)
        parts = (passage.text[start:end] for start, end in spans)
        said += (part for part in parts if quote in part or part.strip() in quote)
    return said


def _values_of_other_rows(
    claim: str, found: Sequence[tuple[str, Passage]], passages: Sequence[Passage]
) -> tuple[str, ...]:
    """Return a claim's values that occur only in table rows that are not quoted.

    Each row is about one thing, so values in other rows do not apply to it. If no row is quoted,
    the result is empty.
    """
    rows = {passage.id for _, passage in found if passage.kind == "table"}
    if not rows:
        return ()
    texts = (f"{p.heading}\n{p.text}" for p in passages if p.kind != "table" or p.id in rows)
    return value_index(tuple(texts)).missing(extract_facts(claim))
