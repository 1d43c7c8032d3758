"""Units of measurement: their names, conversions, and the units of fields or columns.

Names are recognised in English and German, and as symbols. An unknown unit is treated as no unit,
so it never causes a rejection.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Unit(NamedTuple):
    """A unit: a value times `factor`, plus `offset`, is the value in the dimension's base unit."""

    dimension: str
    factor: float
    offset: float = 0.0

    def convert(self, value: float, to: Unit) -> float | None:
        """Convert a value; None if the dimensions or currencies differ."""
        if self.dimension != to.dimension:
            return None
        return (value * self.factor + self.offset - to.offset) / to.factor


_TABLE = {
    "length": """mm millimetre millimeter=.001 cm centimetre centimeter zentimeter=.01
        m metre meter=1 km kilometre kilometer=1000 inch zoll=.0254 ft foot feet fuß=.3048
        yd yard=.9144 mi mile meile=1609.344 nmi=1852""",
    "area": """m2 sqm squaremetre squaremeter quadratmeter=1 ha hectare hektar=1e4
        km2 sqkm squarekilometre squarekilometer quadratkilometer=1e6 acre=4046.8564
        ft2 sqft squarefoot squarefeet=.09290304 mi2 sqmi squaremile=2589988.1""",
    "volume": """ml millilitre milliliter=1e-6 l litre liter=.001 hl hectolitre hektoliter=.1
        m3 cubicmetre cubicmeter kubikmeter=1 km3 cubickilometre=1e9
        ft3 cubicfoot cubicfeet=.02831685 gallon=.00378541""",
    "mass": """mg milligram milligramm=1e-6 g gram gramme gramm=.001
        kg kilogram kilogramme kilogramm kilo=1 t tonne=1000 lb lbs=.45359237""",
    "time": """ms millisecond millisekunde=.001 s sec sekunde=1 min minute=60 h hr hour stunde=3600
        day tag=86400 week woche=604800""",
    "years": "month monat=1 year jahr=12 decade=120",
    "speed": """kmh kph kmperh kmperhour kilometreperhour kilometerperhour=.2777778
        mpers mps metrepersecond meterpersecond=1 mph mileperhour=.44704 knot kn knoten=.5144444""",
    "power": "w watt=1 kw kilowatt=1e3 megawatt=1e6 gw gigawatt=1e9 hp horsepower ps=745.7",
    "energy": "wh=1 kwh kilowatthour kilowattstunde=1e3 mwh=1e6 gwh=1e9",
    "data": "byte=1 kb kilobyte=1e3 mb megabyte=1e6 gb gigabyte=1e9 tb terabyte=1e12",
    "rate": "bps=1 kbps kbit=1e3 mbps mbit=1e6 gbps gbit=1e9",
    "euro": "eur euro €=1 cent=.01",
    "dollar": "usd dollar $=1",
    "pound": "gbp pound £=1",
    "share": "% pct percent prozent=1",
    "degrees celsius": "°c celsius degc=1",
}
"""The names of each unit, then `=` and its factor. Plural endings `s` and `n` are omitted."""
_FAHRENHEIT = Unit("degrees celsius", 5 / 9, -32 * 5 / 9)


def _parse_unit_table() -> dict[str, Unit]:
    found = {"°f": _FAHRENHEIT, "fahrenheit": _FAHRENHEIT, "degf": _FAHRENHEIT}
    for dimension, rows in _TABLE.items():
        for names, factor in re.findall(r"([^=]+)=(\S+)", rows):
            found |= {name: Unit(dimension, float(factor)) for name in names.split()}
    return found


_UNITS = _parse_unit_table()
_POWER_WORDS = frozenset("square cubic".split())
_SYMBOLS = frozenset("m g l s t h w ms".split())
"""Symbols that do not count as units after `in` or a comma, where they may be a different word."""
_AMBIGUOUS_FIELD_ENDINGS = frozenset({"min", "day", "week", "month", "year", "share"})
"""Field name endings that are rarely a unit: `length_min` is the minimum length."""
_PARENTHESES = re.compile(r"[(\[]([^)\]]+)[)\]]")
_NAME_PART_RE = re.compile(r"[A-Z]?[a-z]+[23]?|[A-Z]+[23]?|[€$£%]")


def find_unit(name: str) -> Unit | None:
    """Look up a unit by name or symbol (`km`, `kilometres`, `m²`, `km/h`); None if unknown."""
    folded = name.casefold().replace("²", "2").replace("³", "3").replace("/", "per")
    key = re.sub(r"[\s.^]|(?<=\w)-", "", folded)
    for spelt in (key, key.removesuffix("s"), key.removesuffix("n")):
        if spelt in _UNITS:
            return _UNITS[spelt]
    return _UNITS.get(key.replace("sper", "per"))


def unit_at(words: Sequence[str]) -> tuple[Unit | None, int]:
    """Read the unit at the start of a list of words; returns it and its number of words."""
    for size in (3, 2):  # km / h, kilometres per hour, square miles, ° C
        joined = "".join(words[:size])
        binds = size == 3 and words[1:2] in (["/"], ["per"])
        binds |= size == 2 and bool(words) and words[0].casefold() in {*_POWER_WORDS, "°"}
        if binds and (unit := find_unit(joined)):
            return unit, size
    if words and (unit := find_unit(words[0])):
        is_per = words[1:2] in (["/"], ["per"])  # in a rate that is not in the table
        return (None, 0) if is_per else (unit, 1)
    return None, 0


def field_unit(name: str, description: str = "") -> Unit | None:
    """Find the unit of a field: `length_km`, `lengthKm`, `Length in kilometres`, or None."""
    parts = _NAME_PART_RE.findall(name.replace("²", "2").replace("³", "3"))
    if len(parts) > 1:
        for last in ("".join(parts[-2:]), parts[-1]):  # `depth_square_km`, `speed_km_h`
            if last == name or last.casefold().removesuffix("s") in _AMBIGUOUS_FIELD_ENDINGS:
                continue
            if unit := find_unit(last):
                return unit
    return heading_unit(description)


def heading_unit(heading: str) -> Unit | None:
    """Find the unit in a column name or description, as in `Length (km)`; None if there is none."""
    for inside in _PARENTHESES.findall(heading):
        if unit := find_unit(inside.removeprefix("in ")):
            return unit
    words = heading.split()
    for at, word in enumerate(words[:-1]):
        if word == "in" or word.endswith(","):
            unit, _ = unit_at([part.strip(".,;:") for part in words[at + 1 : at + 4]])
            if unit and words[at + 1].casefold() not in _SYMBOLS:
                return unit
    return None


def is_same_or_unknown_unit(a: Unit | None, b: Unit | None) -> bool:
    """Return whether two units may be the same; None means an unknown unit, which may be any."""
    return a is None or b is None or a == b


def is_rounded(claimed: float, exact: float) -> bool:
    """Return whether a number is the rounded form of another: 8 for 8.2, 72 for 72.18."""
    if not claimed or not exact:
        return claimed == exact
    digits = len(f"{abs(claimed):.10g}".replace(".", "").strip("0"))
    rounded = round(exact, digits - 1 - math.floor(math.log10(abs(exact))))
    return math.isclose(rounded, claimed)
