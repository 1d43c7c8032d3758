"""Text as tokens that compare equal across typography and the ways of writing a number.

Nothing is stemmed and no word stands for another: what compares equal was written alike. Number
words are read in English alone.
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
    """A word, number or mark of a text; `text[start:end]` is how it is printed there.

    `key` is what comparisons use: folded in case and accents, a number in one form; `value` is
    what a number, an ordinal or a decade (its first year) amounts to.
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

_UNITS_AND_TENS = {
    name: value
    for value, name in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
        fifteen sixteen seventeen eighteen nineteen""".split()
    )
} | {
    name: 10 * (tens + 2)
    for tens, name in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split())
}
_SCALES = {
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12,
    "millions": 1e6, "billions": 1e9, "mn": 1e6, "bn": 1e9,
}  # fmt: skip
_ORDINALS = {
    name: value
    for value, name in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth".split(), 1
    )
}
_MONEY = "£$€"
_SPELT = {"percent": "%", "prozent": "%"}
NEGATORS = frozenset(
    """no not never nobody none neither nor nothing nowhere without cannot kein keine nicht nie
    niemals""".split()
)
"""English and German; words that end in `n't` deny too."""


def denies(key: str) -> bool:
    """Tell whether a word is a denial."""
    return key in NEGATORS or key.endswith("n't")


def tokens_of(text: str) -> list[Token]:
    """Cut a text into tokens; `forty-one` and `8.2 million` are one number each."""
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        if match["word"]:
            key = _word_key(match["word"])
            capital = match["word"][0].isupper()
            found.append(Token(key, "word", match.start(), match.end(), None, capital))
        elif match["number"]:
            found.append(_number(match))
        elif match["sign"]:
            found.append(Token(match["sign"], "word", match.start(), match.end()))
        elif match["mark"]:
            found.append(Token(match["mark"], "mark", match.start(), match.end()))
    return _with_numbers_joined(found)


def words_of(tokens: Sequence[Token]) -> list[Token]:
    """Leave the marks out."""
    return [token for token in tokens if token.kind != "mark"]


def keys_of(text: str) -> list[str]:
    """Give the keys of a text's words and numbers, in order."""
    return [token.key for token in tokens_of(text) if token.kind != "mark"]


def number_key(value: float) -> str:
    """Write a number so that equal values are equal strings."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


@functools.lru_cache(maxsize=65_536)
def _word_key(word: str) -> str:
    folded = word.casefold().replace("’", "'")
    if folded.isascii():
        return _SPELT.get(folded, folded)
    decomposed = unicodedata.normalize("NFKD", folded)
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def _number(match: re.Match[str]) -> Token:
    digits = "".join(c for c in match["number"] if c == "." or c.isdecimal())
    value = float(digits) * (-1 if _is_negative(match.string, match.start()) else 1)
    if not match["suffix"]:
        return Token(number_key(value), "number", match.start(), match.end(), value)
    kind: Kind = "decade" if match["suffix"] == "s" else "ordinal"
    key = f"{number_key(value)}{'s' if kind == 'decade' else 'th'}"
    return Token(key, kind, match.start(), match.end(), value)


def _is_negative(text: str, at: int) -> bool:
    """Tell whether a minus stands right before a number, and not a dash between two."""
    return text[at - 1 : at] in {"-", "−"} and not text[max(0, at - 2) : at - 1].strip(" (\n")


def _with_numbers_joined(tokens: list[Token]) -> list[Token]:
    """Read number words, and digits with a scale behind them, as one number."""
    found: list[Token] = []
    i = 0
    while i < len(tokens):
        token = tokens[i]
        if token.kind == "number" or token.key in _UNITS_AND_TENS:
            value, after = _amount(tokens, i)
            money = i > 0 and tokens[i - 1].key in _MONEY
            if money and after < len(tokens) and tokens[after].key == "m":
                value, after = value * 1e6, after + 1
            end = tokens[after - 1].end
            found.append(Token(number_key(value), "number", token.start, end, value))
            i = after
        elif token.key in _ORDINALS:
            place = _ORDINALS[token.key]
            found.append(token._replace(key=f"{place}th", kind="ordinal", value=float(place)))
            i += 1
        else:
            found.append(token)
            i += 1
    return found


def _amount(tokens: Sequence[Token], i: int) -> tuple[float, int]:
    """Read the number that begins at `i`: its value, and the index after it."""
    total, part = 0.0, _plain(tokens[i])
    after = i + 1
    while after < len(tokens):
        hyphen = tokens[after].key in "-‐‑" and after + 1 < len(tokens)
        following = tokens[after + hyphen]
        if following.key in _SCALES and following.kind == "word":
            scale = _SCALES[following.key]
            total, part = (total, part * scale) if scale < 1e3 else (total + part * scale, 0.0)
            after += 1 + hyphen
        elif _goes_on(tokens[after - 1], following, part):
            part += _UNITS_AND_TENS[following.key]
            after += 1 + hyphen
        elif tokens[after].key == "and" and _hundreds(tokens, after):
            part += _UNITS_AND_TENS[tokens[after + 1].key]
            after += 2
        else:
            break
    return round(total + part, 6), after


def _plain(token: Token) -> float:
    return token.value if token.value is not None else float(_UNITS_AND_TENS[token.key])


def _goes_on(before: Token, token: Token, part: float) -> bool:
    """Tell whether `one` goes on with the `forty` before it."""
    value = _UNITS_AND_TENS.get(token.key)
    if value is None or token.kind != "word":
        return False
    tens = before.key in _UNITS_AND_TENS and part % 100 >= 20 and part % 10 == 0
    return (tens and 0 < value < 10) or before.key in _SCALES


def _hundreds(tokens: Sequence[Token], at: int) -> bool:
    """Tell whether `and six` goes on with `two hundred`."""
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    scaled = tokens[at - 1].key in {"hundred", "thousand"}
    return scaled and following is not None and following.key in _UNITS_AND_TENS
