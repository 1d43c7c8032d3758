"""Tokens that compare equal regardless of typography and number format.

Stemming and synonyms are not supported. Number words are recognised in English only.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

Kind = Literal["word", "number", "ordinal", "decade", "mark"]


class Token(NamedTuple):
    """A word, number or punctuation mark, printed as `text[start:end]`.

    `key` is the form used in comparisons: without case and accents, and with one format for
    numbers. `value` is set for a number, an ordinal or a decade (its first year).
    """

    key: str
    kind: Kind
    start: int
    end: int
    value: float | None = None
    capital: bool = False


_TOKEN = re.compile(
    r"""(?P<footnote>\[\d{1,3}\])
    |(?P<number>\d{1,3}(?:[,\u00a0\u2009\u202f]\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)?)
     (?P<suffix>(?:st|nd|rd|th|s)\b)?
    |(?P<word>[^\W\d_][^\W_]*(?:['’][^\W_]+)*)
    |(?P<sign>[£$€%°])
    |(?P<mark>[^\w\s]|_)""",
    re.VERBOSE,
)

_UNITS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
    fifteen sixteen seventeen eighteen nineteen""".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_SMALL_NUMBERS = {
    **{name: float(value) for value, name in enumerate(_UNITS)},
    **{name: 10.0 * tens for tens, name in enumerate(_TENS, 2)},
}
NUMBER_SCALES = {
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12,
    "millions": 1e6, "billions": 1e9, "mn": 1e6, "bn": 1e9,
}  # fmt: skip
"""Words after a number, with the factors by which they multiply it."""
ORDINALS = {
    name: float(value)
    for value, name in enumerate(
        """first second third fourth fifth sixth seventh eighth ninth tenth eleventh
        twelfth""".split(),
        1,
    )
}
NUMBER_WORDS = frozenset({*_SMALL_NUMBERS, *NUMBER_SCALES})
_MONEY = frozenset("£$€")
_HYPHENS = frozenset("-‐‑")
_SYMBOLS_BY_WORD = {"percent": "%", "prozent": "%"}
NEGATORS = frozenset(
    """no not never nobody none neither nor nothing nowhere without cannot kein keine nicht nie
    niemals""".split()
)
"""Negations, English and German; words that end in `n't` are negations too."""


def is_negation(key: str) -> bool:
    """Return whether a token's key is a negation."""
    return key in NEGATORS or key.endswith("n't")


def tokenize(text: str) -> list[Token]:
    """Split text into tokens; `forty-one` and `8.2 million` are one number each."""
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        if match["word"]:
            capital = match["word"][0].isupper()
            found.append(Token(_normalize_word(match["word"]), "word", start, end, None, capital))
        elif match["number"]:
            digits = "".join(c for c in match["number"] if c == "." or c.isdecimal())
            # A minus sign directly precedes its number; one between two numbers is a dash.
            minus = text[start - 1 : start] in {"-", "−"}
            negative = minus and not text[max(0, start - 2) : start - 1].strip(" (\n")
            value = -float(digits) if negative else float(digits)
            kind: Kind = "number"
            if match["suffix"]:
                kind = "decade" if match["suffix"] == "s" else "ordinal"
            found.append(Token(_number_key(value, kind), kind, start, end, value))
        elif match["sign"]:
            found.append(Token(match["sign"], "word", start, end))
        elif match["mark"]:
            found.append(Token(match["mark"], "mark", start, end))
    return _join_numbers(found)


def word_tokens(tokens: Sequence[Token]) -> list[Token]:
    """Return the words and numbers without punctuation marks."""
    return [token for token in tokens if token.kind != "mark"]


def token_keys(text: str) -> list[str]:
    """Return the keys of the words and numbers in `text`, in order."""
    return [token.key for token in tokenize(text) if token.kind != "mark"]


@functools.lru_cache(maxsize=65_536)
def _normalize_word(word: str) -> str:
    folded = word.casefold().replace("’", "'")
    if folded.isascii():
        return _SYMBOLS_BY_WORD.get(folded, folded)
    decomposed = unicodedata.normalize("NFKD", folded)
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def _number_key(value: float, kind: Kind = "number") -> str:
    """Format a number so that equal values give equal strings: `1829`, `4th`, `1990s`."""
    suffix = {"ordinal": "th", "decade": "s"}.get(kind, "")
    return f"{value:.6f}".rstrip("0").rstrip(".") + suffix


def _join_numbers(tokens: list[Token]) -> list[Token]:
    """Assign values to number words, and join the parts of a number: `forty-one`, `8.2 million`."""
    found: list[Token] = []
    i = 0
    while i < len(tokens):
        token, end = tokens[i], i + 1
        value = token.value if token.kind == "number" else _SMALL_NUMBERS.get(token.key)
        if value is not None:
            is_money = i > 0 and tokens[i - 1].key in _MONEY
            while end < len(tokens):
                has_hyphen = tokens[end].key in _HYPHENS
                word = tokens[end + has_hyphen].key if end + has_hyphen < len(tokens) else ""
                if word in NUMBER_SCALES or (word == "m" and is_money):  # `£4m`
                    value *= NUMBER_SCALES.get(word, 1e6)
                elif has_hyphen and token.key in _TENS and word in _UNITS[1:10]:
                    value += _SMALL_NUMBERS[word]
                else:
                    break
                end += has_hyphen + 1
            value = round(value, 6)
            token = Token(_number_key(value), "number", token.start, tokens[end - 1].end, value)
        found.append(token)
        i = end
    return found
