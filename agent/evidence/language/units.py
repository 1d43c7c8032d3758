"""Units of measure: what they measure, and how they convert."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent.evidence.language.spelling import root

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.evidence.language.normalise import Token


class Unit(NamedTuple):
    """What a unit measures, and its size in that dimension's base unit (SI, or as noted)."""

    dimension: str
    factor: float


# Conversion factors by the international definitions (BIPM SI Brochure; the 1959 yard and pound
# agreement). Years and months are mean Gregorian ones, in days.
_TABLE = {
    ("length", 1.0): "m metre metern",
    ("length", 1000.0): "km kilometre kilometer kilometern",
    ("length", 0.01): "cm centimetre",
    ("length", 0.001): "mm millimetre",
    ("length", 1609.344): "mi mile",
    ("length", 0.3048): "ft foot",
    ("length", 0.0254): "inch",
    ("length", 0.9144): "yd yard",
    ("area", 1e6): "km2 quadratkilometer quadratkilometern",
    ("area", 1.0): "m2 quadratmeter quadratmetern",
    ("area", 1e4): "ha hectare hektar",
    ("area", 4046.856): "acre",
    ("volume", 1.0): "m3",
    ("volume", 0.001): "litre",
    ("volume", 1e-6): "ml millilitre",
    ("volume", 0.1): "hectolitre",
    ("volume", 0.00378541): "gallon",
    ("mass", 1.0): "kg kilogram kilogramme kilo",
    ("mass", 0.001): "gram gramme",
    ("mass", 1e-6): "mg milligram milligramme",
    ("mass", 1e-9): "microgram",
    ("mass", 1000.0): "tonne tonnen",
    ("mass", 907.185): "ton",
    ("mass", 0.45359237): "lb",
    ("power", 1.0): "watt",
    ("power", 1e3): "kw kilowatt",
    ("power", 1e6): "mw megawatt",
    ("power", 1e9): "gw gigawatt",
    ("time", 1.0 / 86400): "second sekunde",
    ("time", 1.0 / 1440): "min minute minuten",
    ("time", 1.0 / 24): "hour stunde stunden",
    ("time", 1.0): "day tag tage tagen",
    ("time", 7.0): "week woche wochen",
    ("time", 14.0): "fortnight",
    ("time", 30.436875): "month monat monate monaten",
    ("time", 365.2425): "year jahr jahre jahren",
    ("time", 3652.425): "decade",
    ("time", 36524.25): "century jahrhundert",
    ("speed", 1.609344): "mph",
    ("speed", 1.0): "kmh kph",
    ("share", 1.0): "percent prozent",
    ("share", 0.01): "basispoint",
    ("cent", 0.01): "cent",
    ("pound", 1.0): "pound gbp",
    ("dollar", 1.0): "dollar usd",
    ("euro", 1.0): "euro eur",
    ("yen", 1.0): "yen",
    ("krone", 1.0): "krone kroner krona kronor crown dkk sek nok",
    ("florin", 1.0): "florin guilder",
    ("franc", 1.0): "franc chf",
    ("zloty", 1.0): "zloty pln",
    ("rupee", 1.0): "rupee inr",
    ("rand", 1.0): "rand zar",
    ("degree", 1.0): "degree",
    ("data", 1.0): "kb kilobyte",
    ("data", 1e3): "mb megabyte",
    ("data", 1e6): "gb gigabyte",
    ("data", 1e9): "tb terabyte",
    ("charge", 1.0): "mah",
    ("energy", 1.0): "kwh",
    ("energy", 1e3): "mwh",
    ("energy", 1e6): "gwh",
    ("frequency", 1.0): "hz hertz",
    ("frequency", 1e3): "khz",
    ("frequency", 1e6): "mhz",
    ("frequency", 1e9): "ghz",
    ("tension", 1.0): "volt",
    ("loudness", 1.0): "db decibel",
    ("rotation", 1.0): "rpm",
}
_UNITS = {
    root(name): Unit(dimension, factor)
    for (dimension, factor), names in _TABLE.items()
    for name in names.split()
}
_POWERS = {"square": ("area", 2), "sq": ("area", 2), "cubic": ("volume", 3)}
CURRENCIES = frozenset(
    root(name)
    for names in (
        "pound gbp dollar usd euro eur yen krone kroner kronor dkk sek nok franc chf zloty pln",
        "florin guilder",
        "rupee inr rand zar",
    )
    for name in names.split()
)


def read_unit(after: Sequence[Token]) -> tuple[Unit | None, int]:
    """Read a unit from the tokens after a number: the unit and how many tokens it took."""
    taken = 1 if after and after[0].form == "-" else 0
    names = [token.root for token in after[taken : taken + 2]]
    if not names:
        return None, 0
    power = _POWERS.get(after[taken].form)
    if power and len(names) > 1 and names[1] in _UNITS:
        dimension, exponent = power
        return Unit(dimension, _UNITS[names[1]].factor ** exponent), taken + 2
    unit = _UNITS.get(names[0])
    return (unit, taken + 1) if unit else (None, 0)


def unit_named(name: str) -> Unit | None:
    """Find a unit by the root of its name."""
    return _UNITS.get(name)
