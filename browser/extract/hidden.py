"""Text that is in the page but that nobody sees, by markup, declarations and colours."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from browser.extract.css import Cascade, parse_sheet
from browser.extract.formulas import draws
from browser.extract.tree import raw_text, remove

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lxml import etree

    from browser.extract.css import Declarations, Rule

Color = tuple[int, int, int]

_NAMED: dict[str, Color] = {
    "white": (255, 255, 255), "black": (0, 0, 0), "red": (255, 0, 0), "lime": (0, 255, 0),
    "green": (0, 128, 0), "blue": (0, 0, 255), "yellow": (255, 255, 0), "gray": (128, 128, 128),
    "grey": (128, 128, 128), "silver": (192, 192, 192), "navy": (0, 0, 128),
    "snow": (255, 250, 250), "ivory": (255, 255, 240), "whitesmoke": (245, 245, 245),
    "ghostwhite": (248, 248, 255), "floralwhite": (255, 250, 240), "mintcream": (245, 255, 250),
    "azure": (240, 255, 255), "orange": (255, 165, 0), "purple": (128, 0, 128),
}  # fmt: skip
_HEX = re.compile(r"#([0-9a-f]{3,8})\b")
_RGB = re.compile(r"rgba?\(\s*(\d+)[\s,]+(\d+)[\s,]+(\d+)(?:[\s,/]+([\d.]+%?))?\s*\)")
_HSL = re.compile(
    r"hsla?\(\s*[\d.]+(?:deg)?[\s,]+[\d.]+%[\s,]+([\d.]+)%(?:[\s,/]+([\d.]+%?))?\s*\)"
)
# Channels that differ by no more than this cannot be told apart by eye.
_INDISTINCT = 12


def parse_color(value: str) -> Color | None:
    """Find the colour in a value; None for images, variables and what is not understood."""
    if "url(" in value or "gradient" in value or "var(" in value:
        return None
    if match := _HEX.search(value):
        return _from_hex(match[1])
    if match := _RGB.search(value):
        return (int(match[1]), int(match[2]), int(match[3]))
    if (match := _HSL.search(value)) and match[1] in {"0", "100"}:
        return _NAMED["white" if match[1] == "100" else "black"]
    return next((_NAMED[word] for word in value.split() if word in _NAMED), None)


def is_transparent(value: str) -> bool:
    """Whether nothing is painted in this colour."""
    if value.strip() == "transparent":
        return True
    if (match := _HEX.fullmatch(value.strip())) and len(match[1]) in {4, 8}:
        return set(match[1][3::4] if len(match[1]) == 4 else match[1][6:]) == {"0"}
    match = _RGB.search(value) or _HSL.search(value)
    alpha = match[match.re.groups] if match else None
    return alpha is not None and float(alpha.rstrip("%")) / (100 if "%" in alpha else 1) <= _FAINT


def indistinct(one: Color, other: Color) -> bool:
    """Whether text in one colour cannot be seen on the other."""
    return all(abs(a - b) <= _INDISTINCT for a, b in zip(one, other, strict=True))


def _from_hex(digits: str) -> Color | None:
    if len(digits) in {3, 4}:
        digits = "".join(digit * 2 for digit in digits)
    if len(digits) not in {6, 8}:
        return None
    return (int(digits[0:2], 16), int(digits[2:4], 16), int(digits[4:6], 16))


_LENGTH = re.compile(r"(-?\d*\.?\d+)(px|pt|em|rem|ex|ch|%|vw|vh|cm|in|mm)?")
_PIXELS = {
    "px": 1.0,
    "pt": 1.33,
    "em": 16.0,
    "rem": 16.0,
    "ex": 8.0,
    "ch": 8.0,
    "cm": 37.8,
    "in": 96.0,
    "mm": 3.8,
}
_SIZES = ("width", "height", "max-width", "max-height", "block-size", "max-block-size")
_SIDES = ("left", "top", "right", "bottom", "inset-inline-start", "inset-block-start")
_TRANSLATE = re.compile(r"translate(?:x|y|3d)?\(([^)]*)\)")
_FLAT = re.compile(
    r"scale(?:x|y|3d)?\(\s*0?\.?0\d*\s*[,)]|scale\([^,)]*,\s*0\s*\)|rotate[xy]\(\s*90deg"
    r"|matrix\(\s*0\s*,\s*0\s*,\s*0\s*,\s*0\s*,"
)
_FLAT_SCALE = re.compile(r"0?\.?0\d*%?(?:\s|$)")
_FILTER = re.compile(r"opacity\(\s*0*\.?0*%?\s*\)|blur\(\s*(?:[5-9]|\d\d+)(?:\.\d+)?px")
# Inset by half from both sides, an empty circle, a polygon whose points coincide.
_CLIPPED_AWAY = re.compile(
    r"inset\(\s*(?:5\d|[6-9]\d|100)(?:\.\d+)?%|circle\(\s*0|ellipse\(\s*0|polygon\((?:\s*0(?:px|%)?\s*,?)+\)"
    r"|path\(\s*[\"']m\s*0[\s,]+0\s*z?\s*[\"']\)|rect\((?:\s*0(?:px|%)?){4}\s*\)"
)
_MASKED = re.compile(r"linear-gradient\(\s*transparent\s*,\s*transparent\s*\)")
# Text of less than this many pixels, and boxes of no more, show nothing.
_UNREADABLE = 2.0
_SPECK = 1.0
# So far out no window reaches, even a wide one on a tall page's left or top.
_FAR = 500.0
_FAR_PERCENT = 100.0
_FAR_RIGHT = 5_000.0
_FAINT = 0.05


def hides(declared: Declarations) -> bool:
    """Whether an element with these declarations, and all in it, is out of sight."""
    return (
        declared.get("display") == "none"
        or declared.get("content-visibility") == "hidden"
        or _is_faint(declared)
        or _is_off_screen(declared)
        or _is_clipped(declared)
        or _MASKED.match(declared.get("mask-image") or declared.get("mask", "")) is not None
        or _is_flat(declared)
    )


def hides_own_text(declared: Declarations) -> bool:
    """Whether its text is out of sight, while a descendant may declare itself visible again."""
    if declared.get("visibility") in {"hidden", "collapse"}:
        return True
    return is_unreadable(font_size(declared)) or _is_unpainted(declared)


def resets(own: Declarations, hidden: Declarations) -> bool:
    """Whether a descendant's declarations undo what hid its ancestor's text."""
    if hidden.get("visibility") in {"hidden", "collapse"}:
        return own.get("visibility") == "visible"
    if is_unreadable(font_size(hidden)):
        size = font_size(own)
        return bool(size) and not size.endswith(("em", "%")) and not is_unreadable(size)
    return any(name in own for name in ("color", "background", "background-color"))


def font_size(declared: Declarations) -> str:
    """The declared font size, from `font-size` or the `font` shorthand."""
    if size := declared.get("font-size"):
        return size
    match = re.search(r"(?:^|\s)(\d*\.?\d+(?:px|pt|em|rem|%)?)(?:/|\s)", declared.get("font", ""))
    return match[1] if match else ""


def is_unreadable(size: str) -> bool:
    """Whether a font size shows no letters."""
    pixels = _pixels(size)
    if size.endswith("%"):
        return float(size[:-1] or 0) <= 10 if _LENGTH.fullmatch(size) else False
    return pixels is not None and pixels < _UNREADABLE


def _is_unpainted(declared: Declarations) -> bool:
    fill = declared.get("-webkit-text-fill-color") or declared.get("color", "")
    shows_ground = "text" in {
        declared.get("background-clip"),
        declared.get("-webkit-background-clip"),
    }
    return bool(fill) and is_transparent(fill) and not shows_ground


def _is_faint(declared: Declarations) -> bool:
    value = declared.get("opacity", "")
    if _LENGTH.fullmatch(value):
        number = float(value.rstrip("%")) / (100 if value.endswith("%") else 1)
        if number <= _FAINT:
            return True
    return _FILTER.search(declared.get("filter", "")) is not None


def _is_off_screen(declared: Declarations) -> bool:
    placed = declared.get("position") in {"absolute", "fixed", "relative", "sticky"}
    offsets = [declared.get(side, "") for side in _SIDES] + declared.get("inset", "").split()
    if placed and any(_is_far(value) for value in offsets):
        return True
    if placed and (_pixels(offsets[0]) or 0) >= _FAR_RIGHT:
        return True
    margins = (declared.get("margin-left", ""), declared.get("margin-top", ""))
    if any((_pixels(value) or 0) <= -_FAR for value in margins):
        return True
    return _is_far(declared.get("text-indent", "")) or declared.get("text-indent") == "100%"


def _is_far(value: str) -> bool:
    match = _LENGTH.fullmatch(value)
    if match is None:
        return False
    number = float(match[1])
    if match[2] in {"%", "vw", "vh"}:
        return number <= -_FAR_PERCENT
    return number * _PIXELS.get(match[2] or "px", 1.0) <= -_FAR


def _is_clipped(declared: Declarations) -> bool:
    clip = declared.get("clip", "")
    if "rect" in clip:
        edges = [abs(float(n)) for n in re.findall(r"-?\d*\.?\d+", clip)]
        if edges and (max(edges) <= _SPECK or len(set(edges)) == 1):
            return True
    if _CLIPPED_AWAY.search(declared.get("clip-path", "")):
        return True
    overflow = " ".join(declared.get(name, "") for name in ("overflow", "overflow-x", "overflow-y"))
    cut = "hidden" in overflow or "clip" in overflow
    sizes = (declared.get(name, "") for name in _SIZES)
    return cut and any((p := _pixels(size)) is not None and p <= _SPECK for size in sizes)


def _is_flat(declared: Declarations) -> bool:
    if _FLAT_SCALE.match(declared.get("scale", "")) or _FLAT_SCALE.match(declared.get("zoom", "")):
        return True
    if any(_is_far(part) for part in declared.get("translate", "").split()):
        return True
    transform = declared.get("transform", "")
    if not transform:
        return False
    if _FLAT.search(transform):
        return True
    moves = _TRANSLATE.findall(transform)
    return any(_is_far(part.strip()) for move in moves for part in move.split(","))


def _pixels(value: str) -> float | None:
    match = _LENGTH.fullmatch(value)
    if match is None or match[2] in {"%", "vw", "vh"}:
        return None
    return float(match[1]) * _PIXELS.get(match[2] or "px", 1.0)


# Inline styles without any of these hide nothing.
_SUSPECT = re.compile(
    r"none|hidden|collapse|opacity|color|background|font|indent|clip|position|transform|filter"
    r"|margin|height|width|scale|translate|zoom|mask|inset|size|\\\\|/\*",
    re.IGNORECASE,
)
_UNSEEN_CLASSES = frozenset(
    """sr-only visually-hidden visuallyhidden screen-reader-text screen-reader-only screenreader
    a11y-hidden u-hidden-visually element-invisible offscreen off-screen sronly vh
    screenreader-only hidden-visually""".split()
)
# Elements without words of their own to hide.
_TEXTLESS = frozenset(
    """head title meta link base script style br hr img source svg path use g rect circle polygon
    input option iframe noscript col""".split()
)
_GROUNDS = ("background-color", "background", "background-image")
_WHITE: Color = (255, 255, 255)
_BLACK: Color = (0, 0, 0)
# More than this share of a page is no hidden note: its scripts show it once they run.
_WHOLE_PAGE = 0.5


def strip_hidden(root: etree._Element, elements: Sequence[etree._Element]) -> None:
    """Remove what the page's markup and its own styles show to be invisible.

    `elements` are all of the root's, in document order. Covers `hidden`, closed dialogs and
    popovers, classes for screen readers only, and, from attributes and style elements, display,
    visibility, opacity, size, colour, place and clipping. No external style sheet is fetched.
    """
    rules = _own_rules(elements)
    view = _View(root, Cascade(rules))
    for element in _suspects(elements, Cascade(_able_to_hide(rules))):
        view.judge(element)


def _own_rules(elements: Sequence[etree._Element]) -> list[Rule]:
    names = _names(elements)
    rules: list[Rule] = []
    for style in elements:
        if style.tag == "style" and "print" not in (style.get("media") or ""):
            rules.extend(parse_sheet(raw_text(style), names, len(rules)))
    return rules


def _names(elements: Sequence[etree._Element]) -> frozenset[str]:
    found = set()
    for element in elements:
        if name := element.get("id"):
            found.add(f"#{name}")
        if names := element.get("class"):
            found.update(f".{name}" for name in names.split())
    return frozenset(found)


def _able_to_hide(rules: list[Rule]) -> list[Rule]:
    """Rules that hide by themselves, or that set text and ground to colours that meet elsewhere."""
    declared = [(rule, {**rule.normal, **rule.important}) for rule in rules]
    texts = {_BLACK} | {c for _, d in declared if (c := parse_color(d.get("color", "")))}
    grounds = {_WHITE} | {c for _, d in declared if (c := parse_color(_ground_value(d)))}
    return [
        rule
        for rule, own in declared
        if hides(own)
        or hides_own_text(own)
        or parse_color(own.get("color", "")) in grounds
        or parse_color(_ground_value(own)) in texts
    ]


def _ground_value(declared: Declarations) -> str:
    return " ".join(declared[name] for name in _GROUNDS if name in declared)


def _suspects(elements: Sequence[etree._Element], able: Cascade) -> list[etree._Element]:
    return [e for e in elements if e.tag not in _TEXTLESS and _is_suspect(e, able)]


def _is_suspect(element: etree._Element, able: Cascade) -> bool:
    style = element.get("style")
    return (
        (style is not None and _SUSPECT.search(style) is not None)
        or _is_unseen(element)
        or element.get("bgcolor") is not None
        or (element.tag == "font" and element.get("color") is not None)
        or next(able.rules_for(element), None) is not None
    )


def _is_unseen(element: etree._Element) -> bool:
    if element.get("hidden") is not None:
        return True
    if element.tag == "dialog" and element.get("open") is None:
        return True
    if element.get("popover") is not None:
        return True
    return not _UNSEEN_CLASSES.isdisjoint((element.get("class") or "").split())


class _View:
    """What stands out of sight on one page, and taking it out."""

    def __init__(self, root: etree._Element, cascade: Cascade) -> None:
        self._cascade = cascade
        self._chars = len(raw_text(root))
        self._foreign = any(
            "stylesheet" in (link.get("rel") or "").lower() for link in root.iter("link")
        )

    def judge(self, element: etree._Element) -> None:
        """Remove the element, or blank its text, where it cannot be seen."""
        declared = self._cascade.declared(element)
        if _is_unseen(element) or hides(declared):
            if not self._is_page(element) and not draws(element):
                remove(element)
        elif (hides_own_text(declared) or self._is_camouflaged(element)) and not self._is_page(
            element
        ):
            self._blank(element, declared)

    def _is_page(self, element: etree._Element) -> bool:
        if element.tag in {"html", "body"}:
            return True
        holds_page = next(element.iterdescendants("h1", "main", "article"), None) is not None
        return holds_page and len(raw_text(element)) > _WHOLE_PAGE * self._chars

    def _blank(self, element: etree._Element, hidden: Declarations) -> None:
        element.text = None
        for child in element:
            child.tail = None
            if not resets(self._cascade.declared(child), hidden):
                self._blank(child, hidden)

    def _is_camouflaged(self, element: etree._Element) -> bool:
        declared = self._cascade.declared(element)
        if declared.keys().isdisjoint(("color", *_GROUNDS)):
            return False
        text, ground = self._color(element), self._ground(element)
        return text is not None and ground is not None and indistinct(text, ground)

    def _color(self, element: etree._Element) -> Color | None:
        for node in (element, *element.iterancestors()):
            if value := self._cascade.declared(node).get("color"):
                return parse_color(value)
        return None if self._foreign else _BLACK

    def _ground(self, element: etree._Element) -> Color | None:
        for node in (element, *element.iterancestors()):
            declared = self._cascade.declared(node)
            values = [declared[name] for name in _GROUNDS if name in declared]
            if values and not all(value in {"none", "transparent", "inherit"} for value in values):
                return parse_color(" ".join(values))
        return None if self._foreign else _WHITE
