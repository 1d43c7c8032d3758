"""Laying out a graph: what is linked draws together, everything keeps its distance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Point = tuple[float, float]

ROUNDS = 120
TURN = math.pi * (3 - math.sqrt(5))  # the golden angle: a start in which no two are at one place
CENTRE = 0.5  # pull to the middle, so that parts without a link between them stay in the picture


def layout(count: int, links: Sequence[tuple[int, int, float]]) -> list[Point]:
    """Place `count` points in the unit square; links are (one, other, strength).

    After Fruchterman and Reingold (1991); the same graph always gives the same picture.
    """
    distance = 1 / math.sqrt(max(1, count))
    points = [
        (math.sqrt((n + 0.5) / count) * math.cos(n * TURN) / 2,
         math.sqrt((n + 0.5) / count) * math.sin(n * TURN) / 2)
        for n in range(count)
    ]  # fmt: skip
    for round_ in range(ROUNDS):
        heat = 0.1 * (1 - round_ / ROUNDS)
        forces = _forces(points, links, distance)
        points = [_moved(point, force, heat) for point, force in zip(points, forces, strict=True)]
    return _fitted(points)


def _forces(
    points: Sequence[Point], links: Sequence[tuple[int, int, float]], distance: float
) -> list[Point]:
    x = [-CENTRE * point[0] for point in points]
    y = [-CENTRE * point[1] for point in points]
    for one, (x1, y1) in enumerate(points):
        for other in range(one):
            dx, dy = x1 - points[other][0], y1 - points[other][1]
            push = distance * distance / max(dx * dx + dy * dy, 1e-6)
            x[one], y[one] = x[one] + dx * push, y[one] + dy * push
            x[other], y[other] = x[other] - dx * push, y[other] - dy * push
    for one, other, strength in links:
        dx, dy = points[one][0] - points[other][0], points[one][1] - points[other][1]
        pull = strength * math.hypot(dx, dy) / distance
        x[one], y[one] = x[one] - dx * pull, y[one] - dy * pull
        x[other], y[other] = x[other] + dx * pull, y[other] + dy * pull
    return list(zip(x, y, strict=True))


def _moved(point: Point, force: Point, heat: float) -> Point:
    size = math.hypot(*force)
    step = min(size, heat) / size if size else 0.0
    return point[0] + force[0] * step, point[1] + force[1] * step


def _fitted(points: Sequence[Point]) -> list[Point]:
    """Stretch to the unit square."""
    if not points:
        return []
    left, top = (min(point[axis] for point in points) for axis in (0, 1))
    wide, high = (max(p[axis] for p in points) - at for axis, at in ((0, left), (1, top)))
    return [((p[0] - left) / (wide or 1), (p[1] - top) / (high or 1)) for p in points]
