"""A page's lines: what the walk in the page found, put into text.

A line is a block of the page: a heading, a paragraph, a list item, a table row. Links and controls
stand inside the text where the page has them: `[e7: link text]`, `[e8 button: Save, disabled]`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from browser.net.url import same_site
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

REF = re.compile(r"\[((?:f\d+)?e\d+)\b")
OPTIONS_SHOWN = 12  # a select's options; further ones stand in lines of their own
OPTIONS_A_LINE = 40
OPTION_SHOWN = 40  # characters
NAME_SHOWN = 160  # characters of a control's name
FRAME_NAME_SHOWN = 60
LINK_TARGET_SHOWN = 60
VALUE_SHOWN = 200
VALUE_HEAD, VALUE_TAIL = 100, 40  # of a longer one
VALUE_A_LINE = 800
LONG = 500  # characters; shorter lines are left whole
PIECE = 350  # a piece ends at the first sentence or control after this
DEEPEST_INDENT = 6

_MARKS = {"li": "- ", **{f"h{level}": "#" * level + " " for level in range(1, 7)}}
_WHOLE_KINDS = ("h", "row", "th", "board", "region", "frame")  # a row in pieces would be no row
_BRACKET_LOST = 800  # a bracket still open after this is one of the text, not of a control
_UNSEEN = frozenset({"invisible", "off-screen", "turned away"})
# What these say is their own; the words in a drawn field or list are what it holds.
_SPEAKING_ROLES = ("", "button", "link", "menuitem", "tab")
_WEAK_NAMES = frozenset("here link more read continue click this learn details next >".split())
_KEPT_SPACE = "\0"  # a space of a field's value while a line is put together; clean text has none
# Text of the page that looks like one of our refs could pass for a control.
_FORGED_REF = re.compile(r"\[(?=(?:f\d+)?[ex]\d+\b)")

Piece = dict[str, Any]


def plain(text: str) -> str:
    """Text of the page as it may stand in a line: cleaned, and nothing that passes for a ref."""
    return _FORGED_REF.sub("(", clean(text).replace("\n", " ⏎ "))


@dataclass(slots=True)
class PageLine:
    """One line. `group` is (repeater, item) for rows that repeat; `region` names its landmark.

    `refs` maps each ref in it to role and name; `options` and `values` hold, by ref, what a line
    is too short for. Of what nobody sees `unseen` has the refs, `concealed` the parts of the text;
    `covered` pairs such parts with how they read once nothing lies above them.
    """

    text: str
    kind: str = "p"
    depth: int = 0
    refs: dict[str, str] = field(default_factory=dict)
    group: tuple[str, int] | None = None
    region: str = ""
    hidden: bool = False
    options: dict[str, tuple[str, ...]] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    unseen: set[str] = field(default_factory=set)
    concealed: list[str] = field(default_factory=list)
    covered: list[tuple[str, str]] = field(default_factory=list)

    def rendered(self) -> str:
        """The line as it is shown, with its indentation and block mark."""
        return " " * min(self.depth, DEEPEST_INDENT) + _MARKS.get(self.kind, "") + self.text

    def uncovered(self) -> str:
        """The line as it is shown where nothing lies above it."""
        text = self.rendered()
        for covered, bare in self.covered:
            text = text.replace(covered, bare)
        return text

    def visible_text(self) -> str:
        """The line without what nobody sees."""
        text = "" if self.hidden or self.kind == "options" else self.text
        for part in self.concealed:
            text = text.replace(part, "")
        return text.strip()


def frame_line(entry: dict[str, Any]) -> PageLine:
    """Make the line that stands for a frame; the frame's own lines follow it."""
    ref, name = entry["f"], str(entry["p"][0] or "")[:FRAME_NAME_SHOWN]
    text = f"[{ref} frame: {name}, label only]" if name else f"[{ref} frame]"
    return PageLine(text, "frame", entry["d"], {ref: f"frame {name}".strip()})


def lines_of(entry: dict[str, Any], base_url: str) -> list[PageLine]:
    """Make of one entry of the walk its line, in pieces where it is long.

    Options and values that did not fit in it follow in lines of their own.
    """
    line = PageLine("", entry["k"], entry["d"])
    if entry.get("g"):
        line.group = (str(entry["g"][0]), int(entry["g"][1]))
    pieces = entry["p"]
    if line.kind == "region":
        name = plain(pieces[0])[:NAME_SHOWN]
        line.text = f"{entry['r']} {name}:" if name else f"{entry['r']}:"
        return [line]
    line.text = _LineText(line, base_url).of(pieces)
    if not line.text:
        return []
    line.hidden = all(isinstance(p, dict) and (p.get("x") or "e" in p) for p in pieces)
    return [piece for one in (line, *_overflow(line)) for piece in _split(one)]


def _overflow(line: PageLine) -> Iterator[PageLine]:
    """Lines for options and values that are too many or too long for the line itself."""
    for ref, options in line.options.items():
        for start in range(OPTIONS_SHOWN, len(options), OPTIONS_A_LINE):
            text = "; ".join(options[start : start + OPTIONS_A_LINE])
            yield PageLine(f"options of {ref}: {text}", "options", line.depth + 1, hidden=True)
    for ref, value in line.values.items():
        for start in range(0, len(value), VALUE_A_LINE):
            text = value[start : start + VALUE_A_LINE]
            yield PageLine(f"value of {ref}: {text}", "options", line.depth + 1, hidden=True)


def _split(line: PageLine) -> list[PageLine]:
    """Cut a long line at sentences and between controls, never inside a control."""
    text = line.text
    if len(text) <= LONG or line.kind.startswith(_WHOLE_KINDS):
        return [line]
    parts: list[str] = []
    start = depth = opened = 0
    for at, char in enumerate(text):
        if char == "[":
            depth, opened = depth + 1, at
        elif char == "]":
            depth = max(0, depth - 1)
        elif char == " " and at - start >= PIECE:
            ends = text[at - 1] in ".!?…。]" or text[at + 1 : at + 2] == "["
            if ends and not (depth and at - opened < _BRACKET_LOST):
                parts.append(text[start:at].strip())
                start, depth = at + 1, 0
    parts.append(text[start:].strip())
    lines = []
    for number, part in enumerate(parts):
        refs = {ref: line.refs[ref] for ref in REF.findall(part) if ref in line.refs}
        lines.append(replace(line, text=part, kind="p" if number else line.kind, refs=refs))
    return [one for one in lines if one.text]


class _LineText:
    """Puts the pieces of one line together, and notes in the line what they say beside the text.

    A piece is a string, or a dict with one of: `t` text that is hidden, `i` a picture, `c` the
    border of two cells, `r` a control, `e` the end of a control that was `open`. `w` is the space
    before it, `x` why it cannot be seen.
    """

    def __init__(self, line: PageLine, base_url: str) -> None:
        self._line = line
        self._base_url = base_url
        self._parts: list[str] = []
        self._open: list[tuple[int, Piece]] = []  # controls, and where in the parts they began

    def of(self, pieces: list[str | Piece]) -> str:
        """Give the text of the line."""
        for piece in pieces:
            if isinstance(piece, str):
                self._parts.append(plain(piece))
            elif "e" in piece:
                self._close(piece["e"])
            elif piece.get("open"):
                self._open.append((len(self._parts), piece))
                self._parts.append("")
            elif "c" in piece:
                self._parts.append(" | ")
            else:
                self._parts.append((piece.get("w") or "") + self._told(piece))
        for at, piece in self._open:  # the control's content goes on in the lines below
            control = self._control(piece, plain(piece.get("l", "")))
            self._parts[at] = f"{piece.get('w') or ''}{control} "
        text = " ".join(filter(None, "".join(self._parts).split(" "))).strip()
        text = text.replace(_KEPT_SPACE, " ")
        if self._line.kind in {"row", "th", "board"}:
            return f"| {text} |" if text.strip("| ") or self._line.kind == "board" else ""
        return text

    def _told(self, piece: Piece) -> str:
        if "t" in piece:
            bare = plain(piece["t"])
            told = f"({piece['x']}: {bare})"
            if piece["x"] == "covered":
                self._line.covered.append((told, bare))
            if piece["x"] in _UNSEEN:
                self._line.concealed.append(told)
            return told
        if "i" in piece:
            return f"({'' if piece.get('drawn') else 'image: '}{plain(piece['i'])})"
        name = plain(piece.get("n") or "")[:NAME_SHOWN]
        return self._control(piece, name or (f"({plain(piece['a'])})" if piece.get("a") else ""))

    def _close(self, ref: str) -> None:
        """Turn everything since the control was opened into its name."""
        if not self._open or self._open[-1][1]["r"] != ref:
            return
        at, piece = self._open.pop()
        # A control that is hidden says so itself; its words need not say it too.
        inside = "".join(self._parts[at + 1 :]).strip()
        mark = f"({piece.get('x')}: "
        if inside.startswith(mark) and inside.endswith(")") and inside.count(mark) == 1:
            inside = inside[len(mark) : -1]
        label = plain(piece.get("l", ""))
        name = label or inside
        if label and inside:
            speaks = piece["k"] in _SPEAKING_ROLES and any(map(str.isalpha, inside))
            name = f"{inside} (labelled: {label})" if speaks else f"{label} ({inside})"
        self._parts[at:] = [(piece.get("w") or "") + self._control(piece, name)]

    def _control(self, piece: Piece, name: str) -> str:
        """`[e8 button: Save, disabled]`: ref, role, name, and what else there is to say of it."""
        line, ref, role = self._line, piece["r"], piece["k"] or "clickable"
        line.refs[ref] = f"{role} {name}".strip().replace(_KEPT_SPACE, " ")
        hidden = piece.get("x")
        if hidden in _UNSEEN:
            line.unseen.add(ref)
        elif hidden:
            line.covered.append((f", {hidden}", ""))
        facts = ""
        if piece.get("v"):
            facts = f" = {self._value(ref, plain(piece['v'])).replace('  ', _KEPT_SPACE * 2)}"
        if piece.get("u"):
            facts += _link_target(piece["u"], name, self._base_url)
        facts += "".join(f", {state}" for state in [*piece.get("s", ()), *filter(None, [hidden])])
        if piece.get("o"):
            options = line.options[ref] = tuple(plain(option) for option in piece["o"])
            more = f" +{len(options) - OPTIONS_SHOWN}" if len(options) > OPTIONS_SHOWN else ""
            shown = "; ".join(option[:OPTION_SHOWN] for option in options[:OPTIONS_SHOWN])
            facts += f", options: {shown}{more}"
        head = ref if role == "link" else f"{ref} {role}"
        # `[e3 textbox = text]`, `[e3 textbox: Name = text]`: what has no name needs no colon.
        if not name and facts.startswith(" = "):
            return f"[{head}{facts}]"
        body = f"{name}{facts}" if name else facts.lstrip(", ")
        return f"[{head}: {body}]" if body else f"[{head}]"

    def _value(self, ref: str, value: str) -> str:
        """A field's value; of a long one its ends, the whole in lines of its own."""
        if len(value) <= VALUE_SHOWN:
            return value
        self._line.values[ref] = value
        return f"{value[:VALUE_HEAD]} … {value[-VALUE_TAIL:]} ({len(value)} characters)"


def _link_target(url: str, name: str, base_url: str) -> str:
    """Where a link goes, as far as that says more than its text: other sites, unnamed links."""
    if url == "#":
        return ""
    split = urlsplit(url)
    if split.netloc and not same_site(url, base_url):
        return f" → {split.netloc.removeprefix('www.')}"
    if len(name) > 2 and name.casefold().strip(" .…»→") not in _WEAK_NAMES:
        return ""
    last = split.path.rstrip("/").rsplit("/", 1)[-1] or "/"
    query = f"?{split.query}" if split.query else ""
    return f" → {plain(last + query)[:LINK_TARGET_SHOWN]}"
