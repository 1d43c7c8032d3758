"""One look at a live page: all its frames walked at once and put together in order."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from playwright.async_api import ElementHandle
from playwright.async_api import Error as PlaywrightError

from browser.errors import RefError
from browser.page import injected
from browser.page.lines import PageLine, build, plain, split_long
from browser.page.waiting import within

if TYPE_CHECKING:
    from playwright.async_api import Frame, Page


# A page of 300,000 links must not take the session with it: the walk stops at either.
WALK_CHARS = 190_000
WALK_MS = 2_500
FRAME_SECONDS = 3.0  # a frame that does not answer by then is named as such
FRAMES_READ = 30


@dataclass(slots=True)
class View:
    """What the page showed at one moment, whole."""

    url: str
    title: str
    lines: list[PageLine]
    cut: bool = False  # the page goes on below
    begun: bool = False  # the page goes on above: it is shown from where it is scrolled to
    consent: bool = False  # a consent dialog of a known platform is in front
    refs: dict[str, str] = field(default_factory=dict)
    flashed: tuple[str, ...] = ()  # refs of what flashed since the last look, in its order
    gone: tuple[
        tuple[str, str], ...
    ] = ()  # words that came and went since, with the ref they were in
    restyled: tuple[tuple[str, str], ...] = ()  # refs of what looks otherwise since, and how

    @property
    def shown(self) -> str:
        """All that a person can see, as a snapshot shows it, a line each."""
        return "\n".join(line.shown() for line in self.lines)


class Frames:
    """Numbers the frames of a tab and keeps their ref counters, so that no ref is given twice."""

    def __init__(self) -> None:
        self._numbers: dict[Frame, int] = {}
        self._counts: dict[int, int] = {}
        self._by_prefix: dict[str, Frame] = {}
        self.walk_ms = WALK_MS
        self.large = False  # the page was too large to be walked whole

    def options(self, frame: Frame) -> dict[str, Any]:
        """Give the walk of a frame its prefix, the first free number, and its bounds."""
        number = self._numbers.setdefault(frame, len(self._numbers))
        prefix = f"f{number}e" if number else "e"
        self._by_prefix[prefix] = frame
        start = self._counts.get(number, 0)
        bounds = {"chars": WALK_CHARS, "ms": self.walk_ms, "below": self.large and not number}
        return {"prefix": prefix, "start": start, **bounds}

    def counted(self, frame: Frame, count: int) -> None:
        """Remember how far a frame's refs went."""
        self._counts[self._numbers[frame]] = count

    def of(self, ref: str) -> Frame | None:
        """Find the frame that a ref lives in."""
        frame = self._by_prefix.get(ref.rstrip("0123456789"))
        return None if frame is None or frame.is_detached() else frame


async def look(page: Page, frames: Frames) -> View:
    """Walk the main frame and, where it has any, the frames inside it."""
    main = page.main_frame
    raw = await _walk(main, frames)
    if raw.get("cut") and raw["scrolled"] and not raw["below"]:
        frames.large = True
        raw = await _walk(main, frames)
    frames.large = bool(raw.get("cut") or raw.get("below"))
    if raw.get("suspects") and await injected.adopt_closed_roots(page):
        raw = await _walk(main, frames)
    inner: dict[str, dict[str, Any]] = {}
    if raw["frames"]:
        await _walk_children(main, frames, inner, depth=1)
    lines = list(_flatten(raw, inner, page.url, ""))
    cut = any(one.get("cut") for one in (raw, *inner.values()))
    view = View(raw["url"], raw["title"], lines, cut, bool(raw.get("below")))
    for one in (raw, *inner.values()):
        view.flashed += tuple(one.get("flashed", ()))
        view.gone += tuple((ref, plain(text)) for ref, text in one.get("gone", ()))
        view.restyled += tuple((ref, plain(how)) for ref, how in one.get("restyled", ()))
    view.consent = any(one.get("consent") for one in (raw, *inner.values()))
    _name_regions(lines)
    for line in lines:
        view.refs.update(line.refs)
    return view


async def shown_frames(page: Page) -> list[Frame]:
    """The main frame, and those inside it that have a place on the page."""
    inner = page.frames[1 : FRAMES_READ + 1]
    boxes = await asyncio.gather(*map(_box_of, inner))
    return [page.main_frame, *(frame for frame, box in zip(inner, boxes, strict=True) if box)]


async def _box_of(frame: Frame) -> object:
    try:
        async with asyncio.timeout(FRAME_SECONDS):
            return await (await frame.frame_element()).bounding_box()
    except (TimeoutError, PlaywrightError):
        return None


async def lines_saying(page: Page, frames: Frames, text: str) -> tuple[list[PageLine], bool]:
    """Lines that say a text, of a page too large to be walked whole, frames included.

    Gives them, and whether all of the page was searched.
    """

    async def searched(frame: Frame) -> tuple[list[PageLine], bool]:
        try:
            async with asyncio.timeout(FRAME_SECONDS):
                return await _walk_parts(frame, frames, page.url, text=text)
        except (TimeoutError, PlaywrightError):
            return [], False

    parts = await asyncio.gather(*map(searched, await shown_frames(page)))
    return [line for lines, _ in parts for line in lines], all(whole for _, whole in parts)


async def lines_around(page: Page, frames: Frames, target: Target) -> list[PageLine]:
    """Lines that stand around an element, of a page too large to be walked whole."""
    lines, _ = await _walk_parts(target.frame, frames, page.url, element=target.element)
    return lines


async def _walk_parts(
    frame: Frame, frames: Frames, url: str, *, text: str = "", element: ElementHandle | None = None
) -> tuple[list[PageLine], bool]:
    asked = {**frames.options(frame), "below": False, "text": text, "element": element}
    raw = await injected.call_json(frame, "walkParts", asked)
    frames.counted(frame, raw["count"])
    lines = list(_flatten(raw, {}, url, ""))
    _name_regions(lines)
    return lines, bool(raw["whole"])


async def _walk(frame: Frame, frames: Frames) -> dict[str, Any]:
    raw: dict[str, Any] = await injected.call_json(frame, "walk", frames.options(frame))
    frames.counted(frame, raw["count"])
    return raw


async def _walk_children(parent: Frame, frames: Frames, found: dict[str, Any], depth: int) -> None:
    if depth > 5:
        return
    children = parent.child_frames[:FRAMES_READ]
    await asyncio.gather(*(_walk_child(child, frames, found, depth) for child in children))


async def _walk_child(frame: Frame, frames: Frames, found: dict[str, Any], depth: int) -> None:
    try:
        async with asyncio.timeout(FRAME_SECONDS):
            owner = await frame.frame_element()
            parent = frame.parent_frame
            if parent is None:
                return
            frames.options(frame)
            ref = await injected.call(parent, "known", owner)
            if not ref:
                return  # its element is not shown
            raw = await _walk(frame, frames)
            found[ref] = raw
            if raw["frames"]:
                await _walk_children(frame, frames, found, depth + 1)
    except (TimeoutError, PlaywrightError):
        return  # the frame's line stays, and says that it did not answer


def _flatten(raw: dict[str, Any], inner: dict[str, Any], url: str, prefix: str) -> list[PageLine]:
    lines: list[PageLine] = []
    for entry in raw["lines"]:
        if entry["k"] != "frame":
            for line in build(entry, url):
                if line.group:
                    line.group = (prefix + line.group[0], line.group[1])
                lines += split_long(line)
            continue
        lines += _frame_lines(entry, inner)
    return lines


def _frame_lines(entry: dict[str, Any], inner: dict[str, Any]) -> list[PageLine]:
    ref, depth = entry["f"], entry["d"]
    name = str(entry["p"][0] or "")[:60]
    head = PageLine(f"[{ref} frame: {name}]" if name else f"[{ref} frame]", "frame", depth)
    head.refs[ref] = f"frame {name}".strip()
    child = inner.get(ref)
    if child is None:
        head.text += " (did not answer)"
        return [head]
    below = _flatten(child, inner, child["url"], ref)
    for line in below:
        line.depth += depth + 1
    return [head, *below]


def _name_regions(lines: list[PageLine]) -> None:
    stack: list[PageLine] = []
    for line in lines:
        while stack and line.depth <= stack[-1].depth:
            stack.pop()
        line.region = " > ".join(region.text.rstrip(":") for region in stack)
        if line.kind == "region":
            stack.append(line)


RESOLVE_SECONDS = 5.0  # only a page whose own script runs without end takes as long


@dataclass(frozen=True, slots=True)
class Target:
    """An element under our hand, and the frame it lives in."""

    ref: str
    element: ElementHandle
    frame: Frame


async def target_of(frames: Frames, ref: str) -> Target:
    """Find the element of a ref, also after it was re-rendered, when that is unambiguous.

    Raises RefError, with lines of candidates, when it is gone or no longer certain. The page is
    watched for changes from here on, so that settling knows what the action did.
    """
    frame = frames.of(ref)
    if frame is None:
        raise RefError(f"{ref} is not a ref of this page")
    async with within(RESOLVE_SECONDS, f"find {ref}"):
        found = await injected.call_handle(frame, "take", ref)
        if isinstance(found, ElementHandle):
            return Target(ref, found, frame)
        failure = await found.json_value()
    candidates = tuple(str(line) for line in failure["candidates"])
    raise RefError(str(failure["why"]), candidates=candidates)
