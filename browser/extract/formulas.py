"""Formulas as TeX, or as one line of plain text, from MathML, KaTeX, MathJax and pictures of them.

TeX stands beside a formula where nobody sees it, so it is believed only where it says what is
drawn: letters and digits of the TeX are those of the formula on the page.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml import etree

_TEX = "application/x-tex"
_DRAWN_IN = frozenset(("katex", "MathJax"))
_PICTURED_IN = ("math", "latex", "tex")
_ANNOTATIONS = ("annotation", "annotation-xml")
# What TeX writes and nobody sees: `\name`, with the name of an environment.
_COMMAND = re.compile(r"\\(?:(?:begin|end)\{[^}]*\}?|[^\W\d_]*)")
# MathML elements of so many parts, as one line.
_ONE_LINE = {
    ("msup", 2): "{}^{}", ("msub", 2): "{}_{}", ("mover", 2): "{}^{}", ("munder", 2): "{}_{}",
    ("mfrac", 2): "{}/{}", ("msubsup", 3): "{}_{}^{}", ("munderover", 3): "{}_{}^{}",
}  # fmt: skip
# So much of the TeX may be no part of what is drawn: names of environments, spacing.
_UNDRAWN = 0.2
_LONGEST = 4_000
_DEEPEST = 60


def formula_of(node: etree._Element) -> str | None:
    """The formula that an element is or wraps, with spaces around; None of any other element."""
    classes = (node.get("class") or "").split()
    if node.tag == "img":
        alt = node.get("alt") or ""
        named = any(word in name.lower() for name in classes for word in _PICTURED_IN)
        return f" {_tidy(alt)[:_LONGEST]} " if named and alt else None
    math = node if node.tag == "math" else None
    if node.tag == "mjx-container" or not _DRAWN_IN.isdisjoint(classes):
        math = next(node.iter("math"), None)
    if math is None:
        return None
    shown = _shown(math)
    inside = set(math.iter())
    drawn = "".join(part.text or "" for part in node.iter() if part not in inside) or shown
    tex = next((e.text or "" for e in math.iter("annotation") if e.get("encoding") == _TEX), "")
    for said in (_tidy(tex), _tidy(math.get("alttext") or "")):
        signs = _signs(_COMMAND.sub(" ", said))
        if said and (signs - _signs(drawn)).total() <= max(2, _UNDRAWN * signs.total()):
            return f" {said[:_LONGEST]} "
    return f" {' '.join(_line(math, _DEEPEST).split())[:_LONGEST]} "


def draws(hidden: etree._Element) -> bool:
    """Whether an element out of sight is the MathML of what its neighbour draws."""
    parent = hidden.getparent()
    math = next(hidden.iter("math"), None)
    if parent is None or math is None:
        return False
    others = (other.itertext() for other in parent if other is not hidden)
    beside = _signs("".join(str(text) for texts in others for text in texts))
    return bool(beside) and beside == _signs(_shown(math))


def _tidy(tex: str) -> str:
    text = " ".join(tex.split())
    inner = text.removeprefix("{\\displaystyle ")
    return text if inner == text else inner.removesuffix("}").strip()


def _shown(math: etree._Element) -> str:
    """The signs that MathML draws, without its annotations."""
    return "".join(
        e.text or ""
        for e in math.iter()
        if e.tag not in _ANNOTATIONS and not any(e.iterancestors(*_ANNOTATIONS))
    )


def _signs(text: str) -> Counter[str]:
    return Counter(filter(str.isalnum, text))


def _line(node: etree._Element, deepest: int) -> str:
    """MathML in one line: `a^2`, `(x + 1)/2`, `√(y)`."""
    tag = node.tag.rpartition("}")[2] if isinstance(node.tag, str) else ""
    if tag in _ANNOTATIONS or not tag or deepest == 0:
        return ""
    parts = [_line(child, deepest - 1) for child in node]
    if not parts:
        text = (node.text or "").strip()
        return f" {text} " if tag == "mo" else text
    if form := _ONE_LINE.get((tag, len(parts))):
        texts = map(str.strip, parts)
        return form.format(*(t if t.isalnum() or len(t) <= 1 else f"({t})" for t in texts))
    return f"√({''.join(parts).strip()})" if tag == "msqrt" else "".join(parts)
