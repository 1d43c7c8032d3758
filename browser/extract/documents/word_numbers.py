"""Computes the numbers that Word shows before headings and items; a file does not store them."""

from __future__ import annotations

import re
import string
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml import etree

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_LEVEL_PLACEHOLDER = re.compile(r"%(\d)")
_LEVELS = 9  # in a Word list
MAX_STYLE_DEPTH = 10  # for styles based on other styles; damaged files may contain loops
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
          (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip


class Numbers:
    """Numbers a document's paragraphs, in order."""

    def __init__(self, numbering: etree._Element | None, styles: etree._Element | None) -> None:
        found = list(numbering) if numbering is not None else []
        self._levels = {
            node.get(f"{W}abstractNumId"): {
                level.get(f"{W}ilvl"): level for level in node.iter(f"{W}lvl")
            }
            for node in found
            if node.tag == f"{W}abstractNum"
        }
        self._lists = {node.get(f"{W}numId"): node for node in found if node.tag == f"{W}num"}
        styled = styles.iter(f"{W}style") if styles is not None else ()
        self._styles = {node.get(f"{W}styleId"): node for node in styled}
        # The latest number for each list and level; lists that share a definition continue each
        # other's numbering.
        self._counts: dict[str, list[int | None]] = defaultdict(lambda: [None] * _LEVELS)

    def next_label(self, paragraph: etree._Element) -> str:
        """Count a paragraph and return its number, such as `2.1` or `(b)`; "" if it has none."""
        number, level = self._list_and_level(paragraph.find(f"{W}pPr"), MAX_STYLE_DEPTH)
        if number not in self._lists or not level.isdecimal() or int(level) >= _LEVELS:
            return ""
        name = _value(self._lists[number], "abstractNumId")
        levels, depth = self._levels.get(name, {}), int(level)
        counts = self._counts[self._key(number, name)]
        starts = [_start(self._lists[number], levels, str(n)) for n in range(_LEVELS)]
        before = counts[depth]
        counts[depth] = starts[depth] if before is None else before + 1
        counts[depth + 1 :] = [None] * (_LEVELS - depth - 1)
        if level not in levels or _value(levels[level], "numFmt") in {"bullet", "none"}:
            return ""

        def written(match: re.Match[str]) -> str:
            place = int(match[1]) - 1
            shown = counts[place] if counts[place] is not None else starts[place]
            one = levels.get(str(place))
            return _format_number(shown or 0, _value(one, "numFmt") if one is not None else "")

        return _LEVEL_PLACEHOLDER.sub(written, _value(levels[level], "lvlText")).strip()

    def _key(self, number: str, name: str) -> str:
        restarts = next(self._lists[number].iter(f"{W}startOverride"), None) is not None
        return f"{name}/{number}" if restarts else name

    def _list_and_level(self, properties: etree._Element | None, depth: int) -> tuple[str, str]:
        """Return a paragraph's list and level, from its own properties or from its style."""
        if properties is None or not depth:
            return "", ""
        own = properties.find(f"{W}numPr")
        if own is not None and _value(own, "numId"):
            return _value(own, "numId"), _value(own, "ilvl") or "0"
        style = self._styles.get(_value(properties, "pStyle"))
        if style is None:
            return "", ""
        number, level = self._list_and_level(style.find(f"{W}pPr"), depth - 1)
        if not number and (base := self._styles.get(_value(style, "basedOn"))) is not None:
            number, level = self._list_and_level(base.find(f"{W}pPr"), depth - 1)
        return number, (_value(own, "ilvl") if own is not None else "") or level


def _start(node: etree._Element, levels: dict[str | None, etree._Element], level: str) -> int:
    for override in node.iter(f"{W}lvlOverride"):
        if override.get(f"{W}ilvl") == level and (start := _value(override, "startOverride")):
            return int(start)
    start = _value(levels[level], "start") if level in levels else ""
    return int(start) if start.isdecimal() else 1


def _value(element: etree._Element, name: str) -> str:
    child = element.find(f"{W}{name}")
    return child.get(f"{W}val", "") if child is not None else ""


def _format_number(number: int, form: str) -> str:
    letters = string.ascii_lowercase
    match form:
        case "lowerLetter" | "upperLetter" if number > 0:
            text = letters[(number - 1) % 26] * ((number - 1) // 26 + 1)
        case "lowerRoman" | "upperRoman":
            text = ""
            for amount, sign in _ROMAN:
                text += sign * (number // amount)
                number %= amount
        case "decimalZero":
            return f"{number:02}"
        case _:
            return str(number)
    return text.upper() if form.startswith("upper") else text
