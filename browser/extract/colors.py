"""CSS colours, as far as needed to see text in the colour of its ground."""

from __future__ import annotations

import re

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
    return alpha is not None and float(alpha.rstrip("%")) == 0


def indistinct(one: Color, other: Color) -> bool:
    """Whether text in one colour cannot be seen on the other."""
    return all(abs(a - b) <= _INDISTINCT for a, b in zip(one, other, strict=True))


def _from_hex(digits: str) -> Color | None:
    if len(digits) in {3, 4}:
        digits = "".join(digit * 2 for digit in digits)
    if len(digits) not in {6, 8}:
        return None
    return (int(digits[0:2], 16), int(digits[2:4], 16), int(digits[4:6], 16))
