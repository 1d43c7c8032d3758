"""Removes text from a page that markup, styles or colours make invisible."""

from __future__ import annotations

import copy
import itertools
import re
from colorsys import hls_to_rgb
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from browser.extract.css import Cascade, names_in_selectors, parse_sheet
from browser.extract.formulas import is_formula_source
from browser.extract.panels import find_panels, mark_folded
from browser.extract.regions import is_frame
from browser.extract.tree import finder, raw_text, remove
from browser.extract.weighing import (
    MAX_TEASER_CHARS,
    MIN_BODY_CHARS,
    MIN_WEIGHED_SHARE,
    extract_article,
    prose_chars,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml import etree

    from browser.extract.css import Declarations, Rule
    from browser.extract.weighing import ContentWeigher


class Color(NamedTuple):
    """Red, green and blue from 0 to 255, and alpha from 0 to 1."""

    red: int
    green: int
    blue: int
    alpha: float = 1.0


_NAMED_COLORS = {
    "white": Color(255, 255, 255), "black": Color(0, 0, 0), "red": Color(255, 0, 0),
    "lime": Color(0, 255, 0), "green": Color(0, 128, 0), "blue": Color(0, 0, 255),
    "yellow": Color(255, 255, 0), "gray": Color(128, 128, 128), "grey": Color(128, 128, 128),
    "silver": Color(192, 192, 192), "navy": Color(0, 0, 128), "snow": Color(255, 250, 250),
    "ivory": Color(255, 255, 240), "whitesmoke": Color(245, 245, 245),
    "ghostwhite": Color(248, 248, 255), "floralwhite": Color(255, 250, 240),
    "mintcream": Color(245, 255, 250), "azure": Color(240, 255, 255), "orange": Color(255, 165, 0),
    "purple": Color(128, 0, 128), "transparent": Color(0, 0, 0, 0.0),
}  # fmt: skip
_HEX = re.compile(r"#([0-9a-f]{8}|[0-9a-f]{6}|[0-9a-f]{3,4})\b")
_FUNCTION = re.compile(
    r"(rgb|hsl)a?\(\s*([\d.]+)(?:deg)?[\s,]+([\d.]+)%?[\s,]+([\d.]+)%?(?:[\s,/]+([\d.]+%?))?\s*\)"
)
# Two colours look the same if none of their channels differs by more than this.
_MAX_CHANNEL_DIFFERENCE = 12
# Up to this opacity, text is invisible.
_MAX_FAINT_OPACITY = 0.05


@lru_cache(maxsize=4_096)
def parse_color(value: str) -> Color | None:
    """Find the colour in a value; None for images, variables and unsupported notations."""
    if "url(" in value or "gradient" in value or "var(" in value:
        return None
    if match := _HEX.search(value):
        digits = match[1] if len(match[1]) > 4 else "".join(digit * 2 for digit in match[1])
        red, green, blue, *alpha = bytes.fromhex(digits)
        return Color(red, green, blue, alpha[0] / 255 if alpha else 1.0)
    if match := _FUNCTION.search(value):
        alpha_value = _number(match[5]) if match[5] else 1.0
        first, second, third = (float(part) for part in match.group(2, 3, 4))
        if match[1] == "hsl":
            channels = hls_to_rgb(first / 360, third / 100, second / 100)
            first, second, third = (255 * channel for channel in channels)
        return Color(round(first), round(second), round(third), alpha_value)
    return next((_NAMED_COLORS[word] for word in value.split() if word in _NAMED_COLORS), None)


def _number(value: str) -> float:
    """Parse a number, or a percentage as a fraction."""
    return float(value.rstrip("%")) / (100 if value.endswith("%") else 1)


_LENGTH = re.compile(r"(-?\d*\.?\d+)(px|pt|em|rem|ex|ch|%|vw|vh|cm|in|mm)?")
_PIXELS = {
    "px": 1.0, "pt": 1.33, "em": 16.0, "rem": 16.0, "ex": 8.0, "ch": 8.0, "cm": 37.8, "in": 96.0,
    "mm": 3.8,
}  # fmt: skip
_SIZES = ("width", "height", "max-width", "max-height", "block-size", "max-block-size")
_SIDES = ("left", "top", "right", "bottom", "inset-inline-start", "inset-block-start")
_TRANSLATE = re.compile(r"translate(?:x|y|3d)?\(([^)]*)\)")
_FLATTENING_TRANSFORM = re.compile(
    r"scale(?:x|y|3d)?\(\s*0?\.?0\d*\s*[,)]|scale\([^,)]*,\s*0\s*\)|rotate[xy]\(\s*90deg"
    r"|matrix\(\s*0\s*,\s*0\s*,\s*0\s*,\s*0\s*,"
)
_FLATTENING_SCALE = re.compile(r"0?\.?0\d*%?(?:\s|$)")
_HIDING_FILTER = re.compile(r"opacity\(\s*0*\.?0*%?\s*\)|blur\(\s*(?:[5-9]|\d\d+)(?:\.\d+)?px")
# Clip paths with no area: inset by half from both sides, an empty circle, a polygon of equal
# points.
_CLIPPED_AWAY = re.compile(
    r"inset\(\s*(?:5\d|[6-9]\d|100)(?:\.\d+)?%|circle\(\s*0|ellipse\(\s*0|polygon\((?:\s*0(?:px|%)?\s*,?)+\)"
    r"|path\(\s*[\"']m\s*0[\s,]+0\s*z?\s*[\"']\)|rect\((?:\s*0(?:px|%)?){4}\s*\)"
)
_HIDING_MASK = re.compile(r"linear-gradient\(\s*transparent\s*,\s*transparent\s*\)")
_FONT_SIZE = re.compile(r"(?:^|\s)(\d*\.?\d+(?:px|pt|em|rem|%)?)(?:/|\s)")
# Text smaller than this many pixels, or than this share of its parent's size, is unreadable; a box
# of up to this many pixels shows nothing.
_MIN_READABLE_PIXELS = 2.0
_UNREADABLE_SHARE = 0.1
_MAX_SPECK_PIXELS = 1.0
# Offsets that move an element out of any window: to the left or top, in pixels and in per cent; and
# to the right, in pixels.
_FAR_PIXELS = 500.0
_FAR_PERCENT = 100.0
_FAR_RIGHT_PIXELS = 5_000.0


def _pixels(value: str) -> float | None:
    match = _LENGTH.fullmatch(value)
    if match is None or match[2] in {"%", "vw", "vh"}:
        return None
    return float(match[1]) * _PIXELS.get(match[2] or "px", 1.0)


def _is_far(value: str) -> bool:
    match = _LENGTH.fullmatch(value)
    if match and match[2] in {"%", "vw", "vh"}:
        return float(match[1]) <= -_FAR_PERCENT
    return (_pixels(value) or 0) <= -_FAR_PIXELS


def _hides(declared: Declarations) -> bool:
    """Whether these declarations make an element and everything in it invisible."""
    opacity = declared.get("opacity", "")
    return (
        declared.get("display") == "none"
        or declared.get("content-visibility") == "hidden"
        or (_LENGTH.fullmatch(opacity) is not None and _number(opacity) <= _MAX_FAINT_OPACITY)
        or _HIDING_FILTER.search(declared.get("filter", "")) is not None
        or _HIDING_MASK.match(declared.get("mask-image") or declared.get("mask", "")) is not None
        or _is_off_screen(declared)
        or _is_clipped(declared)
        or _is_transformed_away(declared)
    )


def _is_off_screen(declared: Declarations) -> bool:
    if declared.get("position") in {"absolute", "fixed", "relative", "sticky"}:
        offsets = [declared.get(side, "") for side in _SIDES]
        if any(map(_is_far, (*offsets, *declared.get("inset", "").split()))):
            return True
        if (_pixels(declared.get("left", "")) or 0) >= _FAR_RIGHT_PIXELS:
            return True
    if any(
        (_pixels(declared.get(side, "")) or 0) <= -_FAR_PIXELS
        for side in ("margin-left", "margin-top")
    ):
        return True
    indent = declared.get("text-indent", "")
    return indent == "100%" or _is_far(indent)


def _is_clipped(declared: Declarations) -> bool:
    clip = declared.get("clip", "")
    edges = [abs(float(n)) for n in re.findall(r"-?\d*\.?\d+", clip)] if "rect" in clip else []
    if edges and (max(edges) <= _MAX_SPECK_PIXELS or len(set(edges)) == 1):
        return True
    if _CLIPPED_AWAY.search(declared.get("clip-path", "")):
        return True
    overflow = " ".join(declared.get(name, "") for name in ("overflow", "overflow-x", "overflow-y"))
    sizes = (_pixels(declared.get(name, "")) for name in _SIZES)
    return ("hidden" in overflow or "clip" in overflow) and any(
        size is not None and size <= _MAX_SPECK_PIXELS for size in sizes
    )


def _is_transformed_away(declared: Declarations) -> bool:
    transform = declared.get("transform", "")
    moves = [part.strip() for move in _TRANSLATE.findall(transform) for part in move.split(",")]
    return (
        _FLATTENING_SCALE.match(declared.get("scale", "")) is not None
        or _FLATTENING_SCALE.match(declared.get("zoom", "")) is not None
        or _FLATTENING_TRANSFORM.search(transform) is not None
        or any(map(_is_far, (*declared.get("translate", "").split(), *moves)))
    )


def _hides_own_text(declared: Declarations) -> bool:
    """Whether these declarations hide an element's text; descendants may be visible again."""
    if declared.get("visibility") in {"hidden", "collapse"} or _is_unreadable(_font_size(declared)):
        return True
    fill = parse_color(declared.get("-webkit-text-fill-color") or declared.get("color", ""))
    clips = (declared.get("background-clip"), declared.get("-webkit-background-clip"))
    return fill is not None and fill.alpha <= _MAX_FAINT_OPACITY and "text" not in clips


def _makes_visible_again(own: Declarations, hidden: Declarations) -> bool:
    """Whether a descendant's declarations make its text visible again."""
    if hidden.get("visibility") in {"hidden", "collapse"}:
        return own.get("visibility") == "visible"
    if _is_unreadable(_font_size(hidden)):
        size = _font_size(own)
        return bool(size) and not size.endswith(("em", "%")) and not _is_unreadable(size)
    return any(name in own for name in ("color", "background", "background-color"))


def _font_size(declared: Declarations) -> str:
    if size := declared.get("font-size"):
        return size
    match = _FONT_SIZE.search(declared.get("font", ""))
    return match[1] if match else ""


def _is_unreadable(size: str) -> bool:
    if size.endswith("%") and _LENGTH.fullmatch(size):
        return _number(size) <= _UNREADABLE_SHARE
    pixels = _pixels(size)
    return pixels is not None and pixels < _MIN_READABLE_PIXELS


# Maximum number of a hidden element's ancestors to check: if one is hidden, too, the element's text
# has already been counted.
_MAX_NESTED = 64
_HIDING_CLASSES = frozenset(
    """.sr-only .visually-hidden .visuallyhidden .screen-reader-text .screen-reader-only
    .screenreader .a11y-hidden .u-hidden-visually .element-invisible .offscreen .off-screen .sronly
    .vh .screenreader-only .hidden-visually""".split()
)
# Elements without text that could be hidden.
_TEXTLESS_TAGS = frozenset(
    """head title meta link base script style br hr img source svg path use g rect circle polygon
    input option iframe noscript col""".split()
)
# Finds elements that an attribute may hide.
_find_marked = finder(
    *(f"//@{name}/.." for name in ("style", "hidden", "popover", "bgcolor")),
    "//dialog",
    "//font[@color]",
)
_BACKGROUNDS = ("background-color", "background", "background-image")
_HEAVY_ATTRIBUTE = "data-heavy"
# Attributes that may make an element look hidden, or like a paywall.
_HIDING_ATTRIBUTES = ("hidden", "style", "class", "id", "aria-hidden", _HEAVY_ATTRIBUTE)


def strip_hidden(
    root: etree._Element, weigher: ContentWeigher | None = None
) -> list[etree._Element]:
    """Remove elements that the page's markup or its own styles make invisible.

    This covers `hidden`, closed dialogs and popovers, and classes for screen readers; in style
    attributes and style elements, it also covers display, visibility, opacity, size, colour,
    position and clipping. External style sheets are not fetched. Panels that a control on the page
    opens are kept and marked as folded. With a `weigher`, elements that contain the page's body are
    kept and returned, because a script would show them.
    """
    names = {
        element: names_in_selectors(element.tag, element.get("class"), element.get("id"))
        for element in itertools.chain(root.iterancestors(), root.iter())
    }
    rules = _own_rules(root, frozenset().union(*set(names.values())))
    cascade = Cascade(names, rules, _hiding_rules(rules))
    finder = _Finder(root, cascade)
    panels = find_panels(root, lambda element: finder.find(element) is not None, is_frame)
    groups: dict[str, list[_Hidden]] = {}
    for element in _possibly_hidden_elements(root, cascade):
        if (found := finder.find(element)) and element in panels:
            _remove_hiding_attributes(element)
            mark_folded(element)
        elif found:
            name = element.get("class") or element.get("style") or element.tag
            groups.setdefault(name, []).append(found)
    heavy = [g for g in groups.values() if weigher is not None and _is_heavy(g, weigher)]
    removed: set[etree._Element] = set()
    for found in itertools.chain(*(group for group in groups.values() if group not in heavy)):
        around = itertools.islice(found.element.iterancestors(), _MAX_NESTED)
        if weigher is not None and removed.isdisjoint(around):
            weigher.hide([found.element])
        removed.add(found.element)
        finder.remove(found)
    return [] if weigher is None else _restore_hidden_body(root, heavy, finder, weigher)


def _possibly_hidden_elements(root: etree._Element, cascade: Cascade) -> Iterator[etree._Element]:
    """The elements that an attribute, a class or a rule may hide, in page order."""
    marked = set(_find_marked(root))
    kinds = set(cascade.names.values())
    hidden = {names for names in kinds if not _HIDING_CLASSES.isdisjoint(names)}
    suspicious = {names for names in kinds if cascade.may_hide_some(names)}
    for element in root.iter():
        names = cascade.names[element]
        if element.tag not in _TEXTLESS_TAGS and (
            element in marked
            or names in hidden
            or (names in suspicious and cascade.may_hide(element))
        ):
            yield element


def _remove_hiding_attributes(element: etree._Element) -> None:
    for name in _HIDING_ATTRIBUTES:
        element.attrib.pop(name, "")


def _is_heavy(group: list[_Hidden], weigher: ContentWeigher) -> bool:
    """Whether elements hidden in the same way contain a large part of the page's prose."""
    parts = [found.element for found in group]
    if sum(len(raw_text(part)) for part in parts) < MIN_BODY_CHARS:
        return False
    chars = prose_chars(parts)
    return chars >= MIN_BODY_CHARS and chars > MIN_WEIGHED_SHARE * weigher.prose


def _restore_hidden_body(
    root: etree._Element, heavy: list[list[_Hidden]], finder: _Finder, weigher: ContentWeigher
) -> list[etree._Element]:
    """Keep those large hidden groups (`heavy`) that contain the page's body; remove the others."""
    chars = [prose_chars([found.element for found in group]) for group in heavy]
    may_hide_body = bool(heavy) and not _shows_article(root, heavy, weigher.prose - max(chars))
    for found in itertools.chain(*heavy):  # shown, so that `extract_article` sees them
        _remove_hiding_attributes(found.element)
    kept: list[etree._Element] = []
    for group, size in zip(heavy, chars, strict=True):
        parts = [found.element for found in group]
        if may_hide_body and weigher.holds_body(parts, size / weigher.prose):
            kept += parts
            continue
        weigher.hide(parts, heavy=True)
        for found in group:
            finder.remove(found)
    return kept


def _shows_article(root: etree._Element, heavy: list[list[_Hidden]], shown: int) -> bool:
    """Whether the visible part of a page (`shown` characters of prose) contains its article.

    The hidden parts (`heavy`) may be further articles, which a script shows as the user scrolls.
    """
    if shown <= MAX_TEASER_CHARS:
        return False
    for found in itertools.chain(*heavy):
        found.element.set(_HEAVY_ATTRIBUTE, "")
    visible = copy.deepcopy(root)
    for element in [e for e in visible.iter() if e.get(_HEAVY_ATTRIBUTE) is not None]:
        remove(element)
    # Without `fast`, F1 on news is .0025 lower.
    return len(extract_article(visible, fast=True)) > MAX_TEASER_CHARS


def _own_rules(root: etree._Element, names: frozenset[str]) -> list[Rule]:
    rules: list[Rule] = []
    for style in root.iter("style"):
        if "print" not in (style.get("media") or ""):
            rules.extend(parse_sheet(raw_text(style), names, len(rules)))
    return rules


def _hiding_rules(rules: list[Rule]) -> list[Rule]:
    """Rules that hide elements, or that set a text colour which is also a background colour."""
    blocks = {rule.block: {**rule.normal, **rule.important} for rule in rules}
    texts = {n: parse_color(own.get("color", "")) for n, own in blocks.items()}
    grounds = {n: parse_color(_background_value(own)) for n, own in blocks.items()}
    text_colors = {_NAMED_COLORS["black"][:3], *(c[:3] for c in texts.values() if c)}
    ground_colors = {_NAMED_COLORS["white"][:3], *(c[:3] for c in grounds.values() if c)}
    hiding = {
        n
        for n, own in blocks.items()
        if _hides(own)
        or _hides_own_text(own)
        or ((text := texts[n]) and text[:3] in ground_colors)
        or ((ground := grounds[n]) and ground[:3] in text_colors)
    }
    return [rule for rule in rules if rule.block in hiding]


def _background_value(declared: Declarations) -> str:
    return " ".join(declared[name] for name in _BACKGROUNDS if name in declared)


class _Hidden(NamedTuple):
    """An invisible element; `wholly` means that its descendants are invisible too."""

    element: etree._Element
    wholly: bool
    declared: Declarations


class _Finder:
    """Finds the invisible elements of one page."""

    def __init__(self, root: etree._Element, cascade: Cascade) -> None:
        self._cascade = cascade
        # Verdicts by the `id` of the declarations, which many elements share.
        self._verdicts: dict[int, tuple[bool, bool]] = {}
        self._known_colors: dict[etree._Element, tuple[Color | None, Color | None]] = {}
        self._defaults: tuple[Color | None, Color | None] = (
            _NAMED_COLORS["black"],
            _NAMED_COLORS["white"],
        )
        if any("stylesheet" in (link.get("rel") or "").lower() for link in root.iter("link")):
            # External style sheets, which are not fetched, may set the colours.
            self._defaults = None, None

    def find(self, element: etree._Element) -> _Hidden | None:
        """Return how an element is hidden; None if it is visible or is the root of the page."""
        if element.tag in {"html", "body"}:
            return None
        declared = self._cascade.declared(element)
        if id(declared) not in self._verdicts:
            self._verdicts[id(declared)] = _hides(declared), _hides_own_text(declared)
        hides, hides_text = self._verdicts[id(declared)]
        if (
            hides
            or element.get("hidden") is not None
            or (element.tag == "dialog" and element.get("open") is None)
            or element.get("popover") is not None
            or not _HIDING_CLASSES.isdisjoint(self._cascade.names[element])
        ):
            return None if is_formula_source(element) else _Hidden(element, True, declared)
        is_hidden = hides_text or self._is_camouflaged(element, declared)
        return _Hidden(element, False, declared) if is_hidden else None

    def remove(self, hidden: _Hidden) -> None:
        """Remove an invisible element, or only its text if descendants may be visible."""
        if hidden.wholly:
            remove(hidden.element)
        else:
            self._remove_own_text(hidden.element, hidden.declared)

    def _remove_own_text(self, element: etree._Element, hidden: Declarations) -> None:
        element.text = None
        for child in element:
            child.tail = None
            if not _makes_visible_again(self._cascade.declared(child), hidden):
                self._remove_own_text(child, hidden)

    def _is_camouflaged(self, element: etree._Element, declared: Declarations) -> bool:
        """Whether the text has the same colour as its background."""
        if declared.keys().isdisjoint(("color", *_BACKGROUNDS)):
            return False
        text, ground = self._colors(element)
        return (
            text is not None
            and ground is not None
            and all(
                abs(a - b) <= _MAX_CHANNEL_DIFFERENCE
                for a, b in zip(text[:3], ground[:3], strict=True)
            )
        )

    def _colors(self, element: etree._Element) -> tuple[Color | None, Color | None]:
        """The colours of an element's text and background, either its own or inherited."""
        missing = []
        text, ground = self._defaults
        for node in itertools.chain((element,), element.iterancestors()):
            if (known := self._known_colors.get(node)) is not None:
                text, ground = known
                break
            missing.append(node)
        for node in reversed(missing):
            declared = self._cascade.declared(node)
            if value := declared.get("color"):
                text = parse_color(value)
            value = _background_value(declared)
            if value.replace("none", "").replace("inherit", "").strip():
                color = parse_color(value)
                if color is None or color.alpha > _MAX_FAINT_OPACITY:
                    ground = color
            self._known_colors[node] = text, ground
        return text, ground
