"""The lines of a snapshot, made from the output of the page script (`js/walk.js`).

A line is a block of the page, such as a heading, a paragraph, a list item or a table row. Links and
controls appear in the text at the position they have on the page: `[e7: link text]`, `[e8 button:
Save, disabled]`.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from browser.net.url import origin, same_site
from browser.text.words import SENTENCE_ENDS, clean
from browser.types import REF

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

REF_PATTERN = re.compile(rf"\[({REF})\b")
_REF_AFTER_OF_RE = re.compile(rf"(?<= of ){REF}(?=:)")
OPTIONS_SHOWN = 12  # per select; further options are put on separate lines
OPTIONS_PER_LINE = 40  # in an expanded list
OPTION_SHOWN_CHARS = 40  # of an option's text
NAME_SHOWN_CHARS = 160  # of a control's name
FRAME_NAME_SHOWN_CHARS = 60  # of a frame's name or address
LINK_TARGET_SHOWN_CHARS = 60  # of a link's address, enough to tell links apart
VALUE_SHOWN_CHARS = 200  # of a field's value; its ref shows the rest
VALUE_HEAD_CHARS, VALUE_TAIL_CHARS = 100, 40  # both ends of a longer value
VALUE_CHARS_PER_LINE = 800  # in an expanded value
LONG_LINE_CHARS = 500  # shorter lines are not split
MIN_PART_CHARS = 350  # of a split line; a part ends at the first sentence or control after this
MAX_INDENT = 6  # levels; deeper indentation only costs tokens

_MARKS = {"li": "- ", **{f"h{level}": "#" * level + " " for level in range(1, 7)}}
TABLE_KINDS = frozenset({"row", "th", "board"})
# Beginnings of the kinds of lines that stay whole; a split row would no longer be a row.
_NEVER_SPLIT = ("h", "row", "th", "board", "region", "frame")
_MAX_BRACKET_CHARS = 800  # a bracket that is open for longer is part of the text, not of a control
_NOT_VISIBLE_STATES = frozenset({"invisible", "off-screen", "turned away"})
# The text inside these elements is their label; inside a custom field or list, it is the value.
_CAPTIONED_ROLES = ("", "button", "link", "menuitem", "tab")
_WEAK_NAMES = frozenset("here link more read continue click this learn details next >".split())
_UNNAMED_ROLES = frozenset({"link", "clickable", "hoverable"})
_CHECKABLE_ROLES = frozenset({"checkbox", "radio", "switch", "menuitemcheckbox"})
LABEL_ONLY = " (label only)"  # follows the name of a landmark if that name is not visible
_NON_CONTENT_STATES = frozenset({"focused", "label only"})  # not part of the page's content
# Replaces a space in a field's value while repeated spaces are collapsed; clean text has no NUL.
_SPACE_PLACEHOLDER = "\0"
# Security: page text that looks like one of our refs could be mistaken for a control.
_FORGED_REF = re.compile(r"\[(?=(?:f\d+)?[ex]\d+\b)")
# Characters for private use, which icon fonts draw as pictures.
_ICONS = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]+ ?")

Piece = dict[str, Any]
"""A part of a line other than plain text: see `_LineText`."""


def plain_text(text: str) -> str:
    """Make page text safe for a line: clean it, put it on one line, and remove forged refs.

    Characters of icon fonts are removed, too.
    """
    if text.isascii() and text.isprintable():  # most text: nothing to clean
        return _FORGED_REF.sub("(", text) if "[" in text else text
    return _FORGED_REF.sub("(", _ICONS.sub("", clean(text)).replace("\n", " ⏎ "))


@dataclass(slots=True)
class PageLine:
    """One line of a view.

    `plain` is the text without refs, as it can be cited, such as `Posts per page: 9` for a field or
    `Save (button, disabled)`. `group` is (repeater, item) for repeated rows; `region` names the
    landmarks around the line; `is_continuation` marks the later parts of a long paragraph; `layer`
    marks lines of a dialog (2) or another layer (1) that covers the page. `refs` maps each ref in
    the line to its role and name; `options` and `values` map refs to options and values that are
    too long for the line. `unseen_refs` and `unseen_text` are the refs and parts of the text that
    the user cannot see. `covered_parts` pairs each part that is marked as covered with the same
    part without the mark.
    """

    text: str
    kind: str = "p"
    depth: int = 0
    plain: str = ""
    refs: dict[str, str] = field(default_factory=dict)
    group: tuple[str, int] | None = None
    region: str = ""
    hidden: bool = False
    is_continuation: bool = False
    layer: int = 0
    options: dict[str, tuple[str, ...]] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    unseen_refs: set[str] = field(default_factory=set)
    unseen_text: list[str] = field(default_factory=list)
    covered_parts: list[tuple[str, str]] = field(default_factory=list)

    def rendered(self) -> str:
        """The line as a snapshot shows it, with its indentation and block marker."""
        return " " * min(self.depth, MAX_INDENT) + _MARKS.get(self.kind, "") + self.text

    def citable(self) -> str:
        """The line as Markdown without refs; "" for a landmark without a name."""
        if not self.plain:
            return ""
        return _MARKS.get(self.kind, "") + self.plain

    def uncovered(self) -> str:
        """The rendered line, without the marks for covered parts."""
        text = self.rendered()
        for covered, bare in self.covered_parts:
            text = text.replace(covered, bare)
        return text

    @property
    def out_of_sight(self) -> bool:
        """Whether no part of the line would be visible even if nothing covered it."""
        return self.hidden and not self.covered_parts and self.kind not in ("options", "value")

    def rename(self, refs: dict[str, str]) -> None:
        """Replace the refs of the line's elements."""
        if self.kind in ("options", "value"):  # `options of e12: …`
            self.text = _REF_AFTER_OF_RE.sub(
                lambda found: refs.get(found[0], found[0]), self.text, count=1
            )
        if not refs.keys() & self.refs.keys():
            return
        self.text = REF_PATTERN.sub(lambda found: f"[{refs.get(found[1], found[1])}", self.text)
        self.refs = {refs.get(ref, ref): what for ref, what in self.refs.items()}
        self.options = {refs.get(ref, ref): texts for ref, texts in self.options.items()}
        self.values = {refs.get(ref, ref): value for ref, value in self.values.items()}
        self.unseen_refs = {refs.get(ref, ref) for ref in self.unseen_refs}

    def visible_text(self) -> str:
        """The text that the user can see."""
        text = "" if self.hidden or self.kind in ("options", "value") else self.text
        for part in self.unseen_text:
            text = text.replace(part, "")
        return text.strip()


_CONTROL = re.compile(rf"\[{REF} [^\[\]]*\]|\[{REF}:")  # for a link, only the start
_WORD_CHARACTER_RE = re.compile(r"\w")
_FIRST_WORDS_RE = re.compile(r"\S*[^\W\d_]\S*(?: \S+)?")  # the first word, and the one after it
_NUMBER = re.compile(r"\d+")
CONTEXT_LINES = 3  # before a line without words
MAX_COMPARED_LINES = 4_000
"""Maximum number of lines in two views together; comparing more takes too long."""


def match_refs(before: Sequence[PageLine], after: Sequence[PageLine]) -> dict[str, str]:
    """Match re-rendered or reloaded elements with the previous ones; maps new refs to old refs.

    The lines of both views are aligned by their text without refs. The elements of two aligned
    lines are the same if both lines have the same controls, by role and name, in the same order,
    and the same text around them: the `Remove` button of one row is not that of another row.
    """
    old_refs = {ref for line in before for ref in line.refs}
    new_refs = {ref for line in after for ref in line.refs}
    lost = old_refs - new_refs
    if not lost or not new_refs - old_refs or len(before) + len(after) > MAX_COMPARED_LINES:
        return {}
    views = _ComparedLines(before), _ComparedLines(after)
    matched: dict[str, str] = {}
    steps = SequenceMatcher(
        None, views[0].without_refs, views[1].without_refs, autojunk=False
    ).get_opcodes()
    for tag, i1, i2, j1, j2 in steps:
        if tag not in ("equal", "replace") or i2 - i1 != j2 - j1:
            continue
        for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
            old, new = before[i].refs, after[j].refs
            if list(old.values()) == list(new.values()) and _have_same_content(*views, i, j):
                pairs = zip(new, old, strict=True)
                matched |= {n: o for n, o in pairs if n not in old_refs and o in lost}
    return matched


class _ComparedLines:
    """A view's lines in two forms for comparison: without refs, and without controls."""

    def __init__(self, lines: Sequence[PageLine]) -> None:
        self.without_refs = [REF_PATTERN.sub("[", line.text) for line in lines]
        self.without_controls = [" ".join(_CONTROL.sub(" ", line.text).split()) for line in lines]
        self.counts = Counter(self.without_refs)
        names = (" ".join(what.partition(" ")[2] for what in line.refs.values()) for line in lines)
        self.has_named_controls = [any(map(str.isalpha, name)) for name in names]

    def context(self, at: int) -> str:
        """The text of the closest line above that contains words."""
        near = (
            self.without_controls[n] for n in range(at - 1, max(-1, at - 1 - CONTEXT_LINES), -1)
        )
        return next((text for text in near if _WORD_CHARACTER_RE.search(text)), "")


def _have_same_content(before: _ComparedLines, after: _ComparedLines, i: int, j: int) -> bool:
    """Whether two aligned lines are about the same thing; their numbers may differ."""
    old, new = before.without_controls[i], after.without_controls[j]
    if _WORD_CHARACTER_RE.search(old) or _WORD_CHARACTER_RE.search(new):
        begins = [
            found and found[0]
            for found in (_FIRST_WORDS_RE.search(old), _FIRST_WORDS_RE.search(new))
        ]
        if begins[0] != begins[1] or _NUMBER.sub("", old) != _NUMBER.sub("", new):
            return False
        if begins[0] is None and old != new:
            return False
    is_unique = before.counts[before.without_refs[i]] == 1 == after.counts[after.without_refs[j]]
    if is_unique and (_WORD_CHARACTER_RE.search(old) or before.has_named_controls[i]):
        return True
    # Controls without words, such as the days of a month, belong to the text above them.
    context = before.context(i)
    return context == after.context(j) and (is_unique or context != "")


def frame_line(entry: dict[str, Any]) -> PageLine:
    """Make the heading line of a frame, which precedes the frame's lines."""
    ref, name = entry["f"], str(entry["p"][0] or "")[:FRAME_NAME_SHOWN_CHARS]
    text = f"[{ref} frame: {name}, label only]" if name else f"[{ref} frame]"
    refs = {ref: f"frame {name}".strip()}
    return PageLine(text, "frame", entry["d"], name, refs, layer=entry.get("m", 0))


def lines_from_entry(entry: dict[str, Any], base_url: str) -> list[PageLine]:
    """Make the lines for one entry of the page script's output; long lines are split.

    Options and values that do not fit are put on separate lines below.
    """
    line = PageLine("", entry["k"], entry["d"], layer=entry.get("m", 0))
    if entry.get("g"):
        line.group = (str(entry["g"][0]), int(entry["g"][1]))
    pieces = entry["p"]
    if line.kind == "region":
        name = plain_text(pieces[0])[:NAME_SHOWN_CHARS]
        line.text = f"{entry['r']} {name}:" if name else f"{entry['r']}:"
        line.plain = f"{entry['r']} {name.removesuffix(LABEL_ONLY)}" if name else ""
        return [line]
    line.text, line.plain = _LineText(line, base_url).build(pieces)
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
        for start in range(OPTIONS_SHOWN, len(options), OPTIONS_PER_LINE):
            text = "; ".join(options[start : start + OPTIONS_PER_LINE])
            shown, name = f"options of {ref}: {text}", _name_of(line.refs[ref])
            plain = f"{name}, further options: {text}"
            yield PageLine(shown, "options", line.depth + 1, plain, hidden=True, layer=line.layer)
    for ref, value in line.values.items():
        for start in range(0, len(value), VALUE_CHARS_PER_LINE):
            text = value[start : start + VALUE_CHARS_PER_LINE]
            shown = f"value of {ref}: {text}"
            plain = text.strip()
            yield PageLine(shown, "value", line.depth + 1, plain, hidden=True, layer=line.layer)


def _name_of(described: str) -> str:
    """Return the name from a string such as `role name`; the role if there is no name."""
    return described.partition(" ")[2] or described


def _split_line(line: PageLine) -> list[PageLine]:
    """Split a long line at sentences and between controls, never inside a control."""
    text = line.text
    if len(text) <= LONG_LINE_CHARS or line.kind.startswith(_NEVER_SPLIT):
        return [line]
    parts: list[str] = []
    # The part's start, the number of open brackets, and the position of the last "[".
    start = depth = bracket = 0
    for at, char in enumerate(text):
        if char == "[":
            depth, bracket = depth + 1, at
        elif char == "]":
            depth = max(0, depth - 1)
        elif char == " " and at - start >= MIN_PART_CHARS:
            is_boundary = text[at - 1] in f"{SENTENCE_ENDS}]" or text[at + 1 : at + 2] == "["
            inside_control = depth and at - bracket < _MAX_BRACKET_CHARS
            if is_boundary and not inside_control:
                parts.append(text[start:at].strip())
                start, depth = at + 1, 0
    parts.append(text[start:].strip())
    lines = []
    for number, part in enumerate(parts):
        if part:
            refs = {ref: line.refs[ref] for ref in REF_PATTERN.findall(part) if ref in line.refs}
            kind = "p" if number else line.kind
            plain = "" if number else line.plain  # the text to cite may be longer than a line
            more = replace(line, text=part, kind=kind, plain=plain, refs=refs)
            more.is_continuation = bool(number)
            lines.append(more)
    return lines


_Text = tuple[str, str]
"""The text of part of a line, twice: as a snapshot shows it, with refs, and as it is cited."""


class _LineText:
    """Builds the text of one line from its pieces, and fills in the line's other fields.

    A piece is a string, or a dict with one of: `t` hidden text, `i` an image, `c` the border
    between two cells, `r` a control, `e` the end of a control that was `open`. `w` is the space
    before the piece, `x` the reason why it cannot be seen.
    """

    def __init__(self, line: PageLine, base_url: str) -> None:
        self._line = line
        self._base_url = base_url
        self._parts: list[_Text] = []
        self._open: list[tuple[int, Piece]] = []  # open controls, each with its index in `_parts`
        self._targets: list[str] = []  # of links with a name

    def build(self, pieces: list[str | Piece]) -> _Text:
        """Return the text of the line, with and without refs."""
        for piece in pieces:
            if isinstance(piece, str):
                self._parts.append((plain_text(piece),) * 2)
            elif "e" in piece:
                self._close_control(piece["e"])
            elif piece.get("open"):
                self._open.append((len(self._parts), piece))
                self._parts.append(("", ""))
            elif "c" in piece:
                self._parts.append((" | ",) * 2)
            else:
                self._append(piece, self._format(piece))
        for at, piece in self._open:  # the control's content continues on the next lines
            label = plain_text(piece.get("l", ""))
            space = piece.get("w") or ""
            shown, plain = self._format_control(piece, (label, label))
            self._parts[at] = f"{space}{shown} ", f"{space}{plain} "
        plain = self._join_parts(1)
        if plain and self._targets:
            plain += f" (→ {', '.join(dict.fromkeys(self._targets))})"
        return self._join_parts(0), plain

    def _join_parts(self, form: int) -> str:
        text = "".join(part[form] for part in self._parts)
        if "  " in text:
            text = " ".join(filter(None, text.split(" ")))
        text = text.strip().replace(_SPACE_PLACEHOLDER, " ")
        if self._line.kind in TABLE_KINDS:
            return f"| {text} |" if text.strip("| ") or self._line.kind == "board" else ""
        return text

    def _append(self, piece: Piece, text: _Text) -> None:
        space = piece.get("w") or ""
        # Controls side by side, such as menu items, are separate words; a link may
        # be part of a word.
        before = self._parts[-1][0] if self._parts else ""
        part_of_word = piece.get("k") == "link" and not before.endswith("]")
        apart = space if part_of_word and not text[1].startswith("(") else space or " "
        self._parts.append((space + text[0], apart + text[1]))

    def _format(self, piece: Piece) -> _Text:
        """Format hidden text, an image, or a control without content."""
        if "t" in piece:
            bare = plain_text(piece["t"])
            marked = f"({piece['x']}: {bare})"
            if piece["x"] == "covered":
                self._line.covered_parts.append((marked, bare))
                return marked, bare
            if piece["x"] in _NOT_VISIBLE_STATES:
                self._line.unseen_text.append(marked)
            return marked, marked
        if "i" in piece:
            return (f"({'' if piece.get('drawn') else 'image: '}{plain_text(piece['i'])})",) * 2
        name = plain_text(piece.get("n") or "")[:NAME_SHOWN_CHARS]
        if not name and piece.get("a"):
            looks = f"({plain_text(piece['a'])})"
            # For a field without a name, only the value is shown, as for a table cell.
            return self._format_control(piece, (looks, "" if piece.get("v") else looks))
        return self._format_control(piece, (name, name))

    def _close_control(self, ref: str) -> None:
        """Use the text collected since a control was opened as the control's name."""
        if not self._open or self._open[-1][1]["r"] != ref:
            return
        at, piece = self._open.pop()
        inside = self._join_control_parts(piece, at, 0), self._join_control_parts(piece, at, 1)
        label = plain_text(piece.get("l", ""))
        name = label or inside[0], label or inside[1]
        if label and inside[0]:
            has_caption = piece["k"] in _CAPTIONED_ROLES and any(map(str.isalpha, inside[0]))
            form = "{inside} (labelled: {label})" if has_caption else "{label} ({inside})"
            name = (
                form.format(inside=inside[0], label=label),
                form.format(inside=inside[1], label=label),
            )
        del self._parts[at:]
        self._append(piece, self._format_control(piece, name))

    def _join_control_parts(self, piece: Piece, at: int, form: int) -> str:
        """Join the parts of a control, starting from `at`."""
        # The control is marked as hidden, so its text need not be marked as well.
        inside = "".join(part[form] for part in self._parts[at + 1 :]).strip()
        mark = f"({piece.get('x')}: "
        if inside.startswith(mark) and inside.endswith(")") and inside.count(mark) == 1:
            inside = inside[len(mark) : -1]
        return inside

    def _format_control(self, piece: Piece, name: _Text) -> _Text:
        """Format a control as `[e8 button: Save, disabled]`: ref, role, name, value, states.

        Without the ref, this is `Save (button, disabled)`, and a field's value follows its name.
        """
        line, ref, role = self._line, piece["r"], piece["k"] or "clickable"
        line.refs[ref] = f"{role} {name[0]}".strip().replace(_SPACE_PLACEHOLDER, " ")
        hidden = piece.get("x")
        if hidden in _NOT_VISIBLE_STATES:
            line.unseen_refs.add(ref)
        elif hidden:
            line.covered_parts += ((f", {hidden}", ""), (f": {hidden}]", "]"))
        value = self._value(ref, plain_text(piece["v"])) if piece.get("v") else ""
        value = value.replace("  ", _SPACE_PLACEHOLDER * 2)
        facts = f" = {value}" if value else ""
        said = "" if piece.get("a") else name[0]
        target = _link_target(piece["u"], said, self._base_url) if piece.get("u") else ""
        facts += target
        states = list(piece.get("s", ()))
        for state in states:
            facts += f", {state}"
        if hidden:
            facts += f", {hidden}"
        options = self._options(ref, piece["o"]) if piece.get("o") else ""
        facts += f", {options}" if options else ""
        if target and _is_weak_name(name[1]):
            states.append(target.strip())
        elif target:
            self._targets.append(target.strip(" →"))
        plain = _plain_control(role, name[1], value, states)
        if hidden and hidden != "covered":
            plain = f"({hidden}: {plain})"
        if options:
            plain += f" ({options})"
        head = ref if role == "link" else f"{ref} {role}"
        # `[e3 textbox = text]` or `[e3 textbox: Name = text]`: there is a colon only with a name.
        if not name[0] and facts.startswith(" = "):
            return f"[{head}{facts}]", plain
        body = f"{name[0]}{facts}" if name[0] else facts.lstrip(", ")
        return (f"[{head}: {body}]" if body else f"[{head}]"), plain

    def _options(self, ref: str, options: list[str]) -> str:
        """List the first options of a select; the others are put on separate lines."""
        listed = self._line.options[ref] = tuple(map(plain_text, options))
        more = f" +{len(listed) - OPTIONS_SHOWN}" if len(listed) > OPTIONS_SHOWN else ""
        shown = "; ".join(option[:OPTION_SHOWN_CHARS] for option in listed[:OPTIONS_SHOWN])
        return f"options: {shown}{more}"

    def _value(self, ref: str, value: str) -> str:
        """Shorten a long value to its two ends; the full value is then put on separate lines."""
        if len(value) <= VALUE_SHOWN_CHARS:
            return value
        self._line.values[ref] = value
        return f"{value[:VALUE_HEAD_CHARS]} … {value[-VALUE_TAIL_CHARS:]} ({len(value)} characters)"


def _plain_control(role: str, name: str, value: str, states: list[str]) -> str:
    """Format a control without its ref: `Posts per page: 9 (required)`, `Save (button, disabled)`.

    For a link, this is only the name, as a link is part of a sentence.
    """
    facts = [state for state in states if state not in _NON_CONTENT_STATES]
    if role in _CHECKABLE_ROLES and "checked" not in facts and "mixed" not in facts:
        facts.insert(0, "not checked")
    if not value and role not in _UNNAMED_ROLES:
        facts.insert(0, role)
    text = ": ".join(part for part in (name.rstrip(" :"), value) if part)
    return f"{text} ({', '.join(facts)})".strip() if facts else text


def _is_weak_name(name: str) -> bool:
    """Whether a link's name does not say where the link leads."""
    return len(name) <= 2 or name.casefold().strip(" .…»→") in _WEAK_NAMES


@functools.lru_cache(maxsize=64)
def _own_prefix(base_url: str) -> str:
    """The prefix of addresses on a page's own origin."""
    return f"{origin(base_url)}/"


def _link_target(url: str, name: str, base_url: str) -> str:
    """Format a link's target if it leads to another site, or if the link has no text."""
    if url == "#" or (url.startswith(_own_prefix(base_url)) and not _is_weak_name(name)):
        return ""
    split = urlsplit(url)
    if split.netloc and not same_site(url, base_url):
        return f" → {split.netloc.removeprefix('www.')}"
    if not _is_weak_name(name):
        return ""
    last = split.path.rstrip("/").rsplit("/", 1)[-1] or "/"
    query = f"?{split.query}" if split.query else ""
    return f" → {plain_text(last + query)[:LINK_TARGET_SHOWN_CHARS]}"
