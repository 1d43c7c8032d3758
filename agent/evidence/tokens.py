"""Tokens that compare equal regardless of typography and number format.

Stemming and synonyms are not supported. Number words are recognised in English only, words for
large numbers (`million`) in several languages. In scripts without spaces, each character is a word.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import TYPE_CHECKING, Literal, NamedTuple

from browser.text.words import UNSPACED, may_be_unspaced, unspaced_characters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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


_MARKS = (
    r"\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    r"\u0900-\u0903\u093a-\u0963\u0981-\u0dff\u200c\u200d"
)
"""Marks that belong to the letter before them, such as the vowel signs of Indian scripts; some of
the ranges include letters.
"""


@functools.cache
def _token_pattern(unspaced: str) -> re.Pattern[str]:
    """Compile a pattern in which each of the characters `unspaced` (a class) is a word.

    Of the numbers, `comma` has a decimal comma or thousands separated by dots (`1.234,5`, `23,75`).
    The numbers of a list (`12,14,16`, `1,2 and 3`) are not decimals.
    """
    in_word = rf"(?:[^\W_{unspaced}]|[{_MARKS}])"
    character = f"[{unspaced}]|" if unspaced else ""
    return re.compile(
        rf"""(?P<footnote>\[\d{{1,3}}(?:[,–-]\ ?\d{{1,3}})*\])
        |(?P<date>(?<![\d.])(?:0?[1-9]|[12]\d|3[01])\.[ ]?(?:0?[1-9]|1[0-2])\.[ ]?[12]\d{{3}}
           (?!\.?\d))
        |(?P<comma>(?<![\d.,])[1-9]\d{{0,2}}(?:[.\u00a0\u2009\u202f '’]\d{{3}})+,\d+(?!\d|[.,]\d)
           |\d{{1,3}}(?:\.\d{{3}}){{2,}}(?!\.?\d)
           |(?<![\d.,])(?:0,\d+|\d+,\d{{1,2}})(?!\d|[.,]\d|\ (?:and|or|&)\ \d))
        |(?P<number>\d{{1,3}}(?:[,\u00a0\u2009\u202f]\d{{3}})+(?:\.\d+)?(?!\d)
           |(?<![\d.,])[1-9]\d?(?:,\d\d)+,\d{{3}}(?!\d|[.,]\d)|\d{{1,3}}(?:['’]\d{{3}})+(?!\d)|\d+(?:\.\d+)?)
         (?P<suffix>(?:st|nd|rd|th|s)\b)?(?:\ ?(?P<part>[¼-¾⅐-⅞]))?
        |(?P<fraction>[¼-¾⅐-⅞])
        |(?P<word>{character}[^\W\d_{unspaced}]{in_word}*(?:['’]{in_word}+)*)
        |(?P<sign>[£$€%°])
        |(?P<mark>[^\w\s]|_)""",
        re.VERBOSE,
    )


_SYMBOLS_BY_WORD = {"percent": "%", "prozent": "%"}
_ACCENT = re.compile(
    r"(?<=[a-zеα-ω])[\u0300-\u036f]+|[\u0591-\u05c7\u064b-\u0652\u0670\u200c\u200d]"
)
"""Latin and Greek accents, the dots of Russian ё, and marks that Hebrew and Arabic usually omit;
elsewhere, marks make other words.
"""


@functools.lru_cache(maxsize=65_536)
def _normalize_word(word: str) -> str:
    folded = word.casefold().replace("’", "'")
    if folded.isascii():
        return _SYMBOLS_BY_WORD.get(folded, folded)
    bare = _ACCENT.sub("", unicodedata.normalize("NFKD", folded))
    return unicodedata.normalize("NFC", bare)


_UNITS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
    fifteen sixteen seventeen eighteen nineteen""".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_SMALL_NUMBERS = {
    **{name: float(value) for value, name in enumerate(_UNITS)},
    **{name: 10.0 * tens for tens, name in enumerate(_TENS, 2)},
}
NUMBER_SCALES = {
    _normalize_word(name): value
    for value, names in {
        1e2: "hundred",
        1e3: "thousand tausend tys тыс ألف آلاف हजार 千",
        1e4: "万 萬 만",
        1e5: "lakh lakhs लाख",
        1e6: """million millions mn millionen mio millón millones milhão milhões milione
            milioni milion miliony milionów mln miljoen miljoner миллион миллиона миллионов млн
            مليون ملايين मिलियन""",
        1e7: "crore crores करोड़",
        1e8: "億 亿 억",
        1e9: """billion billions bn milliarde milliarden mrd milliard milliards miliardo
            miliardi miliard miliardy miliardów mld миллиард миллиарда миллиардов млрд
            مليار مليارات""",
        1e12: "trillion trillions billionen 兆 조",
    }.items()
    for name in names.split()
}
"""Words after a number, with the factors by which they multiply it; `billion` is 1e9, not 1e12."""
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
    pattern = _token_pattern(UNSPACED if may_be_unspaced(text) else "")
    for match in pattern.finditer(text):
        start, end = match.span()
        if match["word"]:
            capital = match["word"][0].isupper()
            found.append(Token(_normalize_word(match["word"]), "word", start, end, None, capital))
        elif match["date"]:
            found += _date_parts(text, start, end)
        elif printed := match["number"] or match["comma"] or match["fraction"]:
            digits = _read_number(printed, match["part"] or "", has_comma=bool(match["comma"]))
            # A minus sign directly precedes its number; one between two numbers is a dash.
            minus = text[start - 1 : start] in {"-", "−"}
            negative = minus and not text[max(0, start - 2) : start - 1].strip(" (\n")
            value = -digits if negative else digits
            kind: Kind = "number"
            if match["suffix"]:
                kind = "decade" if match["suffix"] == "s" else "ordinal"
            found.append(Token(_number_key(value, kind), kind, start, end, value))
        elif match["sign"]:
            found.append(Token(match["sign"], "word", start, end))
        elif match["mark"]:
            found.append(Token(match["mark"], "mark", start, end))
    return _join_numbers(found)


def _date_parts(text: str, start: int, end: int) -> Iterator[Token]:
    """Yield the day, month and year in `12.03.1931` as separate numbers."""
    for part in re.finditer(r"\d+|\.", text[start:end]):
        span = start + part.start(), start + part.end()
        if part[0] == ".":
            yield Token(".", "mark", *span)
        else:
            value = float(part[0])
            yield Token(_number_key(value), "number", *span, value)


def _read_number(printed: str, fraction: str, *, has_comma: bool) -> float:
    """Return the value of a number as printed, plus a `fraction` such as `¾`."""
    if not printed[0].isdecimal():
        return unicodedata.numeric(printed)
    point = "," if has_comma else "."
    digits = "".join("." if c == point else c for c in printed if c == point or c.isdecimal())
    return float(digits) + (unicodedata.numeric(fraction) if fraction else 0.0)


def runs_on(before: Token, after: Token) -> bool:
    """Return whether two words are adjacent in a script without spaces, so that they may be one."""
    return before.end == after.start and bool(unspaced_characters(before.key[:1] + after.key[:1]))


def word_tokens(tokens: Sequence[Token]) -> list[Token]:
    """Return the words and numbers without punctuation marks."""
    return [token for token in tokens if token.kind != "mark"]


def token_keys(text: str) -> list[str]:
    """Return the keys of the words and numbers in `text`, in order."""
    return [token.key for token in tokenize(text) if token.kind != "mark"]


def _number_key(value: float, kind: Kind = "number") -> str:
    """Format a number so that equal values give equal strings: `1829`, `4th`, `1990s`."""
    suffix = {"ordinal": "th", "decade": "s"}.get(kind, "")
    return f"{value:.6f}".rstrip("0").rstrip(".") + suffix


def _join_numbers(tokens: list[Token]) -> list[Token]:
    """Assign values to number words, and join the parts of a number: `forty-one`, `8.2 million`.

    A number directly after a larger scale is added to it: `1億2000万`.
    """
    found: list[Token] = []
    i, scaled_end, last_scale = 0, -1, 1.0
    while i < len(tokens):
        token, end = tokens[i], i + 1
        value = token.value if token.kind == "number" else _SMALL_NUMBERS.get(token.key)
        if value is not None:
            is_money, scale = i > 0 and tokens[i - 1].key in _MONEY, 1.0
            while end < len(tokens):
                has_hyphen = tokens[end].key in _HYPHENS
                word = tokens[end + has_hyphen].key if end + has_hyphen < len(tokens) else ""
                if word in NUMBER_SCALES or (word == "m" and is_money):  # `£4m`
                    scale *= NUMBER_SCALES.get(word, 1e6)
                elif has_hyphen and token.key in _TENS and word in _UNITS[1:10]:
                    value += _SMALL_NUMBERS[word]
                else:
                    break
                end += has_hyphen + 1
            value, start, is_continued = round(value * scale, 6), token.start, scale > 1
            if start == scaled_end and value < last_scale:
                larger = found.pop()
                value, start = value + (larger.value or 0.0), larger.start
            token = Token(_number_key(value), "number", start, tokens[end - 1].end, value)
            if is_continued:
                scaled_end, last_scale = token.end, scale
        found.append(token)
        i = end
    return found
