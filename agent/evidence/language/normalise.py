"""Text as tokens that compare equal across typography, spelling, inflection and number forms."""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import Literal, NamedTuple

from agent.evidence.language import numerals
from agent.evidence.language.german import english_numbers, is_german
from agent.evidence.language.parts import with_parts
from agent.evidence.language.spelling import PHRASAL, expand_contraction, root
from agent.evidence.language.thesaurus import phrases

Kind = Literal["word", "number", "ordinal", "clock", "punct"]


class Token(NamedTuple):
    """One word, number or mark. `root` is what comparisons use; `form` keeps the inflection.

    `raw` is as printed (typography aside); `value` is the number that a figure or ordinal names.
    """

    root: str
    form: str
    raw: str
    kind: Kind
    value: float | None = None


_VULGAR = re.compile(r"(\d*)\s?([¼½¾⅓⅔⅛])")
_VULGAR_VALUE = {"¼": 0.25, "½": 0.5, "¾": 0.75, "⅓": 0.333, "⅔": 0.667, "⅛": 0.125}
_THIN_THOUSANDS = re.compile("(?<=\\d)[\u00a0\u2009\u202f](?=\\d{3}(?!\\d))")
_DASHES = re.compile("[\u2010-\u2015\u2212]")
_QUOTES = str.maketrans(dict.fromkeys("\u2018\u2019\u02bc\u0060\u00b4\u2032", "'"))
_ABBREVIATION = re.compile(r"\b(?:[A-Za-z]\.)+[A-Za-z]\b\.?")
_NUMERO = re.compile(r"\b[Nn]os?\.\s?(?=\d)")
_PER_CENT = re.compile(r"\bper cent\b|\bpercentage points?\b", re.IGNORECASE)
_BASIS_POINT = re.compile(r"\bbasis points?\b", re.IGNORECASE)
_SCALE = {"m": "million", "mn": "million", "mln": "million", "mio": "million", "b": "billion",
          "bn": "billion", "mrd": "billion", "k": "thousand", "tn": "trillion"}  # fmt: skip
_SHORT_SCALE = re.compile(
    r"""(?:(?P<money>[£$€]\s?\d[\d.,]*)\s?(?P<scale>mn?|mln|mio|bn?|mrd|k|tn)
    |(?P<count>\b\d[\d.,]*)\s?(?P<sure>bn|mn|mln|mio|mrd|k))\b\.?(?!\w)""",
    re.VERBOSE | re.IGNORECASE,
)
_INITIAL = re.compile(r"\b([A-Z])\.\s?(?=[A-Z][\w.])")
_CITATION_MARK = re.compile(r"\[\d{1,3}\]")
_SIGNS = {"%": "percent", "£": "pound", "$": "dollar", "€": "euro", "&": "and", "°": "degree"}

_TOKEN = re.compile(
    r"""(?P<clock>\d{1,2}:\d\d)(?!\d)
    |(?P<ordinal>\d+(?:st|nd|rd|th)\b)
    |(?P<version>\d+(?:\.\d+){2,}\b)
    |(?P<number>\d+(?:,\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)?)
    |(?P<word>[^\W\d_]+\d{1,2}(?![\d.,:]\d|\w)|[^\W\d_]+(?:'[^\W\d_]+)*)
    |(?P<sign>[%£$€&°])
    |(?P<punct>[,;:.!?()\[\]"/-]|\u2026)""",
    re.VERBOSE,
)


def tokenise(text: str) -> list[Token]:
    """Cut a text into tokens; number words and scales become one number (`8.2 million`)."""
    found: list[Token] = []
    for match in _TOKEN.finditer(_flat(text)):
        found.extend(_tokens(match.lastgroup or "", match[0]))
    return _joined(found)


def words_of(tokens: list[Token]) -> list[Token]:
    """Leave punctuation out."""
    return [token for token in tokens if token.kind != "punct"]


def number_form(value: float) -> str:
    """Write a number so that equal values are equal strings: `1,304.0` → `1304`."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _flat(text: str) -> str:
    """Undo typography: quotes, dashes, ligatures, accents, thin spaces, vulgar fractions."""
    text = _VULGAR.sub(_decimal, _THIN_THOUSANDS.sub("", text))
    if is_german(text):
        text = english_numbers(text)
    text = _SHORT_SCALE.sub(_with_scale, text)
    text = text.translate(_QUOTES).replace("\u2026", " \u2026 ").replace("...", " \u2026 ")
    if not text.isascii():
        kept = text.replace("\u2026", "\0")
        decomposed = unicodedata.normalize("NFKD", kept)
        text = "".join(c for c in decomposed if not unicodedata.combining(c))
        text = _DASHES.sub("-", text.replace("\0", "\u2026"))
    text = _ABBREVIATION.sub(lambda m: m[0].replace(".", ""), text)
    text = _phrase().sub(lambda m: phrases()[m[0].casefold()], text)
    text = with_parts(_NUMERO.sub("number ", _INITIAL.sub(r"\1 ", text)))
    text = _BASIS_POINT.sub("basispoints", _CITATION_MARK.sub("", text))
    return _PER_CENT.sub("percent", text)


@functools.cache
def _phrase() -> re.Pattern[str]:
    found = "|".join(re.escape(phrase) for phrase in phrases())
    return re.compile(rf"\b(?:{found})\b", re.IGNORECASE)


def _with_scale(match: re.Match[str]) -> str:
    """Write out the scale of `£38.1m` and `5bn`; without a currency, `m` is metres."""
    scale = match["scale"] or match["sure"]
    return f"{match['money'] or match['count']} {_SCALE[scale.casefold()]}"


def _decimal(match: re.Match[str]) -> str:
    whole = int(match[1]) if match[1] else 0
    return f"{whole + _VULGAR_VALUE[match[2]]} "


@functools.lru_cache(maxsize=65_536)
def _tokens(group: str, raw: str) -> tuple[Token, ...]:
    if group == "word":
        return tuple(_words(raw))
    if group == "number":
        value = float(raw.replace(",", ""))
        form = number_form(value)
        return (Token(form, form, raw, "number", value),)
    if group == "ordinal":
        form = f"{raw[:-2]}th"
        return (Token(form, form, raw, "ordinal", float(raw[:-2])),)
    if group == "sign":
        return (Token(root(_SIGNS[raw]), _SIGNS[raw], raw, "word"),)
    if group == "version":
        return (Token(raw, raw, raw, "word"),)
    kind: Kind = "clock" if group == "clock" else "punct"
    return (Token(raw, raw, raw, kind),)


def _words(raw: str) -> list[Token]:
    folded = raw.casefold()
    expanded = expand_contraction(folded)
    if expanded != folded:
        return [Token(root(part), part, part, "word") for part in expanded.split()]
    form = folded.removesuffix("'s").removesuffix("'")
    place = numerals.ordinal(form)
    if place is not None:
        return [Token(f"{place}th", f"{place}th", raw, "ordinal", float(place))]
    return [Token(root(form.replace("'", "")), form, raw, "word")]


def _joined(tokens: list[Token]) -> list[Token]:
    """Put number words, digits with a scale, and phrasal verbs together."""
    found: list[Token] = []
    i = 0
    while i < len(tokens):
        token = tokens[i]
        if token.kind == "number":
            i = _digits_with_scale(tokens, i, found)
        elif i + 1 < len(tokens) and (token.root, tokens[i + 1].form) in PHRASAL:
            verb = PHRASAL[token.root, tokens[i + 1].form]
            found.append(token._replace(root=verb, raw=f"{token.raw} {tokens[i + 1].raw}"))
            i += 2
        elif token.kind == "word" and numerals.is_number_word(token.form):
            i = _written_number(tokens, i, found)
        else:
            found.append(token)
            i += 1
    return found


def _digits_with_scale(tokens: list[Token], i: int, found: list[Token]) -> int:
    token, value = tokens[i], tokens[i].value or 0.0
    after = i + 1
    while (scale := _scale_at(tokens, after)) is not None:
        value = numerals.scaled(value, tokens[scale].form)
        after = scale + 1
    form = number_form(value)
    raw = " ".join(t.raw for t in tokens[i:after])
    found.append(Token(form, form, raw, "number", value) if after > i + 1 else token)
    return after


def _scale_at(tokens: list[Token], i: int) -> int | None:
    """Index of the scale that stands at `i` or behind a hyphen there: `23-million-kronor`."""
    at = i + 1 if tokens[i : i + 1] and tokens[i].form == "-" else i
    return at if at < len(tokens) and numerals.is_scale(tokens[at].form) else None


def _written_number(tokens: list[Token], i: int, found: list[Token]) -> int:
    """Read `forty-one` or `two hundred and six`; a lone scale (`millions`, `a hundred`) counts."""
    parts: list[str] = []
    places: list[int] = []
    for j in range(i, min(i + 12, len(tokens))):
        form = tokens[j].form
        if form == "-" or (form == "and" and parts and parts[-1] in {"hundred", "thousand"}):
            continue
        if not numerals.is_number_word(form):
            break
        parts.append(form)
        places.append(j)
    value, taken = numerals.read(parts)
    if not taken:
        value, taken = numerals.scaled(1.0, parts[0]), 1
    end = places[taken - 1] + 1
    form = number_form(value)
    raw = " ".join(t.raw for t in tokens[i:end] if t.kind != "punct")
    found.append(Token(form, form, raw, "number", value))
    return end
