"""Declarations that take an element out of sight, by themselves."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from browser.extract.colors import is_transparent

if TYPE_CHECKING:
    from browser.extract.css import Declarations

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
_TRANSLATE = re.compile(r"translate(?:x|y|3d)?\(([^)]*)\)")
_FLAT = re.compile(
    r"scale(?:x|y|3d)?\(\s*0(?:\.0+)?\s*[,)]|scale\([^,)]*,\s*0\s*\)|rotate[xy]\(\s*90deg"
)
_FILTER = re.compile(r"opacity\(\s*0*\.?0*%?\s*\)")
# Inset by half from both sides, an empty circle, a polygon whose points coincide.
_CLIPPED_AWAY = re.compile(
    r"inset\(\s*(?:5\d|[6-9]\d|100)(?:\.\d+)?%|circle\(\s*0|ellipse\(\s*0|polygon\((?:\s*0(?:px|%)?\s*,?)+\)"
)
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
    offsets = [declared.get(side, "") for side in ("left", "top", "right", "bottom")]
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
    sizes = (declared.get(name, "") for name in ("width", "height", "max-width", "max-height"))
    return cut and any((p := _pixels(size)) is not None and p <= _SPECK for size in sizes)


def _is_flat(declared: Declarations) -> bool:
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
