"""The page as lines: what one walk over it brought, rendered for a model.

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
    from collections.abc import Iterator, Sequence


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
