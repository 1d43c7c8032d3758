"""Checking a claim against the passages that it cites, in three layers.

*Literal* says what stands there; *values* names the figures, dates and names that do not, and calls
contradicted only what equals a sentence of the page but for one value or one denial; a *judge*, if
there is one, decides everything else. It may overrule the values, never what is literal.
"""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, Protocol

from agent.evidence.facts import BOUNDS, Known, facts_of, month_named, rounds
from agent.evidence.literal import Ground, check_literal
from agent.evidence.wording import denies, tokens_of, words_of
from agent.types import Passage, Verdict, VerdictState
from browser.text.words import STOP_WORDS, stem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.evidence.literal import Statement
    from agent.evidence.wording import Token

KEPT_GROUNDS = 64
"""Sets of passages whose analysis is kept; the sentences of an answer share a few."""
LONGEST_VALUE = 5
"""Words of a value: `4 May 1811`, `the Bishop of Lund`."""
FEWEST_SHARED = 4
"""Words that a claim shares with a sentence which it equals but for one value."""
SAYING_SO = 0.5
"""Share of a claim's words in another sentence of the passage that may carry its value."""

_DOING = frozenset({"do", "does", "did"})
_LIMITING = frozenset("only just merely even until least always necessarily all every both".split())
"""Words with which `not` denies less than the sentence."""


class Judge(Protocol):
    """Decides a claim from the passages, where it does not stand there literally."""

    def __call__(self, claim: str, passages: Sequence[Passage]) -> Verdict | None:
        """Give a verdict whose quote stands literally in one of the passages; None for none."""
        ...


def verify_claim(
    claim: str, passages: Sequence[Passage | str], judge: Judge | None = None
) -> Verdict:
    """Check one claim against passages (or plain strings): supported, contradicted, undecided.

    The verdict's quote stands literally in a passage; the reason of an undecided one names the
    values that were not found.
    """
    ground = ground_of(tuple(passages), ())
    verdict = check_claim(claim, ground)
    if judge is None or is_literal(verdict) or not ground.passages:
        return verdict
    return judged(judge(claim, ground.passages), ground.passages) or verdict


@functools.lru_cache(maxsize=KEPT_GROUNDS)
def ground_of(passages: tuple[Passage | str, ...], titles: tuple[tuple[int, str], ...]) -> Ground:
    """Analyse passages, once; `titles` are those of their pages, by the number of the source."""
    return Ground(passages, dict(titles))


@functools.lru_cache(maxsize=KEPT_GROUNDS)
def known_of(texts: tuple[str, ...]) -> Known:
    """Read the values of some texts, once."""
    return Known(texts)


def check_claim(claim: str, ground: Ground, texts: tuple[str, ...] = ()) -> Verdict:
    """Check a claim in code: literally, then by its values.

    `texts` are where values are looked for beside the passages: the cited sources as a whole.
    """
    if not claim.strip() or not ground.statements:
        return Verdict(VerdictState.UNDECIDED, reason="there is nothing to compare")
    literal = check_literal(claim, ground)
    if literal is not None:
        return literal
    wrong = one_value_wrong(claim, ground)
    if wrong is not None:
        return wrong
    facts = facts_of(claim)
    own = tuple(f"{passage.heading}\n{passage.text}" for passage in ground.passages)
    missing = known_of(texts or own).missing(facts)
    found = len(facts.figures) + len(facts.dates) + len(facts.names) - len(missing)
    if missing:
        reason = not_found(missing, "what is cited")
    elif found:
        reason = "its figures, dates and names stand there, but not in these words"
    else:
        reason = "it does not stand there in these words"
    return Verdict(VerdictState.UNDECIDED, reason=reason, missing=missing)


def not_found(missing: Sequence[str], where: str) -> str:
    """Say which values of a claim do not stand in `where`."""
    quoted = [f"“{' '.join(value.split())}”" for value in missing]
    return f"{', '.join(quoted)} {'does' if len(quoted) == 1 else 'do'} not stand in {where}"


def is_literal(verdict: Verdict) -> bool:
    """Tell whether code found the claim's words there, which no judge overrules."""
    return verdict.state is VerdictState.SUPPORTED and verdict.decided_by == "code"


def judged(verdict: Verdict | None, passages: Sequence[Passage]) -> Verdict | None:
    """Take a judge's verdict; a quote that stands nowhere is not passed on."""
    if verdict is None:
        return None
    carrying = (p.id for p in passages if verdict.quote and verdict.quote in p.text)
    passage = next(carrying, None)
    quote = verdict.quote if passage else ""
    return Verdict(verdict.state, quote, verdict.reason, "judge", passage)


def one_value_wrong(claim: str, ground: Ground) -> Verdict | None:
    """Call a claim contradicted that equals a sentence of the page but for one value or denial.

    None where there is no such sentence, or where the value may be meant otherwise: a figure behind
    `about`, one that rounds the other, two names that share a word, a value that another sentence
    of the passage gives to the same matter.
    """
    words = words_of(tokens_of(claim))
    for statement in ground.statements:
        shared = len({word.key for word in words} & set(statement.keys))
        found = _difference(words, statement) if shared >= FEWEST_SHARED else None
        if found is None:
            continue
        mine, theirs = found
        reason = _clash(mine, theirs, words, statement)
        if reason and not _said_elsewhere(mine, words, statement, ground):
            quote, where = statement.quote.strip(), statement.passage.id
            reason = f"{reason}: “{' '.join(quote.split())}”"
            return Verdict(VerdictState.CONTRADICTED, quote, reason, passage=where)
    return None


Span = tuple[int, int]


def _difference(words: Sequence[Token], statement: Statement) -> tuple[Span, Span] | None:
    """Find the only place where a claim differs from a clause of a statement: in both, as indices.

    One of the two may be empty; more than `LONGEST_VALUE` words are no one value.
    """
    mine, theirs = [word.key for word in words], statement.keys
    for start in _clauses(statement):
        head = _common(mine, theirs[start:])
        if head < len(mine) and start + head <= len(theirs):
            found = _rejoined(mine, theirs, head, start + head)
            if found and len(mine) - (found[0][1] - found[0][0]) >= FEWEST_SHARED:
                ends = found[0][1] == len(mine)
                return found[0], _whole(found[1], statement.words) if ends else found[1]
    return None


def _rejoined(
    mine: Sequence[str], theirs: Sequence[str], i: int, j: int
) -> tuple[Span, Span] | None:
    """Find the fewest words after which both go on alike up to the claim's end."""
    lengths = itertools.product(range(LONGEST_VALUE + 1), repeat=2)
    for a, b in sorted(lengths, key=sum)[1:]:
        rest = mine[i + a :]
        if i + a > len(mine) or j + b > len(theirs) or not (rest or a):
            continue
        if list(theirs[j + b : j + b + len(rest)]) == list(rest) and (rest or b):
            return (i, i + a), (j, j + b)
    return None


def _whole(span: Span, words: Sequence[Token]) -> Span:
    """Extend the page's place to the whole name or date of which it is a part."""
    first, end = span
    for of_kind in (_is_dated, _is_name):
        while first < end < len(words) and of_kind(words[end - 1]) and of_kind(words[end]):
            end += 1
    return first, min(end, first + LONGEST_VALUE)


def _clauses(statement: Statement) -> list[int]:
    """Give the indices of the words at which a sentence or a clause of it begins."""
    found, word = [0], 0
    for token in statement.tokens:
        if token.kind != "mark":
            word += 1
        elif token.key in ",;:–—(|":
            found.append(word)
    return [start for start in dict.fromkeys(found) if start < len(statement.keys)]


def _common(mine: Sequence[str], theirs: Sequence[str]) -> int:
    pairs = zip(mine, theirs, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def _clash(mine: Span, theirs: Span, words: Sequence[Token], statement: Statement) -> str:
    """Say how two differing places exclude each other; empty where they may not."""
    own, other = words[slice(*mine)], statement.words[slice(*theirs)]
    if _denial(own, other, words[mine[1] : mine[1] + 1]):
        return f"the page says it without “{next(w.key for w in own if denies(w.key))}”"
    if _denial(other, own, statement.words[theirs[1] : theirs[1] + 1]):
        return f"the page says it with “{next(w.key for w in other if denies(w.key))}”"
    printed = statement.passage.text[other[0].start : other[-1].end] if own and other else ""
    if not printed or not _ends_alike(mine, theirs, words, statement):
        return ""
    bounded = any(word.key in BOUNDS for word in words[max(0, mine[0] - 2) : mine[0]])
    if all(map(_is_dated, own)) and all(map(_is_dated, other)) and not bounded:
        return f"the page has “{printed}” there" if _other_figures(own, other) else ""
    if all(map(_is_name, own)) and all(map(_is_name, other)) and mine[0] > 0:
        whole = _name_around(mine, words), _name_around(theirs, statement.words)
        return f"the page has “{printed}” there" if not whole[0] & whole[1] else ""
    return ""


def _denial(longer: Sequence[Token], shorter: Sequence[Token], after: Sequence[Token]) -> bool:
    """Tell whether one place is the other with a denial: `not`, `did not open` for `opened`."""
    denials = [word for word in longer if denies(word.key)]
    if len(denials) != 1 or any(word.key in _LIMITING for word in (*longer, *after)):
        return False
    rest = [w for w in longer if not denies(w.key) and w.key not in _DOING]
    stems = [stem(word.key) for word in rest], [stem(word.key) for word in shorter]
    return stems[0] == stems[1]


def _is_dated(word: Token) -> bool:
    return word.value is not None or month_named(word.key) is not None


def _is_name(word: Token) -> bool:
    return word.capital and month_named(word.key) is None and word.key not in STOP_WORDS


def _other_figures(own: Sequence[Token], other: Sequence[Token]) -> bool:
    """Tell whether two figures or dates are not two ways of writing or rounding one."""
    if [w.kind for w in own] != [w.kind for w in other]:
        return False
    pairs = [(a, b) for a, b in zip(own, other, strict=True) if a.key != b.key]
    return bool(pairs) and not any(
        a.value is not None
        and b.value is not None
        and (rounds(a.value, b.value) or _digits(a) == _digits(b))
        for a, b in pairs
    )


def _digits(word: Token) -> str:
    return "".join(c for c in word.key if c.isdigit()).strip("0")


def _name_around(span: Span, words: Sequence[Token]) -> set[str]:
    """Give the words of the whole name of which a place is a part."""
    first, end = span
    while first > 0 and _is_name(words[first - 1]):
        first -= 1
    while end < len(words) and _is_name(words[end]):
        end += 1
    return {stem(word.key.removesuffix("'s")) for word in words[first:end]}


def _ends_alike(mine: Span, theirs: Span, words: Sequence[Token], statement: Statement) -> bool:
    """Tell whether, where a claim ends with its value, the page's value ends there too.

    `He scored 30.` is not about the `12 goals` of the page, nor `Ada Holm` about `Ada Renwick's
    father`.
    """
    if mine[1] < len(words) or theirs[1] >= len(statement.words):
        return True
    end, following = statement.words[theirs[1] - 1].end, statement.words[theirs[1]]
    if any(t.kind == "mark" and end <= t.start < following.start for t in statement.tokens):
        return True
    return following.key in STOP_WORDS and following.key not in {"of", "s"}


def _said_elsewhere(
    mine: Span, words: Sequence[Token], statement: Statement, ground: Ground
) -> bool:
    """Tell whether another sentence of the passage may give the claim's value to this matter."""
    value = {word.key for word in words[slice(*mine)]}
    rest = {stem(w.key) for w in words if w.key not in value and w.key not in STOP_WORDS}
    if not value:
        return False
    for other in ground.statements:
        if other is statement or other.passage is not statement.passage:
            continue
        shared = rest & {stem(key) for key in other.keys}
        if value <= set(other.keys) and len(shared) >= SAYING_SO * len(rest):
            return True
    return False
