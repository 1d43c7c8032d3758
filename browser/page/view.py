"""One look at a live page: all its frames walked at once, put together in order, as lines.

A line is a block of the page: a heading, a paragraph, a list item, a table row. Links and controls
stand inside the text where the page has them: `[e7: link text]`, `[e8 button: Save, disabled]`.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from playwright.async_api import ElementHandle
from playwright.async_api import Error as PlaywrightError

from browser.errors import RefError
from browser.net.url import same_site
from browser.page import injected
from browser.page.waiting import within
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    head = PageLine(
        f"[{ref} frame: {name}, label only]" if name else f"[{ref} frame]", "frame", depth
    )
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


OPTIONS_SHOWN = 12  # a select's options; further ones stand in lines of their own
OPTIONS_A_LINE = 40
NAME_SHOWN = 160  # characters of a control's name
VALUE_SHOWN = 200
VALUE_HEAD, VALUE_TAIL = 100, 40  # of a longer one
VALUE_A_LINE = 800
_UNSEEN = frozenset({"invisible", "off-screen", "turned away"})
_KEPT = "\0"  # a space of a field's value while a line is put together; cleaned text has none
# Text of the page that looks like one of our refs could pass for a control.
_FORGED = re.compile(r"\[(?=(?:f\d+)?[ex]\d+\b)")
_WEAK_NAMES = frozenset("here link more read continue click this learn details next >".split())


@dataclass(slots=True)
class PageLine:
    """One line. `group` is (repeater, item) for rows that repeat; `region` names its landmark."""

    text: str
    kind: str = "p"
    depth: int = 0
    refs: dict[str, str] = field(default_factory=dict)
    group: tuple[str, int] | None = None
    region: str = ""
    hidden: bool = False
    options: dict[str, tuple[str, ...]] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    unseen: set[str] = field(default_factory=set)  # refs of what nobody sees
    concealed: list[str] = field(default_factory=list)  # parts of the text that nobody sees
    covered: list[tuple[str, str]] = field(default_factory=list)  # parts, and how they read bare

    def rendered(self) -> str:
        """The line as it is shown, with its indentation and block mark."""
        return " " * min(self.depth, 6) + _MARKS.get(self.kind, "") + self.text

    def uncovered(self) -> str:
        """The line as it is shown where nothing lies above it."""
        text = self.rendered()
        for told, bare in self.covered:
            text = text.replace(told, bare)
        return text

    def shown(self) -> str:
        """The line without what nobody sees."""
        text = "" if self.hidden or self.kind == "options" else self.text
        for told in self.concealed:
            text = text.replace(told, "")
        return text.strip()


_MARKS = {"li": "- ", **{f"h{level}": "#" * level + " " for level in range(1, 7)}}


def plain(text: str) -> str:
    """Text of the page as it may stand in a line: cleaned, and nothing that passes for a ref."""
    return _FORGED.sub("(", clean(text).replace("\n", " ⏎ "))


def build(raw: dict[str, Any], base_url: str) -> list[PageLine]:
    """Make of one entry of the walk its line, and lines for the options that did not fit in it."""
    line = PageLine("", raw["k"], raw["d"])
    if raw.get("g"):
        line.group = (str(raw["g"][0]), int(raw["g"][1]))
    if raw["k"] == "region":
        name = plain(raw["p"][0])[:NAME_SHOWN]
        line.text = f"{raw['r']} {name}:" if name else f"{raw['r']}:"
        return [line]
    pieces = raw["p"]
    line.text = _join(line, pieces, base_url)
    line.hidden = all(isinstance(p, dict) and (p.get("x") or "e" in p) for p in pieces)
    return [line, *_more_options(line)] if line.text else []


def _more_options(line: PageLine) -> Iterator[PageLine]:
    for ref, options in line.options.items():
        for start in range(OPTIONS_SHOWN, len(options), OPTIONS_A_LINE):
            text = "; ".join(options[start : start + OPTIONS_A_LINE])
            yield PageLine(f"options of {ref}: {text}", "options", line.depth + 1, hidden=True)
    for ref, value in line.values.items():
        for start in range(0, len(value), VALUE_A_LINE):
            text = value[start : start + VALUE_A_LINE]
            yield PageLine(f"value of {ref}: {text}", "options", line.depth + 1, hidden=True)


def _join(line: PageLine, pieces: Sequence[str | dict[str, Any]], base: str) -> str:
    parts: list[str] = []
    opened: list[tuple[int, dict[str, Any]]] = []
    cells = line.kind in {"row", "th", "board"}
    for piece in pieces:
        if isinstance(piece, str):
            parts.append(plain(piece))
            continue
        gap = piece.get("w") or ""
        if "t" in piece:
            parts.append(gap + _hidden_text(line, piece))
        elif "i" in piece:
            image = "" if piece.get("drawn") else "image: "
            parts.append(f"{gap}({image}{plain(piece['i'])})")
        elif "c" in piece:
            parts.append(" | ")
        elif "e" in piece:
            _close(line, parts, opened, piece["e"], base)
        elif piece.get("open"):
            opened.append((len(parts), piece))
            parts.append("")
        else:
            parts.append(gap + _control(line, piece, _named(piece), base))
    for at, piece in opened:  # the control's content goes on in the lines below
        parts[at] = (
            (piece.get("w") or "") + _control(line, piece, plain(piece.get("l", "")), base) + " "
        )
    text = " ".join(filter(None, "".join(parts).split(" "))).strip().replace(_KEPT, " ")
    if cells:
        return f"| {text} |" if text.strip("| ") or line.kind == "board" else ""
    return text


def _hidden_text(line: PageLine, piece: dict[str, Any]) -> str:
    told = f"({piece['x']}: {plain(piece['t'])})"
    if piece["x"] == "covered":
        line.covered.append((told, plain(piece["t"])))
    if piece["x"] in _UNSEEN:
        line.concealed.append(told)
    return told


def _close(
    line: PageLine,
    parts: list[str],
    opened: list[tuple[int, dict[str, Any]]],
    ref: str,
    base: str,
) -> None:
    """Turn everything since the control was opened into its name."""
    if not opened or opened[-1][1]["r"] != ref:
        return
    at, piece = opened.pop()
    inside = "".join(parts[at + 1 :]).strip()
    mark = f"({piece.get('x')}: "
    if inside.startswith(mark) and inside.endswith(")") and inside.count(mark) == 1:
        inside = inside[len(mark) : -1]  # said once is enough
    label = plain(piece.get("l", ""))
    name = label or inside
    if label and inside:
        # The words of a button are its own; those in a drawn field or list are what it holds.
        says = piece["k"] in _SAYING and any(map(str.isalpha, inside))
        name = f"{inside} (labelled: {label})" if says else f"{label} ({inside})"
    del parts[at:]
    parts.append((piece.get("w") or "") + _control(line, piece, name, base))


_SAYING = ("", "button", "link", "menuitem", "tab")


def _named(piece: dict[str, Any]) -> str:
    name = plain(piece.get("n") or "")[:NAME_SHOWN]
    return name or (f"({plain(piece['a'])})" if piece.get("a") else "")


def _control(line: PageLine, piece: dict[str, Any], name: str, base: str) -> str:
    ref, role = piece["r"], piece["k"] or "clickable"
    line.refs[ref] = f"{role} {name}".strip().replace(_KEPT, " ")
    if piece.get("x") in _UNSEEN:
        line.unseen.add(ref)
    elif piece.get("x"):
        line.covered.append((f", {piece['x']}", ""))
    head = ref if role == "link" else f"{ref} {role}"
    facts = _facts(line, piece, name, base)
    if not name and facts.startswith(" = "):
        return f"[{head}{facts}]"
    body = f"{name}{facts}" if name else facts.lstrip(", ")
    return f"[{head}: {body}]" if body else f"[{head}]"


def _facts(line: PageLine, piece: dict[str, Any], name: str, base: str) -> str:
    facts = ""
    if piece.get("v"):
        facts += f" = {_value(line, piece['r'], plain(piece['v'])).replace('  ', _KEPT * 2)}"
    if piece.get("u"):
        facts += _target(piece["u"], name, base)
    for state in [*piece.get("s", ()), *([piece["x"]] if piece.get("x") else ())]:
        facts += f", {state}"
    if piece.get("o"):
        options = tuple(plain(option) for option in piece["o"])
        line.options[piece["r"]] = options
        more = f" +{len(options) - OPTIONS_SHOWN}" if len(options) > OPTIONS_SHOWN else ""
        facts += f", options: {'; '.join(o[:40] for o in options[:OPTIONS_SHOWN])}{more}"
    return facts


def _value(line: PageLine, ref: str, value: str) -> str:
    """A field's value; of a long one its ends, the whole in lines of its own."""
    if len(value) <= VALUE_SHOWN:
        return value
    line.values[ref] = value
    return f"{value[:VALUE_HEAD]} … {value[-VALUE_TAIL:]} ({len(value)} characters)"


def _target(url: str, name: str, base: str) -> str:
    """Where a link goes, as far as that says more than its text: other sites, unnamed links."""
    if url == "#":
        return ""
    split = urlsplit(url)
    if split.netloc and not same_site(url, base):
        return f" → {split.netloc.removeprefix('www.')}"
    if len(name) > 2 and name.casefold().strip(" .…»→") not in _WEAK_NAMES:
        return ""
    query = f"?{split.query}" if split.query else ""
    return f" → {plain((split.path.rstrip('/').rsplit('/', 1)[-1] or '/') + query)[:60]}"


LONG = 500  # characters; shorter lines are left whole
PIECE = 350  # a piece ends at the first sentence or control after this
_WHOLE_KINDS = ("h", "row", "th", "board", "region", "frame")  # a row in pieces would be no row
_BRACKET_LOST = 800  # a bracket still open after this is one of the text, not of a control
REF = re.compile(r"\[((?:f\d+)?e\d+)\b")


def split_long(line: PageLine) -> list[PageLine]:
    """Cut a long line at sentences and between controls, never inside a control."""
    if len(line.text) <= LONG or line.kind.startswith(_WHOLE_KINDS):
        return [line]
    parts = [line.text[start:end].strip() for start, end in _spans(line.text)]
    return [_piece(line, part, first=not number) for number, part in enumerate(parts) if part]


def _piece(line: PageLine, text: str, *, first: bool) -> PageLine:
    named = {ref: line.refs[ref] for ref in REF.findall(text) if ref in line.refs}
    kind = line.kind if first else "p"
    return replace(line, text=text, kind=kind, refs=named)


def _spans(text: str) -> Iterator[tuple[int, int]]:
    start = depth = opened = 0
    for at, char in enumerate(text):
        if char == "[":
            depth, opened = depth + 1, at
        elif char == "]":
            depth = max(0, depth - 1)
        elif char == " " and at - start >= PIECE and _ends(text, at):
            if depth and at - opened < _BRACKET_LOST:
                continue
            yield start, at
            start, depth = at + 1, 0
    yield start, len(text)


def _ends(text: str, at: int) -> bool:
    return text[at - 1] in ".!?…。]" or text[at + 1 : at + 2] == "["
