"""Whether a passage holds a value: the number, the date, the words."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from agent.evidence.claims.tables import columns
from agent.evidence.language.dates import find_dates
from agent.evidence.language.figures import find_figures
from agent.evidence.language.normalise import tokenise
from agent.evidence.quotes import nearest_quote
from agent.evidence.verify import verify_claim
from agent.types import Verdict, VerdictState
from browser.text import content_words, sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent.types import Passage

_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?:T.*)?")
_WORD = re.compile(r"[^\W_]+")
SHORT = 80
"""Characters up to which a text is a name or a term, which has to stand there as it is."""


def held(value: Any, said: str, passages: Sequence[Passage], titles: Sequence[str]) -> Verdict:
    """Check a value against the passages cited for it; `said` is what the field is called.

    Numbers, dates and short texts have to stand there, names perhaps in the title of the page; of
    longer texts and of yes or no a verdict may stay open. The quote is a sentence of a passage,
    literally.
    """
    if not passages:
        return Verdict(VerdictState.UNCITED, reason="no passage of the run is cited")
    for passage in passages:
        quote = _quote(value, said, passage)
        if quote:
            return Verdict(VerdictState.SUPPORTED, quote, "it stands there", passage=passage.id)
    if isinstance(value, str) and any(stands_in(value, title) for title in titles):
        quote = nearest_quote(f"{said} {value}", passages)
        return Verdict(VerdictState.SUPPORTED, quote, "it stands in the title of the page")
    if _must_stand_there(value):
        reason = "it does not stand in what is cited for it"
        return Verdict(VerdictState.CONTRADICTED, "", reason)
    claim = value if isinstance(value, str) else f"{said}: {'yes' if value else 'no'}"
    verdict = verify_claim(claim, passages)
    quote = verdict.quote or nearest_quote(claim, passages)
    return Verdict(verdict.state, quote, verdict.reason, passage=verdict.passage)


def _quote(value: Any, said: str, passage: Passage) -> str:
    """Give the words that hold a value; of a row with a column for the field, only that counts."""
    field = frozenset(content_words(said.rpartition(" ")[2].replace("_", " ")))
    named = [(name, cell) for name, cell in columns(passage) if field & set(content_words(name))]
    if named:
        text = passage.text.strip()
        return text if any(stands_in(value, cell) for _, cell in named) else ""
    return next((s for s in _pieces(passage.text) if stands_in(value, s)), "")


def stands_in(value: Any, text: str) -> bool:
    """Tell whether a number, a date or words stand in a text, however they are written there."""
    if isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        return _number_stands(float(value), text)
    date = _DATE.fullmatch(value)
    return _date_stands(date, text) if date else _flat(value) in _flat(text)


def _must_stand_there(value: Any) -> bool:
    return not isinstance(value, bool) and (not isinstance(value, str) or len(value) <= SHORT)


def _number_stands(value: float, text: str) -> bool:
    tokens = tokenise(text)
    figures = (figure.value for figure in find_figures(tokens))
    years = (date.exact_year for date in find_dates(tokens))
    shares = (100 * value,) if 0 < value < 1 else ()
    near = (value, *shares)
    found = (*figures, *(float(year) for year in years if year is not None))
    return any(math.isclose(one, other, rel_tol=1e-9) for one in found for other in near)


def _date_stands(date: re.Match[str], text: str) -> bool:
    year, month, day = (int(part) if part else None for part in date.groups())
    return any(
        found.exact_year == year and month in (None, found.month) and day in (None, found.day)
        for found in find_dates(tokenise(text))
    )


def _flat(text: str) -> str:
    """Words alone, with a space at both ends, so that none is found inside another."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _pieces(text: str) -> Iterable[str]:
    """The sentences, then the whole."""
    yield from (text[span.start : span.end] for span in sentences(text))
    yield text.strip()
