"""Clauses of a sentence: what they speak of, and which of it they deny."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.evidence.language.denials import find_denials
from agent.evidence.language.vocabulary import (
    ARTICLES,
    AUXILIARIES,
    DENIALS,
    DENYING_NOUNS,
    EXCEPTIONS,
    FUNCTION,
    NEGATORS,
    NOBODY,
    PRONOUNS,
    RELATIVE,
    SHORT_REACH,
    SUBJECT_PRONOUNS,
    VERBAL,
    root_set,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from agent.evidence.language.normalise import Token

SHORT = 4
"""Words that `without` or `lack of` reaches."""

SUBJECT = 3
"""Words of meaning at the head of a sentence among which its subject is."""

NOUN_PHRASE = 3
"""Words of meaning after `no` or `without` among which the noun is."""

LONGEST_ITEM = 3
"""Words of an item of a list between commas; more is a clause of its own."""

_BREAKS = frozenset(
    """but aber except ausser excluding while although though because which who whom where whereas
    until before after if unless whether since so when order""".split()
)
_DUTIES = frozenset(
    """require requires required obliged necessary needed compulsory mandatory erforderlich
    notwendig notig""".split()
)
_BINDING = frozenset({"must", "need", "needs", "needed", "muss", "mussen"})
_PERMITTING = frozenset({"may", "can", "could", "able", "possible", "kann", "konnen", "darf"})
_NOT = frozenset({"not", "nicht"})
_OPENING = AUXILIARIES | PRONOUNS | ARTICLES | NEGATORS
"""Roots with which a clause goes on after `and`."""

_NOT_CONTENT = FUNCTION | NEGATORS
_SAID = AUXILIARIES | NEGATORS | DENIALS
_STARTS = AUXILIARIES | NEGATORS
_NO_ITEM = AUXILIARIES | PRONOUNS
_DENYING_ALL = NOBODY | (DENIALS - DENYING_NOUNS)
"""Words of denial that reach every word of their clause."""

_SUPPOSING = frozenset({"if", "whether", "unless"})
_OPINING = root_set("consider regard deem believe think know")
"""Verbs whose denial is that of what they say: `is not considered rare`."""

_LISTING = frozenset({"and", "or", "und", "oder"})
_JOINING = frozenset({"and", "or", "nor", "und", "oder"})
_MARKS = frozenset({",", ";", ":", "(", ")", "\u2026"})

# A negation beside one of these is a comparison or a limit (`no longer span`, `not until 1990`,
# `nobody but her`), not a denial.
_LIMITS = root_set("than before until except but other only else unless") | frozenset(
    "longer deeper higher larger bigger greater older younger faster slower better worse more less "
    "fewer earlier later stronger wider smaller".split()
)


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause: what it speaks of, each root with whether it is denied, and the words that deny.

    `not`, `no`, `without`, `lack` deny what follows them; `rejected` or `banned` the whole clause.
    `refers` says that its subject is a pronoun, `supposed` that it is only a condition or a
    question (`if …`, `whether …`). `heads` are, for each `not` or `no`, the words it stands right
    before, one of which is what it denies; `things` all that there is said to be none of.
    `frees` says that it denies no more than a duty, `binds` and `permits` that it states a duty or
    a permission; `beyond` are the words after `than`.
    """

    content: Mapping[str, bool]
    denials: tuple[str, ...]
    limited: bool
    refers: bool
    supposed: bool
    heads: tuple[frozenset[str], ...]
    things: tuple[frozenset[str], ...]
    frees: bool
    binds: bool
    permits: bool
    beyond: frozenset[str]


def clauses(tokens: Sequence[Token]) -> Iterator[Clause]:
    """Cut a sentence into clauses at commas, conjunctions and `in order to`.

    A relative clause begins with the noun it belongs to: `beroids, which lack tentacles`.
    """
    part: list[Token] = []
    noun: list[Token] = []
    subject: list[Token] = []
    said: list[Token] = []
    supposed = False
    for i, token in enumerate(tokens):
        if not breaks(tokens, i):
            part.append(token)
            continue
        part = _completed(part, said)
        yield from whole_clause(_with_subject(part, subject), supposed=supposed)
        subject, said = subject or subject_of(part), part or said
        noun = [t for t in part if is_content(t)][-1:] or noun
        part = list(noun) if token.form in RELATIVE else []
        part += [token] if token.form in EXCEPTIONS else []
        supposed = token.form in _SUPPOSING or (supposed and token.form in _LISTING)
    part = _completed(part, said)
    yield from whole_clause(_with_subject(part, subject), supposed=supposed)


def _completed(part: list[Token], said: list[Token]) -> list[Token]:
    """Give a clause of a denial alone what the clause before says.

    `…, the lock is not`; `…, but not the tower`; `…, except on Mondays`.
    """
    words = [token for token in part if token.kind != "punct"]
    if words and (words[0].form in EXCEPTIONS or words[0].form in _NOT) and len(words) <= SHORT:
        return [*said, *words]
    if len(words) < 2 or words[-1].form not in _NOT or len(words) > SHORT:
        return part
    if words[-1].form == "not" and words[-2].root not in AUXILIARIES:
        return part
    return [*words, *itertools.dropwhile(lambda t: t.root not in AUXILIARIES, said)]


def subject_of(tokens: Sequence[Token]) -> list[Token]:
    """Give the words of meaning before a sentence's first auxiliary or denial, at most three."""
    head = itertools.takewhile(lambda t: not _is_said(t), tokens)
    words = [token for token in head if token.kind != "punct"]
    if not words or words[0].form in SUBJECT_PRONOUNS:
        return []
    return [token for token in words if is_content(token)][:SUBJECT]


def _is_said(token: Token) -> bool:
    """Whether a token is where a sentence's subject has ended, as far as its form tells."""
    past = token.raw.islower() and token.form.endswith("ed")
    return past or token.root in _SAID


def _with_subject(part: list[Token], subject: list[Token]) -> list[Token]:
    """Give a clause that begins with its verb (`…, has no towpath`) the sentence's subject."""
    return [*subject, *part] if part and part[0].root in _STARTS else part


def whole_clause(tokens: Sequence[Token], *, supposed: bool = False) -> Iterator[Clause]:
    """Read some tokens as one clause; none where they carry no meaning."""
    words = [token for token in tokens if token.kind != "punct"]
    denials = list(find_denials(words))
    content = _content(words, denials)
    if not content:
        return
    forms = {token.form for token in words}
    than = itertools.dropwhile(lambda t: t.form != "than", words)
    yield Clause(
        content=content,
        denials=tuple(root for _, root in denials),
        limited=_limits(words) or _outdoes(words),
        refers=words[0].form in SUBJECT_PRONOUNS,
        supposed=supposed,
        heads=tuple(_heads(words, denials)),
        things=tuple(_things(words, denials)),
        frees=_frees(words),
        binds=not forms.isdisjoint(_DUTIES | _BINDING),
        permits=not forms.isdisjoint(_PERMITTING),
        beyond=frozenset(t.root for t in than if is_content(t)),
    )


def _content(words: Sequence[Token], denials: Sequence[tuple[int, str]]) -> dict[str, bool]:
    """Give the roots that carry meaning, each with whether it is denied where it stands first."""
    content: dict[str, bool] = {}
    for i, token in enumerate(words):
        if is_content(token) or _compares(words, i):
            count = sum(_denies(root, place, i) for place, root in denials)
            content.setdefault(token.root, count % 2 == 1)
    return content


def _limits(words: Sequence[Token]) -> bool:
    """Whether a word sets a limit or compares."""
    return any(
        not _LIMITS.isdisjoint({token.root, token.form}) and not _no_limit(words, i)
        for i, token in enumerate(words)
    )


def _no_limit(words: Sequence[Token], i: int) -> bool:
    """Whether a word sets no limit: `others`, `no longer`, `later` without `than`."""
    if words[i].form in {"later", "earlier", "other"}:
        before, after = words[max(0, i - 1) : i], words[i + 1 : i + 2]
        return not any(t.form == "than" or t.root in NEGATORS for t in (*before, *after))
    return words[i].form == "others" or _no_longer(words, i)


def _no_longer(words: Sequence[Token], i: int) -> bool:
    """Whether `longer` denies (`are no longer accepted`) and does not compare."""
    before = [token.root for token in words[max(0, i - 2) : i]]
    return words[i].form == "longer" and before[-1:] == ["no"] and before[0] in AUXILIARIES


def _frees(words: Sequence[Token]) -> bool:
    """Whether something need not be (`do not have to`, `not required`): that denies a duty only."""
    forms = [token.form for token in words]
    for one, two, three in zip(forms, forms[1:], [*forms[2:], ""], strict=False):
        if one in _NOT and (two in _DUTIES or (two in {"have", "need"} and three == "to")):
            return True
    return ("need", "not") in itertools.pairwise(forms)


def _outdoes(words: Sequence[Token]) -> bool:
    """Whether `no … -er` or `never -er` ends in a comparison, which praises and does not deny."""
    last = words[-1].form
    return last.endswith("er") and len(last) > len("other") and words[0].form in {"no", "none"}


def is_content(token: Token) -> bool:
    """Whether a token carries meaning of its own."""
    return token.kind != "punct" and token.root not in _NOT_CONTENT


def breaks(tokens: Sequence[Token], i: int) -> bool:
    """Whether a clause ends before a token."""
    token = tokens[i]
    if token.form in _LISTING:
        following = tokens[i + 1] if i + 1 < len(tokens) else None
        return following is not None and following.root in _OPENING
    if token.form == "," and _in_list(tokens, i):
        return False
    return token.form in _MARKS or token.form in _BREAKS


def _in_list(tokens: Sequence[Token], i: int) -> bool:
    """Whether a comma goes on with a list of short items: `tear, vermin or seepage`."""
    since = 0
    for token in tokens[i + 1 :]:
        if token.form in _LISTING:
            return since > 0
        since = 0 if token.form == "," else since + 1
        if since > LONGEST_ITEM or token.root in _NO_ITEM or token.form in _BREAKS:
            return False
    return False


def _heads(words: Sequence[Token], denials: Sequence[tuple[int, str]]) -> Iterator[frozenset[str]]:
    """Give what stands right after each `not` (its verb) or `no` (its noun, with adjectives)."""
    for place, root in denials:
        if root not in NEGATORS | EXCEPTIONS:
            continue
        after = itertools.dropwhile(lambda t: not is_content(t), words[place + 1 :])
        phrase = list(itertools.takewhile(_in_phrase, after))
        verbs = 1 + max((i for i, t in enumerate(phrase) if t.form in _JOINING), default=-1)
        verbs += bool(phrase[verbs:]) and phrase[verbs].root in _OPINING
        own = phrase[: verbs + 1] if root in VERBAL else phrase
        yield frozenset(token.root for token in own if is_content(token))


def _in_phrase(token: Token) -> bool:
    return is_content(token) or token.form in _JOINING


def _things(words: Sequence[Token], denials: Sequence[tuple[int, str]]) -> Iterator[frozenset[str]]:
    """Give the nouns after each `no` or `without`, those tied to them by a preposition too."""
    for place, root in denials:
        if root in NEGATORS - VERBAL:
            after = (t.root for t in words[place + 1 :] if is_content(t))
            yield frozenset(itertools.islice(after, NOUN_PHRASE))


def _compares(words: Sequence[Token], i: int) -> bool:
    """Whether `more` or `fewer` compares things, and is not `more than` before a number."""
    after = words[i + 1].form if i + 1 < len(words) else "than"
    return words[i].form in {"more", "less", "fewer"} and after != "than"


def _denies(denial: str, place: int, i: int) -> bool:
    """Whether a word of denial at `place` reaches the word at `i` of its clause."""
    if denial in _DENYING_ALL:
        return True
    return place < i and (denial not in SHORT_REACH or i <= place + SHORT)
