"""Number words: `forty-one`, `two hundred thousand`, `8.2 million`, `twelfth`."""

from __future__ import annotations

_SMALL = {
    word: value
    for value, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
        fifteen sixteen seventeen eighteen nineteen""".split()
    )
}
_TENS = dict(
    zip(
        "twenty thirty forty fifty sixty seventy eighty ninety".split(),
        range(20, 100, 10),
        strict=True,
    )
)
_SCALES = {
    "dozen": 12.0,
    "hundred": 100.0,
    "thousand": 1e3,
    "million": 1e6,
    "billion": 1e9,
    "trillion": 1e12,
}
_ORDINALS = {
    word: value
    for value, word in enumerate(
        """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
        thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth
        twentieth""".split(),
        1,
    )
}


def ordinal(word: str) -> int | None:
    """`twelfth` → 12; None for other words."""
    return _ORDINALS.get(word)


def is_number_word(word: str) -> bool:
    """Whether a word can be part of a number written out."""
    return word in _SMALL or word in _TENS or word in _SCALES


def is_scale(word: str) -> bool:
    """Whether a word multiplies the number before it: `million`."""
    return word in _SCALES


def scaled(value: float, word: str) -> float:
    """Multiply a value by a scale word."""
    return round(value * _SCALES[word], 6)


def read(parts: list[str]) -> tuple[float, int]:
    """Read a number from the start of a word list: its value and how many words it took."""
    total = current = 0.0
    taken = 0
    last = ""
    for word in parts:
        if not _goes_on(last, word):
            break
        if word in _SCALES:
            current = (current or 1.0) * _SCALES[word]
            if _SCALES[word] > 100:
                total, current = total + current, 0.0
        else:
            current += _SMALL.get(word, _TENS.get(word, 0))
        taken += 1
        last = word
    return total + current, taken


def _goes_on(last: str, word: str) -> bool:
    """Whether `word` continues a number that ended in `last`: `forty one`, not `four five`."""
    if not last or word in _SCALES:
        return bool(last) or word not in _SCALES
    if last in _TENS:
        return 0 < _SMALL.get(word, 0) < 10
    return last in _SCALES
