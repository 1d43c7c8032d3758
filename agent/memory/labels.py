"""Where words stand in a picture of points: beside their point, and on nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.memory.springs import Point

LETTER, LINE = 6.4, 15.0  # of 12 px letters, about: their width, the height of a line
GAP = 4.0  # between a point and its words
Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


@dataclass(frozen=True, slots=True)
class Label:
    """Words of the point with this number; `x` is where they start, in the middle or end."""

    number: int
    x: float
    y: float
    anchor: str


def placed(
    texts: Sequence[str],
    points: Sequence[Point],
    lines: Sequence[tuple[int, int]],
    radius: float,
    size: Point,
) -> Iterator[Label]:
    """Place what fits, the first first; what would cover a point, words or the rim is left out.

    A place that no line crosses comes before one that one does. `size` is that of the picture.
    """
    taken = [(x - radius, y - radius, x + radius, y + radius) for x, y in points]
    ends = [(points[one], points[other]) for one, other in lines]
    for number, (text, point) in enumerate(zip(texts, points, strict=True)):
        around = _around(number, point, len(text) * LETTER, radius)
        free = [(label, box) for label, box in around if _is_free(box, taken, size)]
        if free:
            label, box = min(free, key=lambda pair: sum(_crosses(pair[1], *line) for line in ends))
            taken.append(box)
            yield label


def _around(number: int, point: Point, wide: float, radius: float) -> Iterator[tuple[Label, Box]]:
    """Try right, left, below, above."""
    x, y = point
    aside, half, base = radius + GAP, LINE / 2, y + GAP
    right, left = x + aside, x - aside
    yield Label(number, right, base, "start"), (right, y - half, right + wide, y + half)
    yield Label(number, left, base, "end"), (left - wide, y - half, left, y + half)
    for middle in (y + aside + half, y - aside - half):
        box = (x - wide / 2, middle - half, x + wide / 2, middle + half)
        yield Label(number, x, middle + GAP, "middle"), box


def _is_free(box: Box, taken: Sequence[Box], size: Point) -> bool:
    left, top, right, bottom = box
    if left < 0 or top < 0 or right > size[0] or bottom > size[1]:
        return False
    return not any(
        left < other[2] and other[0] < right and top < other[3] and other[1] < bottom
        for other in taken
    )


def _crosses(box: Box, one: Point, other: Point) -> bool:
    """Whether a line runs through a box (Liang and Barsky)."""
    begin, end = 0.0, 1.0
    for axis in (0, 1):
        way = other[axis] - one[axis]
        near, far = box[axis] - one[axis], box[axis + 2] - one[axis]
        if way == 0:
            if near > 0 or far < 0:
                return False
            continue
        enter, leave = sorted((near / way, far / way))
        begin, end = max(begin, enter), min(end, leave)
    return begin < end
