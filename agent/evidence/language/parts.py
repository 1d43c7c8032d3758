"""Parts of a whole written in words, as decimals: `an hour and a half`, `half a point`."""

from __future__ import annotations

import re

from agent.evidence.language import numerals

_UNIT = r"(?:hour|day|week|month|year|decade|century|mile|kilometre|metre|million|billion)"
_COUNT = r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|\d+)"
_UNIT_AND_HALF = re.compile(rf"\b({_COUNT})[ -]({_UNIT})s? and a half\b", re.IGNORECASE)
_COUNT_AND_HALF = re.compile(rf"\b({_COUNT})[ -]and[ -]a[ -]half\b", re.IGNORECASE)
_OF_AN_HOUR = re.compile(r"\b(a|three) quarters? of an hour\b", re.IGNORECASE)
_OF_A_POINT = re.compile(
    r"\b(?:(half) a|an? (quarter|fifth|tenth) of a|three (quarters) of a)(?: percentage)? point\b",
    re.IGNORECASE,
)
_OF_A_SCALE = re.compile(
    r"\b(?:(half) (?:of )?a|a (quarter) of a|three (quarters) of a) (thousand|million|billion)\b",
    re.IGNORECASE,
)
_HALF_A_DOZEN = re.compile(r"\bhalf[ -](?:an?[ -])?dozen\b", re.IGNORECASE)
_HYPHENED = re.compile(r"\b(one|two|three|four|five)-(thirds?|quarters?|fifths?)\b", re.IGNORECASE)
_QUARTERS = {"a": 15, "three": 45}
_PART = {"half": "0.5", "quarter": "0.25", "fifth": "0.2", "tenth": "0.1", "quarters": "0.75"}


def with_parts(text: str) -> str:
    """Write halves and quarters of hours, years, points and millions as numbers."""
    if not _may_have(text):
        return text
    text = _UNIT_AND_HALF.sub(lambda m: f"{_and_half(m[1])} {m[2]}s", text)
    text = _COUNT_AND_HALF.sub(lambda m: _and_half(m[1]), text)
    text = _OF_AN_HOUR.sub(lambda m: f"{_QUARTERS[m[1].casefold()]} minutes", text)
    text = _OF_A_POINT.sub(lambda m: f"{_part(m)} percent", text)
    text = _OF_A_SCALE.sub(lambda m: f"{_part(m)} {m[4]}", text)
    return _HYPHENED.sub(r"\1 \2", _HALF_A_DOZEN.sub("six", text))


def _may_have(text: str) -> bool:
    return any(word in text for word in ("hal", "Hal", "quarter", "third", "fifth", "tenth"))


def _and_half(count: str) -> str:
    word = count.casefold()
    if word.isdigit():
        return f"{word}.5"
    whole = 1 if word in {"a", "an"} else int(numerals.read([word])[0])
    return f"{whole}.5"


def _part(match: re.Match[str]) -> str:
    return _PART[(match[1] or match[2] or match[3]).casefold()]
