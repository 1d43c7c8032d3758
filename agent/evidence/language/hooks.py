"""What a name hangs on in its sentence: a deed it does, a part it plays, a word it is tied to."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Literal, NamedTuple

from agent.evidence.language.thesaurus import roles
from agent.evidence.language.vocabulary import ARTICLES, FUNCTION, RELATIVE, SAYING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.evidence.language.names import Name
    from agent.evidence.language.normalise import Token
    from agent.evidence.language.statements import Sentence

Kind = Literal["does", "is", "at"]

SUBJECT_REACH = 6
"""Tokens before `was` among which a part is named: `the engineer of the old canal was`."""

REACH = 12
"""Tokens between a doer and the verb; further away it is another clause's."""

SAYS = frozenset({"say"})
"""The deed of a name to which words are ascribed, by whatever verb."""

_SKIPPED = frozenset(
    """has had have did do does will would shall should can could may might must also then later
    first himself herself""".split()
)
_DOING = frozenset({"subject", "", "after", "before", "since", "until", "as", "than"})
"""Roles in which a name can be the doer of what follows: `after Ann Vale resigned`."""

_HONORIFICS = frozenset("mr mrs ms dr prof professor sir dame herr frau".split())
_MARKS = frozenset({";", ":", "(", ")", "."})
_BE = frozenset("is was are were be been being became remains remained ist war wurde".split())
_LINK = {"at": "in", "von": "by", "aus": "from", "into": "to", "bei": "in"}
_SHORTEST_VERB = 3


class Hook(NamedTuple):
    """A name and what it hangs on.

    `does`: `words` are the verbs (`designed and built`) whose doer it is, `rest` what else the
    clause says of the deed; `is`: the part it plays (`mayor`); `at`: the word it is tied to by
    the preposition `link`, or stands before (`link` empty).
    """

    kind: Kind
    words: frozenset[str]
    name: Name
    link: str = ""
    rest: frozenset[str] = frozenset()


def find_hooks(sentence: Sentence) -> list[Hook]:
    """Read the hooks of all names of a sentence."""
    names = [name for name in sentence.names if not name.adjective]
    return [hook for name in names for hook in _hooks(sentence, name)]


def _hooks(sentence: Sentence, name: Name) -> Iterator[Hook]:
    tokens, end = sentence.tokens, end_of_name(sentence, name)
    before, after = tokens[: name.place], tokens[end:]
    for part in {*_titles(name), *_part_before(before), *_part_after(after)}:
        yield Hook("is", frozenset({part}), name)
    if name.possessive:
        return
    if name.role == "by":
        verbs, place = _deed_before(before)
        if verbs:
            yield Hook("does", verbs, name, rest=_content(_clause_end(before[:place])))
    elif name.role in _DOING:
        yield from _deeds_after(name, after)
    if before and before[-1].root in SAYING and before[-1].raw.islower():
        yield Hook("does", SAYS, name, rest=_content(before[-1 - 2 * REACH : -1]))
    yield from _ties(name, before, after)


def end_of_name(sentence: Sentence, name: Name) -> int:
    """Index of the token after a name."""
    end = name.place
    while end < len(sentence.tokens) and sentence.tokens[end].root in {*name.roots, "-", "of"}:
        end += 1
    return end


def deed_of(after: Sequence[Token]) -> frozenset[str]:
    """Read what a subject does off the words after it; nothing where it is done to it (`was …`)."""
    return _deed(after)[0]


def _deed(after: Sequence[Token]) -> tuple[frozenset[str], int]:
    for place, token in enumerate(after):
        if token.form.endswith("ly") or token.form in _SKIPPED:
            continue
        found = _with_second(after[place : place + 3]) if _can_be_verb(token) else frozenset()
        return found, place + 1
    return frozenset(), 0


def _deeds_after(name: Name, after: Sequence[Token]) -> Iterator[Hook]:
    """Read the deeds of a subject: next to it, in its relative clause, after its apposition."""
    starts = [0]
    if after and after[0].form == ",":
        starts = [2] if len(after) > 1 and after[1].form in RELATIVE else []
        close = next((i for i, t in enumerate(after[1:REACH], 1) if t.form == ","), None)
        starts += [close + 1] if close else []
    elif after and after[0].form in RELATIVE:
        starts = [1]
    for start in starts:
        verbs, place = _deed(after[start : start + REACH])
        if verbs:
            said = SAYS if verbs & SAYING else verbs
            yield Hook("does", said, name, rest=_content(_clause(after[start + place :])))


def _deed_before(before: Sequence[Token]) -> tuple[frozenset[str], int]:
    """Read what is done off the words before `by`: the nearest that can be the verb."""
    near = before[-REACH:]
    offset = len(before) - len(near)
    by = max((i for i, token in enumerate(near) if token.form in {"by", "von"}), default=0)
    for i in range(by - 1, -1, -1):
        if near[i].form in _MARKS:
            break
        if _can_be_verb(near[i]):
            return _with_second(near[max(0, i - 2) : i + 1][::-1]), offset + i
    return frozenset(), 0


def _titles(name: Name) -> Iterator[str]:
    """Parts that stand within a name: `Mayor Priya Raman`."""
    if len(name.roots) > 1:
        yield from (root for root in name.roots[:-1] if root in roles())


def _part_before(before: Sequence[Token]) -> Iterator[str]:
    """Parts named before: `judge …`, `the fire chief, …`, `the keeper of the inn was (the) …`."""
    verb = next((i for i, t in enumerate(reversed(before[-3:]), 1) if t.form in _BE), 0)
    subject = _clause_end(before[:-verb])[:SUBJECT_REACH] if verb else []
    heads = [token.root for token in subject if token.root in roles()]
    if heads:
        yield heads[-1]
        return
    for token in reversed(before[-4:]):
        if token.root in roles():
            yield token.root
            return
        if token.form not in {",", *_BE, *_HONORIFICS} and token.root not in ARTICLES:
            return


def _part_after(after: Sequence[Token]) -> Iterator[str]:
    """Parts named after: `…, the fire chief`, `… is the landlord`."""
    after = after[1:] if after and after[0].form in {"has", "had"} else after
    if not after or after[0].form not in {",", *_BE}:
        return
    phrase = itertools.takewhile(lambda t: t.form not in {",", *_MARKS, "of", "by"}, after[1:6])
    yield from (token.root for token in phrase if token.root in roles())


def _ties(name: Name, before: Sequence[Token], after: Sequence[Token]) -> Iterator[Hook]:
    """Read what a name is tied to: `schools in …`, `made by …`, `the … backend`."""
    if name.role and name.role != "subject":
        place = max((i for i, t in enumerate(before) if t.form == name.role), default=0)
        governor = next((t for t in reversed(before[max(0, place - 3) : place]) if _named(t)), None)
        if governor is not None and governor.form not in _MARKS:
            link = _LINK.get(name.role, name.role)
            yield Hook("at", frozenset({governor.root}), name, link)
    if before and before[-1].root in ARTICLES and after and _named(after[0]):
        yield Hook("at", frozenset({after[0].root}), name)


def _named(token: Token) -> bool:
    return token.form in _MARKS or (token.kind == "word" and token.root not in FUNCTION)


def _clause(tokens: Sequence[Token]) -> list[Token]:
    return list(itertools.takewhile(lambda t: t.form not in _MARKS, tokens[:REACH]))


def _clause_end(tokens: Sequence[Token]) -> list[Token]:
    return _clause(tokens[::-1])


def _content(tokens: Sequence[Token]) -> frozenset[str]:
    return frozenset(t.root for t in tokens if t.kind != "punct" and t.root not in FUNCTION)


def _with_second(tokens: Sequence[Token]) -> frozenset[str]:
    """Take a verb, and the one that `and` joins to it."""
    joined = len(tokens) == 3 and tokens[1].form == "and" and _can_be_verb(tokens[2])
    return frozenset({tokens[0].root, tokens[2].root} if joined else {tokens[0].root})


def _can_be_verb(token: Token) -> bool:
    ordinary = token.kind == "word" and token.root not in FUNCTION
    long = len(token.form) >= _SHORTEST_VERB
    return ordinary and long and token.raw[0].islower() and not token.form.endswith("ly")
