"""The graph of a memory as a picture, looked at in the real Chromium."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.async_playwright import Axe
from hypothesis import given
from hypothesis import strategies as st

from agent.memory import Memory
from agent.memory.control import DRAWN
from agent.memory.labels import LETTER, LINE, placed
from agent.memory.links import Link, LinkKind
from agent.memory.picture import page
from browser.session import Browser

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from typing import Any

KINDS = ("fact", "source", "outcome", "playbook", "insight", "memory", "page", "note", "turn")
SIZE = (1000.0, 640.0)
OVERLAPS = """() => {
  const boxes = [...document.querySelectorAll('svg > text, circle')].map(e => e.getBBox());
  const lie = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width
    && a.y < b.y + b.height && b.y < a.y + a.height;
  const words = boxes.slice(-document.querySelectorAll('svg > text').length);
  return words.flatMap(a => boxes.filter(b => b !== a && lie(a, b))).length;
}"""


def _drawn(count: int) -> str:
    chance = random.Random(count)
    with Memory.open(":memory:") as memory:
        ids = [
            memory.add(f"Memory {n} of the harbour <b>&", kind=KINDS[n % len(KINDS)], key=f"k{n}")
            for n in range(count)
        ]
        pairs = [chance.sample(ids, 2) for _ in range(2 * count)] if count > 1 else []
        links = [Link(*pair, LinkKind.SIMILAR, round(chance.random(), 2)) for pair in pairs]
        memory._entries.links.write(links)
        memory.reinforce(ids[:3])
        return page(memory.control.graph())


@pytest.fixture
async def shown() -> AsyncIterator[Callable[..., Any]]:
    """The picture of so many memories, on a screen of a width."""
    async with Browser.launch(proxy="http://127.0.0.1:9") as browser:
        tab = await browser.open("about:blank")
        started = tab.page.context.browser

        async def show(count: int, width: int) -> Any:
            context = await started.new_context(viewport={"width": width, "height": 900})
            opened = await context.new_page()
            await opened.set_content(_drawn(count))
            return opened

        yield show


async def test_the_picture_is_readable_on_phones_and_desktops(shown: Callable[..., Any]) -> None:
    for count in (5, 200):
        for width in (390, 1280):
            opened = await shown(count, width)
            wide = await opened.evaluate("document.documentElement.scrollWidth")
            letters = await opened.evaluate(
                "12 * document.querySelector('svg').getScreenCTM().a"  # as they stand on the screen
            )
            assert wide == width
            assert letters >= 10
            assert await opened.evaluate(OVERLAPS) == 0
    found = await Axe().run(opened)
    assert [violation["id"] for violation in found.response["violations"]] == []


def test_the_memories_with_the_most_links_are_drawn_however_old() -> None:
    with Memory.open(":memory:") as memory:
        old = [memory.add(f"old {n}", key=f"o{n}") for n in range(3)]
        memory.reinforce(old)
        for n in range(DRAWN + 20):
            memory.add(f"new {n}", key=f"n{n}")
        graph = memory.control.graph()
        assert {hit.id for hit in graph.memories} == set(old)
        assert graph.total == DRAWN + 23
        assert f"3 of {DRAWN + 23} memories" in page(graph)


def test_no_memory_stands_in_the_picture_without_a_line() -> None:
    drawn = _drawn(200)
    lines = re.findall(r'<line[^>]* x1="(\d+)" y1="(\d+)" x2="(\d+)" y2="(\d+)"', drawn)
    ends = {pair for x1, y1, x2, y2 in lines for pair in ((x1, y1), (x2, y2))}
    assert set(re.findall(r'<circle cx="(\d+)" cy="(\d+)"', drawn)) == ends


@pytest.mark.parametrize("count", [0, 1])
def test_where_nothing_is_linked_the_page_says_so(count: int) -> None:
    drawn = _drawn(count)
    assert f"None of {count} memories are linked" in drawn
    assert "<svg" not in drawn


_points = st.tuples(st.floats(0, SIZE[0]), st.floats(0, SIZE[1]))


@given(st.lists(st.tuples(st.text(max_size=26), _points), max_size=12))
def test_labels_cover_neither_points_nor_words_nor_the_rim(
    given_: Sequence[tuple[str, tuple[float, float]]],
) -> None:
    texts, points = [text for text, _ in given_], [point for _, point in given_]
    lines = [(n, n - 1) for n in range(1, len(points))]
    boxes = [(x - 12, y - 12, x + 12, y + 12) for x, y in points]
    for label in placed(texts, points, lines, 12, SIZE):
        wide = len(texts[label.number]) * LETTER
        shift = {"start": 0.0, "middle": wide / 2, "end": wide}[label.anchor]
        left, middle = label.x - shift, label.y - 4
        box = (left, middle - LINE / 2, left + wide, middle + LINE / 2)
        assert box[0] >= -1e-6
        assert box[2] <= SIZE[0] + 1e-6
        assert not any(_lie(box, other) for other in boxes)
        boxes.append(box)


def _lie(one: Sequence[float], other: Sequence[float]) -> bool:
    return (
        one[0] + 1e-6 < other[2]
        and other[0] + 1e-6 < one[2]
        and one[1] + 1e-6 < other[3]
        and other[1] + 1e-6 < one[3]
    )
