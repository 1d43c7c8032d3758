"""Shorter statements that a sentence makes beside its own, told by its structure alone.

`X, a light on the cape, was built in 1811 and is run by Y` says that X was built in 1811, that X
is a light on the cape and that X is run by Y. Under the heading X, `It was built in 1811` says it
of X. A claim that is such a statement in its words is carried; nothing else is.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from agent.evidence.claims.findings import Finding, supports
from agent.evidence.language.spelling import root
from agent.evidence.language.vocabulary import (
    ARTICLES,
    AUXILIARIES,
    CONDITIONS,
    FUNCTION,
    HEDGES,
    NEGATORS,
    PREPOSITIONS,
    QUANTIFIERS,
    RELATIVE,
    SUBJECT_PRONOUNS,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from agent.evidence.language.normalise import Token
    from agent.evidence.language.statements import Ground, Sentence, Statement

LONGEST_SUBJECT = 8
"""Tokens of a subject; more is hardly one."""

LONGEST_APPOSITION = 14
"""Tokens between two commas after a subject."""

SHORTEST = 3
"""Words of a claim; fewer stand in too many statements."""

_TURNS = NEGATORS | HEDGES | QUANTIFIERS | CONDITIONS
"""Words that, left out at a statement's end, leave out a limit of it."""

_BE = "⟨be⟩"
_TOPIC = "⟨topic⟩"
_BE_FORMS = frozenset("is was are were be been being".split())
_PARTICIPLES = frozenset(
    """built made held found known written won led run set sold bought taught brought kept told
    sung begun drawn given shown thrown born laid lost paid put sent struck taken worn grown
    driven broken chosen spoken""".split()
)

Line = tuple[str, ...]
"""The words of a statement: roots, with one sign for all forms of `be` and one for the topic."""


def check_reductions(claim: Sentence, ground: Ground) -> Finding | None:
    """Find a statement of the page that says a claim beside other things."""
    topic = ground.topic if _single(ground) else frozenset()
    mine = {line for line in _turned(_line(claim.tokens, topic)) if len(line) >= SHORTEST}
    for statement in ground.statements if mine else ():
        if statement.passage.kind in {"table", "heading"}:
            continue
        for tokens in _reduced(statement.sentence.tokens):
            theirs = _line(tokens, topic if _speaks_of(statement, ground) else frozenset())
            if any(_begins(line, own) for line in _turned(theirs) for own in mine):
                return supports((statement,), "says it beside other things, in the same words")
    return None


def _single(ground: Ground) -> bool:
    """Whether the first heading names one thing: no list, no subtitle."""
    heading = ground.statements[0].passage.heading or ground.statements[0].passage.text
    return not any(mark in heading for mark in (" and ", ":", ",", "?", " und "))


def _speaks_of(statement: Statement, ground: Ground) -> bool:
    """Whether a statement's pronoun can only be the topic: nothing else was spoken of since."""
    for earlier in reversed(ground.statements[: statement.place + 1]):
        if earlier.passage.kind == "heading":
            return True
        head = _subject(earlier.sentence.tokens)
        roots = {token.root for token in head} - ARTICLES
        if head and head[0].form not in SUBJECT_PRONOUNS and roots:
            return roots <= ground.topic
    return True


def _line(tokens: Sequence[Token], topic: AbstractSet[str]) -> Line:
    """Give the words of a statement, its subject replaced where it is the topic."""
    subject = _subject(tokens)
    roots = {token.root for token in subject} - ARTICLES
    pronoun = len(subject) == 1 and subject[0].form in SUBJECT_PRONOUNS
    rest = _words(tokens[len(subject) :])
    if subject and topic and (pronoun or (roots and roots <= topic)):
        return (_TOPIC, *rest)
    return (*_words(subject), *rest)


def _words(tokens: Sequence[Token]) -> Line:
    return tuple(
        _BE if token.form in _BE_FORMS else token.root
        for token in tokens
        if token.kind != "punct" and token.root not in ARTICLES
    )


def _subject(tokens: Sequence[Token]) -> Sequence[Token]:
    """Give the tokens before a sentence's first verb, where they are one noun phrase."""
    for i, token in enumerate(tokens[: LONGEST_SUBJECT + 1]):
        if token.kind == "punct" and token.form != "-":
            return ()
        if i and _is_verb(token):
            return tokens[:i]
        if token.root in PREPOSITIONS and i == 0:
            return ()
    return ()


def _is_verb(token: Token) -> bool:
    if token.root in AUXILIARIES or token.form in _PARTICIPLES:
        return True
    ordinary = token.kind == "word" and token.raw.islower() and token.root not in FUNCTION
    return ordinary and token.form.endswith("ed")


def _turned(line: Line) -> Iterator[Line]:
    """Give a line as it is, and with a date at its beginning put at its end."""
    yield line
    lead = next((n for n in (2, 3, 4) if len(line) > n + 1 and line[n] == _TOPIC), 0)
    if lead and line[0] in PREPOSITIONS:
        yield (*line[lead:], *line[:lead])


def _begins(line: Line, claim: Line) -> bool:
    """Whether a line is the claim, or goes on after it with what changes nothing."""
    if line[: len(claim)] != claim:
        return False
    rest = line[len(claim) :]
    return not rest or (rest[0] in PREPOSITIONS | {root("and")} and _TURNS.isdisjoint(rest))


def _reduced(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Give the statements that a sentence makes, each with the sentence's subject before it."""
    tokens = tokens[:-1] if tokens and tokens[-1].form == "." else tokens
    yield tokens
    yield from _fronted(tokens)
    yield from _relatives(tokens)
    subject = _subject(tokens) or _before_comma(tokens)
    if not subject:
        return
    rest = tokens[len(subject) :]
    yield from _participles(subject, rest)
    yield from _joined(subject, rest)
    yield from _apposed(subject, rest)


def _before_comma(tokens: Sequence[Token]) -> Sequence[Token]:
    end = next((i for i, t in enumerate(tokens[: LONGEST_SUBJECT + 1]) if t.form == ","), 0)
    plain = all(t.root not in PREPOSITIONS and not _is_verb(t) for t in tokens[:end])
    return tokens[:end] if plain else ()


def _participles(subject: Sequence[Token], rest: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """`X is a light built in 1811` → `X is built in 1811`."""
    if not rest or rest[0].form not in _BE_FORMS or not _is_noun_phrase(rest[1:]):
        return
    for i, (token, after) in enumerate(itertools.pairwise(rest)):
        taken = any(t.kind == "punct" and t.form != "-" for t in rest[:i])
        if i > 1 and _is_participle(token) and after.root in PREPOSITIONS and not taken:
            yield (*subject, rest[0], *_up_to_clause(rest[i:]))
            return


def _is_noun_phrase(after: Sequence[Token]) -> bool:
    return bool(after) and after[0].root in ARTICLES and after[0].form != "that"


def _joined(subject: Sequence[Token], rest: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """`X was built in 1811 and is run by Y` → `X is run by Y`; `and run by Y` takes its verb."""
    passive = bool(rest) and rest[0].form in _BE_FORMS
    if not rest or not _is_verb(rest[0]):
        return
    for i, (token, after) in enumerate(itertools.pairwise(rest)):
        if token.form != "and" or not _is_verb(after):
            continue
        if passive and _is_participle(after):
            yield (*subject, rest[0], *_up_to_clause(rest[i + 1 :]))
        elif after.root in AUXILIARIES or not passive:
            yield (*subject, *_up_to_clause(rest[i + 1 :]))


def _apposed(subject: Sequence[Token], rest: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """`X, a light on the cape, was built` → `X was built`, `X is a light on the cape`."""
    if not rest or rest[0].form != ",":
        return
    end = next((i for i, t in enumerate(rest[1:], 1) if t.form == ","), 0)
    if not 1 < end <= LONGEST_APPOSITION:
        return
    inner, after = rest[1:end], rest[end + 1 :]
    if after and _is_verb(after[0]):
        yield (*subject, *after)
        if inner[0].root in ARTICLES and after[0].form in _BE_FORMS:
            yield (*subject, after[0], *inner)


def _relatives(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """`… by Ann Vale, who studied in Graz` → `Ann Vale studied in Graz`."""
    for i, token in enumerate(tokens[:-1]):
        if token.form not in RELATIVE or i < 2 or tokens[i - 1].form != ",":
            continue
        name = list(itertools.takewhile(_is_name, reversed(tokens[: i - 1])))[::-1]
        if name and tokens[i + 1].kind == "word":
            yield (*name, *_up_to_clause(tokens[i + 1 :]))


def _is_name(token: Token) -> bool:
    return token.kind == "word" and token.raw[:1].isupper()


def _fronted(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """`Built in 1811, it links …` → `it is built in 1811`; `In 1811 it …` → `it … in 1811`."""
    comma = next((i for i, t in enumerate(tokens) if t.form == ","), 0)
    if comma and _is_participle(tokens[0]):
        subject = _subject(tokens[comma + 1 :])
        if subject:
            yield (*subject, _be(tokens[0]), *tokens[:comma])
    if tokens and tokens[0].root in PREPOSITIONS and len(tokens) > 1 and tokens[1].value:
        rest = tokens[3:] if tokens[2:3] and tokens[2].form == "," else tokens[2:]
        yield (*_up_to_clause(rest), *tokens[:2])


def _is_participle(token: Token) -> bool:
    return token.root not in AUXILIARIES and _is_verb(token._replace(raw=token.form))


def _be(token: Token) -> Token:
    return token._replace(root=root("was"), form="was", raw="was")


def _up_to_clause(tokens: Sequence[Token]) -> Sequence[Token]:
    """Cut before the next comma, bracket or relative clause."""
    marks = {",", ";", ":", "(", ")", "that"} | RELATIVE
    return list(itertools.takewhile(lambda t: t.form not in marks, tokens))
