"""Words of a sentence that deny: `not`, `rejected`, `failed to`, `stopped using`, `saved from`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.evidence.language.vocabulary import (
    ARTICLES,
    DENIALS,
    DENIALS_BEFORE_FROM,
    DENIALS_BEFORE_ING,
    DENIALS_BEFORE_SUPPORT,
    DENIALS_BEFORE_TO,
    EXCEPTIONS,
    NEGATORS,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.evidence.language.normalise import Token

FROM_REACH = 4
"""Words after `saved` or `kept` among which its `from` stands."""

_SCANT = frozenset({"little", "few"})


def find_denials(tokens: Sequence[Token]) -> Iterator[tuple[int, str]]:
    """Find the words that deny, with their places."""
    neither = any(token.form == "neither" for token in tokens)
    for i, token in enumerate(tokens):
        if (
            (token.root in NEGATORS and not (token.form == "nor" and neither))
            or (token.root in DENIALS and not _opens_as_noun(tokens, i))
            or (token.root in DENIALS_BEFORE_TO and _infinitive(tokens[i + 1 : i + 3]))
            or (token.root in DENIALS_BEFORE_ING and _gerund(tokens[i + 1 : i + 2]))
            or (
                token.root in DENIALS_BEFORE_FROM
                and _keeps_from(tokens[i + 1 : i + 1 + FROM_REACH])
            )
            or (token.root in DENIALS_BEFORE_SUPPORT and _support(tokens[i + 1 : i + 2]))
            or token.form in EXCEPTIONS
            or (token.form == "yet" and _is_outstanding(tokens, i))
            or (token.raw in _SCANT and (i == 0 or tokens[i - 1].form != "a"))
        ):
            yield i, token.root


def _is_outstanding(tokens: Sequence[Token], i: int) -> bool:
    """Whether something has yet to be done: `has yet to open`."""
    before = [token.form for token in tokens[max(0, i - 1) : i]]
    return before in (["has"], ["have"], ["had"]) and _infinitive(tokens[i + 1 : i + 3])


def _opens_as_noun(tokens: Sequence[Token], i: int) -> bool:
    """Whether a word of denial is what the clause speaks of: `Cancelling costs a fee`."""
    return i == 0 and tokens[i].form.endswith("ing")


def _keeps_from(after: Sequence[Token]) -> bool:
    return any(token.form == "from" for token in after)


def _infinitive(after: Sequence[Token]) -> bool:
    """Whether an infinitive follows: `(failed) to come`, not `(declined) to 79 per cent`."""
    return [t.form for t in after[:1]] == ["to"] and any(
        t.kind == "word" and t.root not in ARTICLES and t.raw.islower() for t in after[1:]
    )


def _gerund(after: Sequence[Token]) -> bool:
    return any(token.form.endswith("ing") for token in after)


def _support(after: Sequence[Token]) -> bool:
    return any(token.root == "support" for token in after)
