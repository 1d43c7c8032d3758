"""A claim that is nearly a statement of the page: what was changed, and whether it matters."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from agent.evidence.claims.findings import Finding, contradicts, supports, undecided
from agent.evidence.claims.reckoning import figure_follows
from agent.evidence.language.dates import is_month
from agent.evidence.language.thesaurus import opposites
from agent.evidence.language.vocabulary import (
    ARTICLES,
    EXCEPTIONS,
    FUNCTION,
    NEGATORS,
    OPERATORS,
    SUBJECT_PRONOUNS,
    root_set,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.evidence.language.figures import Figure
    from agent.evidence.language.normalise import Token
    from agent.evidence.language.statements import Ground, Sentence, Statement

NEARLY = 0.6
"""Share of the claim's words that must stand in order in the statement for it to be an edit."""

CLOSE = 0.7
"""From this share on, a word put for another is a changed fact and not another way to say it."""

LONGEST_SWAP = 12
"""Words of the page that one swapped answer may stand for; more is another sentence's end."""

LONGEST_DENIAL = 6
"""Words of the page left out with a denial among them; more may be a clause of their own."""

FREE = ARTICLES | root_set("that also then however therefore indeed moreover furthermore and")
"""Words that come and go without a change of meaning."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One change: the claim's words, the page's words in their place (either may be empty).

    `full` are the claim's words with those that come and go freely; `anchored` says that a word
    of meaning that both have stands next to the change.
    """

    claim: tuple[Token, ...]
    page: tuple[Token, ...]
    at_edge: bool
    full: tuple[Token, ...]
    anchored: bool


def check_edits(claim: Sentence, ground: Ground, place: int) -> Finding | None:
    """Compare a claim with the statement at `place`, and those after it if the claim is longer."""
    words = claim.words
    window = _window(ground, place, len(words))
    page = [token for statement in window for token in statement.sentence.words]
    matcher = SequenceMatcher(None, [t.root for t in words], [t.root for t in page], autojunk=False)
    kept = sum(block.size for block in matcher.get_matching_blocks()) / len(words)
    if kept < NEARLY:
        return None
    edits = list(_edits(matcher, words, page))
    stated = [figure for statement in window for figure in statement.sentence.figures]
    figures = claim.figures
    told = all(_stands(f, stated) or figure_follows(f, claim, ground) for f in figures)
    denies = _denies(words) != _denies(page)
    turned = denies and _changes_little_else(edits) and all(_stands(f, stated) for f in figures)
    for edit in edits:
        reason = _contradiction(edit, kept, ground, told=told, turned=turned)
        if reason:
            return contradicts(window, reason)
    for edit in edits:
        reason = _doubt(edit)
        if reason:
            return undecided(window, reason)
    return supports(window, "says what the page says, in its words")


def _stands(figure: Figure, stated: Sequence[Figure]) -> bool:
    return any(map(figure.says, stated))


def _window(ground: Ground, place: int, size: int) -> list[Statement]:
    window = [ground.statements[place]]
    have = len(window[0].sentence.words)
    for statement in ground.statements[place + 1 : place + 4]:
        if have >= CLOSE * size:
            break
        window.append(statement)
        have += len(statement.sentence.words)
    return window


def _edits(
    matcher: SequenceMatcher[str], words: Sequence[Token], page: Sequence[Token]
) -> Iterator[Edit]:
    codes = matcher.get_opcodes()
    for i, (tag, a, b, c, d) in enumerate(codes):
        if tag == "equal":
            continue
        at_edge = a == 0 or b == len(words)
        beside = [words[x:y] for _, x, y, _, _ in (codes[i + 1 : i + 2] or codes[i - 1 : i])]
        anchored = any(token.root not in FUNCTION for token in itertools.chain(*beside))
        yield Edit(_bound(words[a:b]), _bound(page[c:d]), at_edge, tuple(words[a:b]), anchored)


def _bound(tokens: Sequence[Token]) -> tuple[Token, ...]:
    return tuple(token for token in tokens if token.root not in FREE)


def _denies(tokens: Sequence[Token]) -> bool:
    """Whether words deny (`may not`, `except on Mondays`) more than a limit: `no longer than`."""
    denies = any(token.root in NEGATORS or token.form in EXCEPTIONS for token in tokens)
    return denies and not any(token.form == "than" for token in tokens)


def _changes_little_else(edits: Sequence[Edit]) -> bool:
    """Whether but for what a denial changes a claim has the page's words."""
    others = (edit.claim for edit in edits if not _negated(_roots(edit.claim)))
    return not any(token.root not in FUNCTION for tokens in others for token in tokens)


def _contradiction(
    edit: Edit, kept: float, ground: Ground, *, told: bool, turned: bool
) -> str | None:
    """Say in what an edit goes against the page.

    `told`: the page has all the claim's figures there, or what they follow from; `turned`: one of
    the two denies, and little else is changed.
    """
    claim, page = _roots(edit.claim), _roots(edit.page)
    if kept < CLOSE:
        return None
    if (
        turned
        and _only_denies(edit)
        and _negated(claim) != _negated(page[-3:] if edit.at_edge and not claim else page)
    ):
        return f"the page says {_said(edit.page)}, the claim {_said(edit.claim)}"
    names = [root for root in claim if root not in FUNCTION]
    if not names or not [root for root in page if root not in FUNCTION]:
        return None
    if _figures(edit.claim) and _figures(edit.page) and not told:
        return f"the page says {_said(edit.page)} where the claim says {_said(edit.claim)}"
    if _swapped(edit, ground) and not set(names) & set(page):
        return f"{_said(edit.claim)} stands elsewhere on the page; here it says {_said(edit.page)}"
    return None


def _only_denies(edit: Edit) -> bool:
    """Whether a change is a denial put in or left out, beside words that are the same."""
    claim, page = (set(_roots(t)) - FUNCTION - NEGATORS for t in (edit.claim, edit.page))
    if _negated(_roots(edit.claim)):
        return not page or claim == page or not claim
    return edit.anchored and len(edit.page) <= LONGEST_DENIAL and claim == page


def _swapped(edit: Edit, ground: Ground) -> bool:
    """Whether the claim's words were taken from another place of the page, or say the contrary."""
    page = set(_roots(edit.page))
    same_sense = _negated(_roots(edit.claim)) == _negated(_roots(edit.page))
    contrary = any(opposites(root) & page for root in _roots(edit.claim))
    if same_sense and contrary:
        return not _figures(edit.page)  # `open from nine to one` is closed after one
    if any(token.form in SUBJECT_PRONOUNS for token in edit.page):
        return False  # a name in place of a pronoun says whom it stands for
    if ground.topic.issuperset(_roots(edit.claim)) and len(page) == 1:
        return False  # so does its name in place of `the camera`
    named = any(token.raw[:1].isupper() for token in edit.claim)
    long = sum(token.root not in FUNCTION for token in edit.claim) > 1
    taken = any(True for _ in ground.occurrences(_roots(edit.full)))
    return taken and (named or long) and len(edit.page) <= LONGEST_SWAP


def _doubt(edit: Edit) -> str | None:
    """Say why an edit keeps a claim from being carried; None where it changes nothing."""
    claim, page = _roots(edit.claim), _roots(edit.page)
    if not claim and not page:
        return None
    if claim:
        return f"the page does not say {_said(edit.claim)} here"
    lost = [t for t in edit.page if t.root in OPERATORS and not is_month(t)]
    if edit.at_edge and not lost:
        return None
    if lost and (not edit.at_edge or any(token in edit.page[-3:] for token in lost)):
        return f"the claim leaves out “{lost[0].raw}”"
    return None if edit.at_edge else f"the claim leaves out {_said(edit.page)}"


def _roots(tokens: Sequence[Token]) -> list[str]:
    return [token.root for token in tokens]


def _negated(roots: Sequence[str]) -> bool:
    return any(root in NEGATORS for root in roots)


def _figures(tokens: Sequence[Token]) -> bool:
    return any(token.value is not None for token in tokens)


def _said(tokens: Sequence[Token]) -> str:
    """Quote some words, or say that there are none."""
    if not tokens:
        return "nothing of it"
    text = " ".join(token.raw for token in tokens[:8])
    return f"“{text}{' …' if len(tokens) > 8 else ''}”"
