"""One look at a live page: all its frames walked at once, put together in order, as lines."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from playwright.async_api import ElementHandle

from browser.errors import RefError
from browser.page import injected
from browser.page.lines import frame_line, lines_of, plain
from browser.page.waiting import answer_of, within

if TYPE_CHECKING:
    from playwright.async_api import Frame, Page

    from browser.page.lines import PageLine

# A page of 300,000 links must not take the session with it: the walk stops at either.
WALK_CHARS = 190_000
WALK_MS = 2_500
FRAME_SECONDS = 3.0  # a frame that does not answer by then is named as such
FRAMES_READ = 30
FRAMES_DEEP = 5
RESOLVE_SECONDS = 5.0  # only a page whose own script runs without end takes as long

Walked = dict[str, Any]
"""What the walk of a frame gives: see `walk` of `js/walk.js`."""


@dataclass(slots=True)
class View:
    """What the page showed at one moment, whole.

    A page too large to be walked whole is `begun` above (it is shown from where it is scrolled to)
    and `cut` below. `consent` says that a consent dialog of a known platform is in front. Since the
    last look: refs of what `flashed`, in its order; words that came and are `gone`, each with the
    ref they were in; refs of what is `restyled`, and how it looks now.
    """

    url: str
    title: str
    lines: list[PageLine]
    cut: bool = False
    begun: bool = False
    consent: bool = False
    flashed: tuple[str, ...] = ()
    gone: tuple[tuple[str, str], ...] = ()
    restyled: tuple[tuple[str, str], ...] = ()
    refs: dict[str, str] = field(default_factory=dict)

    def visible_text(self) -> str:
        """All that a person can see, as a snapshot shows it, a line each."""
        return "\n".join(line.visible_text() for line in self.lines)


@dataclass(frozen=True, slots=True)
class Target:
    """An element that a ref names, and the frame it lives in."""

    ref: str
    element: ElementHandle
    frame: Frame

    @property
    def page(self) -> Page:
        """The page that the frame is of."""
        return self.frame.page


class Frames:
    """The frames of a tab: walked, and asked for the elements of refs.

    Each frame has a number, which its refs begin with, and counts them on, so that no ref is given
    twice.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self._prefixes: dict[Frame, str] = {}
        self._counts: dict[Frame, int] = {}
        self._large = False  # the page was too large to be walked whole
        self._walk_ms = WALK_MS

    async def look(self, walk_ms: int = WALK_MS) -> View:
        """Walk the main frame and, where it has any, the frames inside it.

        A walk stops after `walk_ms` milliseconds.
        """
        self._walk_ms = walk_ms
        main = self._page.main_frame
        raw = await self._walk(main, below=self._large)
        # Of a page too large for one walk the part above is left out: what is in view must be in.
        if raw.get("cut") and raw["scrolled"] and not raw["below"]:
            raw = await self._walk(main, below=True)
        self._large = bool(raw.get("cut") or raw.get("below"))
        # Closed shadow roots come over DevTools, which takes a second walk; most pages have none.
        if raw.get("suspects") and await injected.adopt_closed_roots(self._page):
            raw = await self._walk(main, below=self._large)
        inner: dict[str, Walked] = {}
        if raw["frames"]:
            await self._walk_inside(main, inner, 1)
        walked = [raw, *inner.values()]
        view = View(
            raw["url"],
            raw["title"],
            _lines(raw, inner, self._page.url),
            cut=any(one.get("cut") for one in walked),
            begun=bool(raw.get("below")),
            consent=any(one.get("consent") for one in walked),
            flashed=tuple(ref for one in walked for ref in one.get("flashed", ())),
            gone=tuple((ref, plain(said)) for one in walked for ref, said in one.get("gone", ())),
            restyled=tuple(
                (ref, plain(how)) for one in walked for ref, how in one.get("restyled", ())
            ),
        )
        _name_regions(view.lines)
        for line in view.lines:
            view.refs.update(line.refs)
        return view

    async def shown(self) -> list[Frame]:
        """The main frame, and those inside it that have a place on the page."""

        async def place_of(frame: Frame) -> object:
            return await (await frame.frame_element()).bounding_box()

        inner = self._page.frames[1 : FRAMES_READ + 1]
        asked = (answer_of(place_of(frame), FRAME_SECONDS) for frame in inner)
        places = await asyncio.gather(*asked)
        return [
            self._page.main_frame,
            *(frame for frame, place in zip(inner, places, strict=True) if place),
        ]

    async def lines_saying(self, text: str) -> tuple[list[PageLine], bool]:
        """Lines that say a text, of a page too large to be walked whole, frames included.

        Gives them, and whether all of the page was searched.
        """
        frames = await self.shown()
        asked = (answer_of(self._walk_parts(frame, text=text), FRAME_SECONDS) for frame in frames)
        found = [part or ([], False) for part in await asyncio.gather(*asked)]
        return [line for lines, _ in found for line in lines], all(whole for _, whole in found)

    async def lines_around(self, target: Target) -> list[PageLine]:
        """Lines that stand around an element, of a page too large to be walked whole."""
        return (await self._walk_parts(target.frame, element=target.element))[0]

    async def find(self, ref: str) -> Target:
        """Find the element of a ref, also after it was drawn anew, when that is unambiguous.

        Raises RefError, with lines of candidates, when it is gone or no longer certain. The page is
        watched for changes from here on, so that settling knows what the action did.
        """
        prefix = ref.rstrip("0123456789")
        frame = next((frame for frame, own in self._prefixes.items() if own == prefix), None)
        if frame is None or frame.is_detached():
            raise RefError(f"{ref} is not a ref of this page")
        async with within(RESOLVE_SECONDS, f"find {ref}"):
            found = await injected.call_handle(frame, "take", ref)
            if isinstance(found, ElementHandle):
                return Target(ref, found, frame)
            failure = await found.json_value()
        candidates = tuple(str(line) for line in failure["candidates"])
        raise RefError(str(failure["why"]), candidates=candidates)

    async def _walk_parts(self, frame: Frame, **wanted: object) -> tuple[list[PageLine], bool]:
        raw = await self._walk(frame, "walkParts", **wanted)
        lines = _lines(raw, {}, self._page.url)
        _name_regions(lines)
        return lines, bool(raw["whole"])

    async def _walk(self, frame: Frame, how: str = "walk", **options: object) -> Walked:
        """Walk a frame; of a large page, with `below`, from where it is scrolled to on."""
        bounds = {"chars": WALK_CHARS, "ms": self._walk_ms}
        numbers = {"prefix": self._prefix(frame), "start": self._counts.get(frame, 0)}
        # As JSON text: much quicker than handing over large objects.
        raw: Walked = json.loads(await injected.call(frame, how, {**bounds, **numbers, **options}))
        self._counts[frame] = raw["count"]
        return raw

    def _prefix(self, frame: Frame) -> str:
        number = len(self._prefixes)
        return self._prefixes.setdefault(frame, f"f{number}e" if number else "e")

    async def _walk_inside(self, parent: Frame, found: dict[str, Walked], depth: int) -> None:
        """Walk what stands inside a frame; the line of one that does not answer says so."""

        async def walk(frame: Frame) -> None:
            owner = await frame.frame_element()
            self._prefix(frame)  # numbers go by the order of frames, not of their answers
            ref = await injected.call(parent, "known", owner)
            if not ref:
                return  # its element is not shown
            found[ref] = await self._walk(frame)
            if found[ref]["frames"] and depth < FRAMES_DEEP:
                await self._walk_inside(frame, found, depth + 1)

        children = parent.child_frames[:FRAMES_READ]
        await asyncio.gather(*(answer_of(walk(child), FRAME_SECONDS) for child in children))


def _lines(
    raw: Walked, inner: dict[str, Walked], url: str, depth: int = 0, frame: str = ""
) -> list[PageLine]:
    """The lines of a frame, which stands at a `depth`; those of inner frames below their own."""
    lines: list[PageLine] = []
    for entry in raw["lines"]:
        if entry["k"] != "frame":
            found = lines_of(entry, url)
            for line in found:
                line.depth += depth
                if line.group:
                    line.group = (frame + line.group[0], line.group[1])
            lines += found
            continue
        head = frame_line(entry)
        head.depth += depth
        lines.append(head)
        if child := inner.get(entry["f"]):
            lines += _lines(child, inner, child["url"], head.depth + 1, entry["f"])
        else:
            head.text += " (did not answer)"
    return lines


def _name_regions(lines: list[PageLine]) -> None:
    stack: list[PageLine] = []
    for line in lines:
        while stack and line.depth <= stack[-1].depth:
            stack.pop()
        line.region = " > ".join(region.text.rstrip(":") for region in stack)
        if line.kind == "region":
            stack.append(line)
