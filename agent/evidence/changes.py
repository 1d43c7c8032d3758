"""Compares quoted words with a later version of their page."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from agent.evidence.facts import extract_facts, is_month
from agent.evidence.literal import StatementIndex, check_literal, find_words
from agent.evidence.passages import HEADING_SEPARATOR, named_cells, split_row
from agent.evidence.tokens import is_negation, token_keys, tokenize, word_tokens
from agent.evidence.units import is_rounded
from agent.evidence.values import find_contradiction, value_index
from agent.types import Passage, Verdict, VerdictState
from browser.text.words import BM25, content_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.evidence.literal import Statement
    from agent.evidence.tokens import Token
    from agent.types import CheckState

MIN_REPLACED_SHARE = 0.35
"""Minimum share of the missing words, weighted by rarity, in a sentence that replaces them.

In 60 sentences by an author who did not know the rules, the most similar new sentence contains .39
or more of a replaced sentence's words, and at most .20 of a removed one's.
"""
MIN_REPLACED_SHARE_IN_PLACE = 0.15
"""The same for a sentence in the old one's position: .22 or more if replaced, .05 if removed."""
MIN_MISSPELT = 5
"""Minimum letters in a misspelt word: shorter words that differ are usually different words."""
MAX_DENYING_WORDS = 4
"""Maximum number of words that a negation adds, removes or replaces: `no longer`, `does not have to
be`.
"""


@dataclass(frozen=True, slots=True)
class LaterWording:
    """The wording in a later version of a page that corresponds to a quote.

    `old` is the wording that the later version no longer contains. `new` is the wording in the
    later version: the same words or their replacement. `heading` is the heading that the words
    moved to, and `passage` is the id of the passage that contains them.
    """

    state: CheckState
    old: str = ""
    new: str = ""
    heading: str = ""
    passage: str = ""
    reason: str = ""


def compare_words(
    claim: str, quote: str, before: Sequence[Passage], after: Sequence[Passage]
) -> LaterWording:
    """Look for a claim's quote in a later version of the page it came from.

    `before` contains the passages of the earlier version. It is empty if that version was not
    saved; the quote's heading and the rest of the page are then unknown.
    """
    index = StatementIndex(after)
    old_passage = next((passage for passage in before if quote in passage.text), None)
    kind = old_passage.kind if old_passage else ("table" if len(split_row(quote)) > 1 else "text")
    statements = StatementIndex([Passage("", 0, quote, kind=kind)]).statements
    verdicts = [(one.quote.strip(), find_literally(one.quote, index)) for one in statements]
    lost = [(words, verdict) for words, verdict in verdicts if not _is_supported(verdict)]
    if not lost:
        return _compare_heading(old_passage, index, [verdict for _, verdict in verdicts if verdict])
    old, verdict = lost[0]
    if verdict is not None:  # the words are still there, but are now denied or qualified
        if _is_preceded_by_exception(old, verdict.quote):
            return _compare_heading(old_passage, index, [verdict])
        is_denied = any(map(is_negation, _added_words(old, verdict.quote)))
        state: CheckState = "contradicted" if is_denied else "changed"
        return LaterWording(state, old, verdict.quote, "", verdict.passage or "", verdict.reason)
    new = _replacement(old, StatementIndex(before), index)
    if new is not None and _is_respelling(old, new.quote):
        same = Verdict(VerdictState.SUPPORTED, new.quote.strip(), passage=new.passage.id)
        return _compare_heading(old_passage, index, [same])
    verdict = find_contradiction(claim, index)
    if new is not None and verdict is None:
        verdict = _denial(claim, old, new)
    if verdict is not None:
        return LaterWording(
            "contradicted", old, verdict.quote, "", verdict.passage or "", verdict.reason
        )
    if new is None:
        return LaterWording("gone", old, reason="the text is no longer on the page")
    values = _lost_values(claim, old, new.quote)
    quoted = ", ".join(f"“{value}”" for value in values)
    verb = "are" if len(values) > 1 else "is"
    reason = f"{quoted} {verb} no longer there" if values else "the wording has changed"
    return LaterWording("changed", old, new.quote.strip(), "", new.passage.id, reason)


def passages_in_place(
    words: str, before: Sequence[Passage], after: Sequence[Passage]
) -> list[Passage]:
    """Return the later version's passages in the quote's position, the most likely first."""
    at = next((n for n, passage in enumerate(before) if words in passage.text), None)
    if at is None:
        return []
    old, new = ([" ".join(token_keys(p.text)) for p in read] for read in (before, after))
    for _, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if a <= at < b:
            likely = c + (at - a) / (b - a) * (d - c)
            return sorted(after[c:d], key=lambda passage: abs(after.index(passage) - likely))
    return []


def supporting_quotes(claim: str, quotes: Sequence[str], judged: Sequence[str] = ()) -> list[str]:
    """Return a source's quotes that support a claim, literally or as quoted by the judge.

    If no quote supports it, return the most similar one.
    """
    named = [[quote for quote in quotes if find_words(words, quote)] for words in judged]
    if found := dict.fromkeys(min(some, key=len) for some in named if some):
        return list(found)
    literal = [
        quote for quote in quotes if _is_supported(find_literally(claim, StatementIndex([quote])))
    ]
    if literal or len(quotes) < 2:
        return literal or list(quotes)
    wanted = set(content_words(claim))
    return [max(quotes, key=lambda quote: len(wanted & set(content_words(quote))))]


def find_literally(words: str, index: StatementIndex) -> Verdict | None:
    """Look for words in passages, like `check_literal`, but without a minimum number of words."""
    verdict = check_literal(words, index)
    if verdict is not None:
        return verdict
    for passage in index.passages:
        if found := find_words(words, passage.text):
            return Verdict(VerdictState.SUPPORTED, found, passage=passage.id)
    return None


def _is_supported(verdict: Verdict | None) -> bool:
    return verdict is not None and verdict.state is VerdictState.SUPPORTED


def _compare_heading(
    old: Passage | None, index: StatementIndex, verdicts: Sequence[Verdict]
) -> LaterWording:
    """Compare the current position of a quote's words with their old heading.

    The words have moved if they are under another heading and the old heading is still on the page.
    If the old heading is no longer there, it is assumed to have been renamed.
    """
    words, found = verdicts[0].quote, verdicts[0].passage or ""
    places = [passage for passage in index.passages if find_words(words, passage.text)]
    places = places or [passage for passage in index.passages if passage.id == found]
    if old is None or not places:
        return LaterWording("stands", new=words, passage=found)
    here = next((one for one in places if _section(one) == _section(old)), places[0])
    columns = [named_cells(passage) for passage in (old, here)]
    if all(columns) and columns[0] != columns[1] and old.kind == here.kind == "table":
        rows = ["; ".join(map(": ".join, cells)) for cells in columns]
        return LaterWording(
            "changed", rows[0], rows[1], "", here.id, "its columns have been renamed"
        )
    sections = map(_section, index.passages)
    has_both = _section(here) and _section(old) in (set(sections) - {""})
    if not has_both or _section(here) == _section(old):
        return LaterWording("stands", new=words, passage=here.id)
    heading = _headings(here)
    return LaterWording(
        "moved", new=words, heading=heading, passage=here.id, reason=f"it is now under “{heading}”"
    )


def _headings(passage: Passage) -> str:
    """Return the headings above a passage, without the column names of a table."""
    has_columns = bool(named_cells(passage))
    return passage.heading.rpartition(HEADING_SEPARATOR)[0] if has_columns else passage.heading


def _section(passage: Passage) -> str:
    return " ".join(token_keys(_headings(passage).rpartition(HEADING_SEPARATOR)[2]))


def _added_words(old: str, new: str) -> list[str]:
    """Return the words in `new` that are not in `old`."""
    known = set(token_keys(old))
    return [key for key in token_keys(new) if key not in known]


def _replacement(old: str, before: StatementIndex, after: StatementIndex) -> Statement | None:
    """Find the statement that replaced the old words.

    Statements that were already on the page are not replacements.
    """
    keys = tuple(token_keys(old))
    known = {statement.keys for statement in before.statements} - {keys}
    others = [
        one
        for one in after.statements
        if one.keys and one.keys not in known and one.passage.kind != "heading"
    ]
    texts = [one.quote for one in (*before.statements, *after.statements)]
    rarity = BM25(map(content_words, texts))
    weights = {word: rarity.idf(word) for word in content_words(old)}
    total = sum(weights.values()) or 1.0

    def likeness(one: Statement) -> float:
        return SequenceMatcher(None, keys, one.keys, autojunk=False).ratio()

    def shared(one: Statement) -> float:
        return sum(weights[word] for word in weights.keys() & content_words(one.quote)) / total

    best = max(others, key=lambda one: (shared(one), likeness(one)), default=None)
    if best is not None and shared(best) >= MIN_REPLACED_SHARE:
        return best
    in_place = _statements_in_place(keys, before.statements, after.statements)
    best = max((one for one in others if one in in_place), key=shared, default=None)
    return best if best is not None and shared(best) >= MIN_REPLACED_SHARE_IN_PLACE else None


def _statements_in_place(
    keys: Sequence[str], before: Sequence[Statement], after: Sequence[Statement]
) -> list[Statement]:
    """Return the statements that took the place of an old one, between the same neighbours."""
    old, new = [one.keys for one in before], [one.keys for one in after]
    found: list[Statement] = []
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "replace" and tuple(keys) in old[a:b]:
            found += after[c:d]
    return found


def _is_preceded_by_exception(old: str, new: str) -> bool:
    """Return whether only an exception now precedes the old words: `Not counting the annexe, …`."""
    before, mark, _ = new.partition(",")
    keys = token_keys(before)
    return (
        bool(mark and not find_words(old, before) and find_words(old, new))
        and len(keys) > 1
        and is_negation(keys[0])
        and keys[1].endswith("ing")
        and not any(map(is_negation, keys[1:]))
    )


def _is_respelling(old: str, new: str) -> bool:
    """Return whether two strings differ only in hyphens and spaces, or in one misspelt word.

    Only a doubled letter or two swapped letters count as a misspelling. Other differences too often
    result in a different word, such as `county` and `country`.
    """
    words = [[token.key for token in word_tokens(tokenize(text))] for text in (old, new)]
    if "".join(words[0]) == "".join(words[1]):
        return True
    if len(words[0]) != len(words[1]):
        return False
    pairs = [(a, b) for a, b in zip(*words, strict=True) if a != b]
    return len(pairs) == 1 and _is_misspelling(*pairs[0])


def _is_misspelling(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if len(short) < MIN_MISSPELT or not (one + other).isalpha():
        return False
    start = next(
        (at for at, pair in enumerate(zip(short, long, strict=False)) if len({*pair}) > 1), -1
    )
    start = len(short) if start < 0 else start
    left, right = short[start:], long[start:]
    is_doubled = left == right[1:] and right[0] in (long[start - 1 : start], right[1:2])
    return is_doubled or (left[:2] == right[1::-1] and left[2:] == right[2:])


def _denial(claim: str, old: str, new: Statement) -> Verdict | None:
    """Return a verdict if the new words contradict the old ones, otherwise None.

    The new words are a contradiction if the only difference is a negation or one of the claim's
    values.
    """
    before, after = (word_tokens(tokenize(words)) for words in (old, new.quote))
    keys, others = [word.key for word in before], [word.key for word in after]
    opcodes = SequenceMatcher(None, keys, others, autojunk=False).get_opcodes()
    places = [place for place in opcodes if place[0] != "equal"]
    if len(places) != 1:
        return None
    _, a, b, c, d = places[0]
    gone, came = before[a:b], after[c:d]
    is_value = bool(gone and came) and all(
        any(map(str.isdigit, word.key)) or is_month(word.key) or word.capital
        for word in (*gone, *came)
    )
    if is_value and _lost_values(claim, old, new.quote) and not _is_near(gone, came):
        was, now = (
            text[words[0].start : words[-1].end] for text, words in ((old, gone), (new.quote, came))
        )
        reason = f"“{was}” became “{now}”"
    elif len(gone) + len(came) <= MAX_DENYING_WORDS and _negation_parity(gone) != _negation_parity(
        came
    ):
        reason = "a negation was added" if _negation_parity(came) else "a negation was removed"
    else:
        return None
    return Verdict(VerdictState.CONTRADICTED, new.quote.strip(), reason, passage=new.passage.id)


def _negation_parity(words: Sequence[Token]) -> int:
    return sum(is_negation(word.key) for word in words) % 2


def _is_near(before: Sequence[Token], after: Sequence[Token]) -> bool:
    """Return whether one figure is a rounded form of the other."""
    if len(before) != len(after):
        return False
    pairs = [(a.value, b.value) for a, b in zip(before, after, strict=True) if a.key != b.key]
    return all(a is not None and b is not None and is_rounded(a, b) for a, b in pairs)


def _lost_values(claim: str, old: str, new: str) -> list[str]:
    """Return the claim's values that occur in the old words but not in the new ones."""
    facts = extract_facts(claim)
    missing_before = value_index((old,)).missing(facts)
    return [value for value in value_index((new,)).missing(facts) if value not in missing_before]
