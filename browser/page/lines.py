"""The lines of a snapshot, made from what the script in the page found (`js/walk.js`).

A line is a block of the page: a heading, a paragraph, a list item, a table row. Links and controls
are written inside the text where the page has them: `[e7: link text]`, `[e8 button: Save,
disabled]`.
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
OPTIONS_SHOWN = 12  # a select's options; further ones get lines of their own
OPTIONS_A_LINE = 40
OPTION_SHOWN = 40  # characters
NAME_SHOWN = 160  # characters of a control's name
FRAME_NAME_SHOWN = 60
LINK_TARGET_SHOWN = 60
VALUE_SHOWN = 200
VALUE_HEAD, VALUE_TAIL = 100, 40  # of a longer value
VALUE_A_LINE = 800
LONG_LINE = 500  # characters; shorter lines are not split
MIN_PART = 350  # of a long line; a part ends at the first sentence or control after this
DEEPEST_INDENT = 6

_MARKS = {"li": "- ", **{f"h{level}": "#" * level + " " for level in range(1, 7)}}
_NEVER_SPLIT = ("h", "row", "th", "region", "frame")  # kinds; a split row is no row
_BRACKET_LOST = 800  # a bracket still open after this is one of the text, not of a control
_UNSEEN = frozenset({"invisible", "off-screen", "turned away"})
# The text inside these is their caption; inside a custom field or list it is the value.
_CAPTIONED_ROLES = ("", "button", "link", "menuitem", "tab")
_WEAK_NAMES = frozenset("here link more read continue click this learn details next >".split())
# Stands for a space of a field's value while runs of spaces are squashed; clean text has no NUL.
_KEPT_SPACE = "\0"
# Security: text of the page that looks like one of our refs could pass for a control.
_FORGED_REF = re.compile(r"\[(?=(?:f\d+)?[ex]\d+\b)")

Piece = dict[str, Any]
"""A part of a line that is more than text: see `_LineText`."""


def plain_text(text: str) -> str:
    """Make text of the page safe for a line: cleaned, on one line, without forged refs."""
    return _FORGED_REF.sub("(", clean(text).replace("\n", " ⏎ "))


@dataclass(slots=True)
class PageLine:
    """One line of a view.

    `group` is (repeater, item) for rows that repeat; `region` names the landmarks around it. `refs`
    maps each ref in the line to role and name; `options` and `values` hold, by ref, what is too
    long for the line. `unseen_refs` and `unseen_text` are the refs and parts of the text that
    nobody can see. `covered` pairs each part that says it is covered with the same part without
    that remark.
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
    unseen_refs: set[str] = field(default_factory=set)
    unseen_text: list[str] = field(default_factory=list)
    covered: list[tuple[str, str]] = field(default_factory=list)

    def rendered(self) -> str:
        """The line as a snapshot shows it, with its indentation and block mark."""
        return " " * min(self.depth, DEEPEST_INDENT) + _MARKS.get(self.kind, "") + self.text

    def uncovered(self) -> str:
        """The rendered line without the remarks that something covers it."""
        text = self.rendered()
        for covered, bare in self.covered:
            text = text.replace(covered, bare)
        return text

    def visible_text(self) -> str:
        """The text that a person can see."""
        text = "" if self.hidden or self.kind == "options" else self.text
        for part in self.unseen_text:
            text = text.replace(part, "")
        return text.strip()


def frame_line(entry: dict[str, Any]) -> PageLine:
    """Make the heading line of a frame; the frame's own lines follow it."""
    ref, name = entry["f"], str(entry["p"][0] or "")[:FRAME_NAME_SHOWN]
    text = f"[{ref} frame: {name}, label only]" if name else f"[{ref} frame]"
    return PageLine(text, "frame", entry["d"], {ref: f"frame {name}".strip()})


def lines_from_entry(entry: dict[str, Any], base_url: str) -> list[PageLine]:
    """Make the lines of one entry of the walk; a long one is split.

    Options and values that do not fit follow in lines of their own.
    """
    line = PageLine("", entry["k"], entry["d"])
    if entry.get("g"):
        line.group = (str(entry["g"][0]), int(entry["g"][1]))
    pieces = entry["p"]
    if line.kind == "region":
        name = plain_text(pieces[0])[:NAME_SHOWN]
        line.text = f"{entry['r']} {name}:" if name else f"{entry['r']}:"
        return [line]
    line.text = _LineText(line, base_url).build(pieces)
    if not line.text:
        return []
    line.hidden = all(isinstance(p, dict) and (p.get("x") or "e" in p) for p in pieces)
    lines: list[PageLine] = []
    for whole in (line, *_overflow_lines(line)):
        lines += _split_line(whole)
    return lines


def _overflow_lines(line: PageLine) -> Iterator[PageLine]:
    """Make lines for the options and values that do not fit in the line itself."""
    for ref, options in line.options.items():
        for start in range(OPTIONS_SHOWN, len(options), OPTIONS_A_LINE):
            text = "; ".join(options[start : start + OPTIONS_A_LINE])
            yield PageLine(f"options of {ref}: {text}", "options", line.depth + 1, hidden=True)
    for ref, value in line.values.items():
        for start in range(0, len(value), VALUE_A_LINE):
            text = value[start : start + VALUE_A_LINE]
            yield PageLine(f"value of {ref}: {text}", "options", line.depth + 1, hidden=True)


def _split_line(line: PageLine) -> list[PageLine]:
    """Cut a long line at sentences and between controls, never inside a control."""
    text = line.text
    if len(text) <= LONG_LINE or line.kind.startswith(_NEVER_SPLIT):
        return [line]
    parts: list[str] = []
    start = depth = bracket = 0  # of the part, of open brackets, of the last "["
    for at, char in enumerate(text):
        if char == "[":
            depth, bracket = depth + 1, at
        elif char == "]":
            depth = max(0, depth - 1)
        elif char == " " and at - start >= MIN_PART:
            is_boundary = text[at - 1] in ".!?…。]" or text[at + 1 : at + 2] == "["
            inside_control = depth and at - bracket < _BRACKET_LOST
            if is_boundary and not inside_control:
                parts.append(text[start:at].strip())
                start, depth = at + 1, 0
    parts.append(text[start:].strip())
    lines = []
    for number, part in enumerate(parts):
        if part:
            refs = {ref: line.refs[ref] for ref in REF.findall(part) if ref in line.refs}
            kind = "p" if number else line.kind
            lines.append(replace(line, text=part, kind=kind, refs=refs))
    return lines


class _LineText:
    """Builds the text of one line from its pieces, and fills the line's other fields.

    A piece is a string, or a dict with one of: `t` hidden text, `i` an image, `c` the border of two
    cells, `r` a control, `e` the end of a control that was `open`. `w` is the space before it, `x`
    why it cannot be seen.
    """

    def __init__(self, line: PageLine, base_url: str) -> None:
        self._line = line
        self._base_url = base_url
        self._parts: list[str] = []
        self._open: list[tuple[int, Piece]] = []  # controls, and their index in the parts

    def build(self, pieces: list[str | Piece]) -> str:
        """Return the text of the line."""
        for piece in pieces:
            if isinstance(piece, str):
                self._parts.append(plain_text(piece))
            elif "e" in piece:
                self._close_control(piece["e"])
            elif piece.get("open"):
                self._open.append((len(self._parts), piece))
                self._parts.append("")
            elif "c" in piece:
                self._parts.append(" | ")
            else:
                self._parts.append((piece.get("w") or "") + self._format(piece))
        for at, piece in self._open:  # the control's content goes on in the lines below
            control = self._format_control(piece, plain_text(piece.get("l", "")))
            self._parts[at] = f"{piece.get('w') or ''}{control} "
        text = " ".join(filter(None, "".join(self._parts).split(" "))).strip()
        text = text.replace(_KEPT_SPACE, " ")
        if self._line.kind in {"row", "th"}:
            return f"| {text} |" if text.strip("| ") else ""
        return text

    def _format(self, piece: Piece) -> str:
        """Format hidden text, an image, or a control that has no content of its own."""
        if "t" in piece:
            bare = plain_text(piece["t"])
            marked = f"({piece['x']}: {bare})"
            if piece["x"] == "covered":
                self._line.covered.append((marked, bare))
            if piece["x"] in _UNSEEN:
                self._line.unseen_text.append(marked)
            return marked
        if "i" in piece:
            return f"({'' if piece.get('drawn') else 'image: '}{plain_text(piece['i'])})"
        name = plain_text(piece.get("n") or "")[:NAME_SHOWN]
        if not name and piece.get("a"):
            name = f"({plain_text(piece['a'])})"
        return self._format_control(piece, name)

    def _close_control(self, ref: str) -> None:
        """Turn everything since the control was opened into its name."""
        if not self._open or self._open[-1][1]["r"] != ref:
            return
        at, piece = self._open.pop()
        # The control itself will say that it is hidden; its text need not say it too.
        inside = "".join(self._parts[at + 1 :]).strip()
        mark = f"({piece.get('x')}: "
        if inside.startswith(mark) and inside.endswith(")") and inside.count(mark) == 1:
            inside = inside[len(mark) : -1]
        label = plain_text(piece.get("l", ""))
        name = label or inside
        if label and inside:
            has_caption = piece["k"] in _CAPTIONED_ROLES and any(map(str.isalpha, inside))
            name = f"{inside} (labelled: {label})" if has_caption else f"{label} ({inside})"
        self._parts[at:] = [(piece.get("w") or "") + self._format_control(piece, name)]

    def _format_control(self, piece: Piece, name: str) -> str:
        """Format a control as `[e8 button: Save, disabled]`: ref, role, name, value and states."""
        line, ref, role = self._line, piece["r"], piece["k"] or "clickable"
        line.refs[ref] = f"{role} {name}".strip().replace(_KEPT_SPACE, " ")
        hidden = piece.get("x")
        if hidden in _UNSEEN:
            line.unseen_refs.add(ref)
        elif hidden:
            line.covered.append((f", {hidden}", ""))
        facts = ""
        if piece.get("v"):
            facts = f" = {self._value(ref, plain_text(piece['v'])).replace('  ', _KEPT_SPACE * 2)}"
        if piece.get("u"):
            facts += _link_target(piece["u"], name, self._base_url)
        for state in piece.get("s", ()):
            facts += f", {state}"
        if hidden:
            facts += f", {hidden}"
        if piece.get("o"):
            options = line.options[ref] = tuple(plain_text(option) for option in piece["o"])
            more = f" +{len(options) - OPTIONS_SHOWN}" if len(options) > OPTIONS_SHOWN else ""
            shown = "; ".join(option[:OPTION_SHOWN] for option in options[:OPTIONS_SHOWN])
            facts += f", options: {shown}{more}"
        head = ref if role == "link" else f"{ref} {role}"
        # `[e3 textbox = text]`, `[e3 textbox: Name = text]`: without a name there is no colon.
        if not name and facts.startswith(" = "):
            return f"[{head}{facts}]"
        body = f"{name}{facts}" if name else facts.lstrip(", ")
        return f"[{head}: {body}]" if body else f"[{head}]"

    def _value(self, ref: str, value: str) -> str:
        """Shorten a long value to its ends; all of it then goes into lines of its own."""
        if len(value) <= VALUE_SHOWN:
            return value
        self._line.values[ref] = value
        return f"{value[:VALUE_HEAD]} … {value[-VALUE_TAIL:]} ({len(value)} characters)"


def _link_target(url: str, name: str, base_url: str) -> str:
    """Format a link's target if it adds to the link's text: another site, or a link without one."""
    if url == "#":
        return ""
    split = urlsplit(url)
    if split.netloc and not same_site(url, base_url):
        return f" → {split.netloc.removeprefix('www.')}"
    if len(name) > 2 and name.casefold().strip(" .…»→") not in _WEAK_NAMES:
        return ""
    last = split.path.rstrip("/").rsplit("/", 1)[-1] or "/"
    query = f"?{split.query}" if split.query else ""
    return f" → {plain_text(last + query)[:LINK_TARGET_SHOWN]}"
