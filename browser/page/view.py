"""A view of a live page: its frames are read concurrently, and their lines joined in order."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from playwright.async_api import ElementHandle

from browser.errors import RefError
from browser.net.url import without_query
from browser.page import injected
from browser.page.lines import (
    TABLE_KINDS,
    frame_line,
    lines_from_entry,
    match_refs,
    plain_text,
)
from browser.page.waiting import answer_or_none, within
from browser.text.words import says_loading
from browser.types import PDF

if TYPE_CHECKING:
    from playwright.async_api import Frame, Page

    from browser.page.lines import PageLine

# A page with 300,000 links must not stall the session, so a walk stops at either limit.
WALK_CHARS = 190_000
WALK_MS = 2_500
WHOLE_CHARS, WHOLE_MS = 6_000_000, 15_000  # for a snapshot without a budget
FRAME_SECONDS = 3.0  # a frame that takes longer is marked as not answering
MAX_FRAMES = 30
MAX_FRAME_DEPTH = 5
RESOLVE_SECONDS = 5.0  # only a page whose script never ends takes this long

WalkResult = dict[str, Any]
"""The result of walking a frame: see `walk` in `js/walk.js`."""


@dataclass(slots=True)
class View:
    """The content that a page showed at one point in time.

    For a page that is too large to be read completely, `cut_above` means that lines above the
    scroll position are missing, `cut_below` that lines at the end are missing. `consent` means that
    a known platform's consent dialog is in front, `is_pdf` that the browser shows a PDF instead of
    a page. Three fields describe what happened since the previous view: `flashed` lists the refs of
    elements that changed and changed back, in order; `vanished` lists text that appeared and
    disappeared, as (ref, text) pairs; `restyled` lists elements that changed only in appearance, as
    (ref, new appearance) pairs. `found` contains the lines that a search found on such a large
    page.
    """

    url: str
    title: str
    lines: list[PageLine]
    cut_below: bool = False
    cut_above: bool = False
    consent: bool = False
    is_pdf: bool = False
    flashed: tuple[str, ...] = ()
    vanished: tuple[tuple[str, str], ...] = ()
    restyled: tuple[tuple[str, str], ...] = ()
    refs: dict[str, str] = field(default_factory=dict)
    found: list[PageLine] = field(default_factory=list)

    @property
    def says_loading(self) -> bool:
        """Whether any line is just a loading message."""
        return any(says_loading(line.plain) for line in self.lines)

    def citable(self) -> str:
        """All lines as Markdown without refs; blank lines separate blocks, rows form a table."""
        parts: list[str] = []
        in_table = False
        for line in (*self.lines, *self.found):
            text = line.citable()
            if not text:
                continue
            is_row = line.kind in TABLE_KINDS
            parts.append("\n" if in_table and is_row and line.kind != "th" else "\n\n")
            parts.append(text)
            if line.kind == "th":
                parts.append(f"\n|{'---|' * (text.count(' | ') + 1)}")
            in_table = is_row
        return "".join(parts[1:])

    def visible_text(self) -> str:
        """The text that the user can see, one line for each line of the view."""
        return "\n".join(line.visible_text() for line in self.lines)


@dataclass(frozen=True, slots=True)
class Target:
    """A ref's element, and the frame that it belongs to."""

    ref: str
    element: ElementHandle
    frame: Frame

    @property
    def page(self) -> Page:
        """The page that the frame belongs to."""
        return self.frame.page


class Frames:
    """The frames of a tab: reads them, and resolves refs to elements.

    Refs in an inner frame begin with the frame's number (`f1e3`). A frame's numbering continues
    when its document changes, so that no ref is used twice.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self._prefixes: dict[Frame, str] = {}  # the prefixes of refs
        self._counts: dict[Frame, int] = {}  # the numbers of the last refs
        self._numbered = 0  # the number of frames with a prefix
        self._large = False  # the page was too large to be walked completely
        self._walk_ms, self._walk_chars = WALK_MS, WALK_CHARS

    async def look(
        self, walk_ms: int = WALK_MS, before: View | None = None, *, chars: int = WALK_CHARS
    ) -> View:
        """Walk the main frame and the frames inside it.

        Each walk stops after `walk_ms` milliseconds or `chars` characters. Elements from `before`
        keep their refs if the page was only re-rendered or reloaded.
        """
        self._walk_ms, self._walk_chars = walk_ms, chars
        self._large = self._large and chars == WALK_CHARS
        main = self._page.main_frame
        raw = await self._walk(main, below=self._large)
        # A page that is too large for one walk is walked from the scroll position, because the view
        # must include what the user sees.
        if raw.get("cut") and raw["scrolled"] and not raw["below"]:
            raw = await self._walk(main, below=True)
        self._large = bool(raw.get("cut") or raw.get("below"))
        # Closed shadow roots are read through DevTools, which requires a second walk; most pages
        # have none.
        if raw.get("suspects") and await injected.adopt_closed_roots(self._page):
            raw = await self._walk(main, below=self._large)
        inner: dict[str, WalkResult] = {}  # by ref of the frame element
        if raw["frames"]:
            await self._walk_inside(main, inner, 1)
        walks = [raw, *inner.values()]
        view = View(
            raw["url"],
            raw["title"],
            _lines(raw, inner, self._page.url),
            cut_below=any(walk.get("cut") for walk in walks),
            cut_above=bool(raw.get("below")),
            consent=any(walk.get("consent") for walk in walks),
            is_pdf=raw.get("type") == PDF,
            flashed=tuple(ref for walk in walks for ref in walk.get("flashed", ())),
            vanished=tuple(
                (ref, plain_text(text)) for walk in walks for ref, text in walk.get("gone", ())
            ),
            restyled=tuple(
                (ref, plain_text(look)) for walk in walks for ref, look in walk.get("restyled", ())
            ),
        )
        _name_regions(view.lines)
        if before and without_query(before.url) == without_query(view.url):
            await self._keep_refs(before, view)
        for line in view.lines:
            view.refs.update(line.refs)
        return view

    async def _keep_refs(self, before: View, view: View) -> None:
        """Give re-rendered or reloaded elements their previous refs."""
        by_prefix: dict[str, list[list[str]]] = {}
        for new, old in match_refs(before.lines, view.lines).items():
            prefix = new.rstrip("0123456789")
            if old.rstrip("0123456789") == prefix:  # two frames may show the same page
                by_prefix.setdefault(prefix, []).append([new, old])
        if not by_prefix:
            return
        kept: dict[str, str] = {}
        for frame, prefix in list(self._prefixes.items()):
            if pairs := by_prefix.get(prefix):
                kept |= await injected.call(frame, "rebindAll", pairs)
        for line in view.lines:
            line.rename(kept)
        view.flashed = tuple(kept.get(ref, ref) for ref in view.flashed)

    async def visible(self) -> list[Frame]:
        """The main frame, and the frames inside it that have a box on the page."""

        async def box_of(frame: Frame) -> object:
            return await (await frame.frame_element()).bounding_box()

        inner = self._page.frames[1 : MAX_FRAMES + 1]
        calls = (answer_or_none(box_of(frame), FRAME_SECONDS) for frame in inner)
        boxes = await asyncio.gather(*calls)
        shown = [frame for frame, box in zip(inner, boxes, strict=True) if box]
        return [self._page.main_frame, *shown]

    async def lines_with_text(self, text: str) -> tuple[list[PageLine], bool]:
        """Find lines that contain `text` on a page too large for one walk, including its frames.

        Returns the lines, and whether the entire page was searched.
        """
        calls = (
            answer_or_none(self._walk_parts(frame, text=text), FRAME_SECONDS)
            for frame in await self.visible()
        )
        lines: list[PageLine] = []
        complete = True
        for part in await asyncio.gather(*calls):
            found, whole = part or ([], False)
            lines += found
            complete = complete and whole
        return lines, complete

    async def lines_around(self, target: Target) -> list[PageLine]:
        """The lines around an element, on a page that is too large for one walk."""
        return (await self._walk_parts(target.frame, element=target.element))[0]

    async def find(self, ref: str) -> Target:
        """Resolve a ref to its element or, if that was re-rendered, to its unambiguous successor.

        Raises RefError, with candidate lines, if the element no longer exists or is ambiguous. From
        then on, the page is watched for changes, so that `settle` knows what the action did.
        """
        prefix = ref.rstrip("0123456789")
        frame = next((frame for frame, own in self._prefixes.items() if own == prefix), None)
        if frame is None or frame.is_detached():
            raise RefError(f"{ref} is not a ref on this page")
        async with within(RESOLVE_SECONDS, f"find {ref}"):
            found = await injected.call_handle(frame, "take", ref)
            if isinstance(found, ElementHandle):
                return Target(ref, found, frame)
            failure = await found.json_value()
        candidates = tuple(str(line) for line in failure["candidates"])
        raise RefError(str(failure["why"]), candidates=candidates)

    async def _walk_parts(self, frame: Frame, **options: object) -> tuple[list[PageLine], bool]:
        raw = await self._walk(frame, "walkParts", **options)
        lines = _lines(raw, {}, self._page.url)
        _name_regions(lines)
        return lines, bool(raw["whole"])

    async def _walk(self, frame: Frame, function: str = "walk", **options: object) -> WalkResult:
        """Walk a frame; with the option `below`, only from the scroll position."""
        bounds = {"chars": self._walk_chars, "ms": self._walk_ms}
        numbers = {"prefix": self._prefix(frame), "start": self._counts.get(frame, 0)}
        # The result is a JSON string, because Playwright is much slower at passing large objects.
        text = await injected.call(frame, function, {**bounds, **numbers, **options})
        raw: WalkResult = json.loads(text)
        self._counts[frame] = raw["count"]
        return raw

    def _prefix(self, frame: Frame) -> str:
        if frame not in self._prefixes:
            # Forget the frames of earlier pages; otherwise, all frames ever loaded would be kept.
            for gone in [known for known in self._prefixes if known.is_detached()]:
                del self._prefixes[gone]
                self._counts.pop(gone, None)
            self._prefixes[frame] = f"f{self._numbered}e" if self._numbered else "e"
            self._numbered += 1
        return self._prefixes[frame]

    async def _walk_inside(self, parent: Frame, found: dict[str, WalkResult], depth: int) -> None:
        """Walk the frames inside a frame, and add those that answer to `found`."""

        async def walk(frame: Frame) -> None:
            owner = await frame.frame_element()
            self._prefix(frame)  # numbers frames in page order, not in answer order
            ref = await injected.call(parent, "known", owner)
            if not ref:
                return  # its element is not visible
            found[ref] = await self._walk(frame)
            if found[ref]["frames"] and depth < MAX_FRAME_DEPTH:
                await self._walk_inside(frame, found, depth + 1)

        children = parent.child_frames[:MAX_FRAMES]
        await asyncio.gather(*(answer_or_none(walk(child), FRAME_SECONDS) for child in children))


def _lines(
    raw: WalkResult, inner: dict[str, WalkResult], url: str, depth: int = 0, frame: str = ""
) -> list[PageLine]:
    """Make a frame's lines, indented by `depth`; inner frames' lines follow their heading line."""
    lines: list[PageLine] = []
    for entry in raw["lines"]:
        if entry["k"] != "frame":
            found = lines_from_entry(entry, url)
            for line in found:
                line.depth += depth
                if line.group:  # each frame numbers its repeaters separately
                    line.group = (frame + line.group[0], line.group[1])
            lines += found
            continue
        head = frame_line(entry)
        head.depth += depth
        lines.append(head)
        if child := inner.get(entry["f"]):
            inside = _lines(child, inner, child["url"], head.depth + 1, entry["f"])
            if child.get("type") == PDF:
                head.text += f" (a PDF: READ {child['url']})"
            for line in inside:
                line.layer = max(line.layer, head.layer)
            lines += inside
        else:
            head.text += " (did not answer)"
    return lines


def _name_regions(lines: list[PageLine]) -> None:
    """Set each line's `region` from the region lines under which it is indented."""
    stack: list[PageLine] = []
    for line in lines:
        while stack and line.depth <= stack[-1].depth:
            stack.pop()
        line.region = " > ".join(region.text.rstrip(":") for region in stack)
        if line.kind == "region":
            stack.append(line)
