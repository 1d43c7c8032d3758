"""Formulas as TeX or as one line of plain text, from MathML, KaTeX, MathJax and images.

The TeX that accompanies a formula is invisible, so it is used only if it matches what the user
sees: nearly all of its letters and digits must be in the formula on the page.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from browser.extract.tree import raw_text

if TYPE_CHECKING:
    from lxml import etree

_TEX_TYPE = "application/x-tex"
_FORMULA_CLASSES = frozenset(("katex", "MathJax"))
_IMAGE_CLASSES = ("math", "latex", "tex")
_ANNOTATIONS = ("annotation", "annotation-xml")
# Parts of TeX that are not displayed: commands (`\name`) and the names of environments.
_TEX_COMMAND = re.compile(r"\\(?:(?:begin|end)\{[^}]*\}?|[^\W\d_]*)")
# The one-line forms of MathML elements, by tag and number of parts.
_ONE_LINE_FORMS = {
    ("msup", 2): "{}^{}", ("msub", 2): "{}_{}", ("mover", 2): "{}^{}", ("munder", 2): "{}_{}",
    ("mfrac", 2): "{}/{}", ("msubsup", 3): "{}_{}^{}", ("munderover", 3): "{}_{}^{}",
}  # fmt: skip
# Up to this share of the TeX's letters, such as those for spacing, may be missing from the
# displayed formula.
_INVISIBLE_SHARE = 0.2
_MAX_FORMULA_CHARS = 4_000
_MAX_DEPTH = 60


def formula_of(node: etree._Element) -> str | None:
    """Return the formula in an element, surrounded by spaces; None if there is none."""
    classes = (node.get("class") or "").split()
    if node.tag == "span" and not classes:
        return None
    if node.tag == "img":
        alt = node.get("alt") or ""
        named = any(word in name.lower() for name in classes for word in _IMAGE_CLASSES)
        return f" {_clean_tex(alt)[:_MAX_FORMULA_CHARS]} " if named and alt else None
    math = node if node.tag == "math" else None
    if node.tag == "mjx-container" or not _FORMULA_CLASSES.isdisjoint(classes):
        math = next(node.iter("math"), None)
    if math is None:
        return None
    shown = _visible_signs(math)
    inside = set(math.iter())
    drawn = "".join(part.text or "" for part in node.iter() if part not in inside) or shown
    tex = next(
        (e.text or "" for e in math.iter("annotation") if e.get("encoding") == _TEX_TYPE), ""
    )
    for source in (_clean_tex(tex), _clean_tex(math.get("alttext") or "")):
        signs = _signs(_TEX_COMMAND.sub(" ", source))
        undrawn = (signs - _signs(drawn)).total()
        if source and undrawn <= max(2, _INVISIBLE_SHARE * signs.total()):
            return f" {source[:_MAX_FORMULA_CHARS]} "
    return f" {' '.join(_line(math, _MAX_DEPTH).split())[:_MAX_FORMULA_CHARS]} "


def is_formula_source(hidden: etree._Element) -> bool:
    """Whether a hidden element is the MathML of the formula that its siblings display."""
    parent = hidden.getparent()
    math = next(hidden.iter("math"), None)
    if parent is None or math is None:
        return False
    drawn = _signs("".join(raw_text(other) for other in parent if other is not hidden))
    return bool(drawn) and drawn == _signs(_visible_signs(math))


def _clean_tex(tex: str) -> str:
    text = " ".join(tex.split())
    inner = text.removeprefix("{\\displaystyle ")
    return text if inner == text else inner.removesuffix("}").strip()


def _visible_signs(math: etree._Element) -> str:
    """The text of MathML, without its annotations."""
    return "".join(
        e.text or ""
        for e in math.iter()
        if e.tag not in _ANNOTATIONS and not any(e.iterancestors(*_ANNOTATIONS))
    )


def _signs(text: str) -> Counter[str]:
    return Counter(filter(str.isalnum, text))


def _line(node: etree._Element, deepest: int) -> str:
    """Write MathML on one line: `a^2`, `(x + 1)/2`, `√(y)`."""
    tag = node.tag.rpartition("}")[2] if isinstance(node.tag, str) else ""
    if tag in _ANNOTATIONS or not tag or deepest == 0:
        return ""
    parts = [_line(child, deepest - 1) for child in node]
    if not parts:
        text = (node.text or "").strip()
        return f" {text} " if tag == "mo" else text
    if form := _ONE_LINE_FORMS.get((tag, len(parts))):
        texts = map(str.strip, parts)
        return form.format(*(t if t.isalnum() or len(t) <= 1 else f"({t})" for t in texts))
    return f"√({''.join(parts).strip()})" if tag == "msqrt" else "".join(parts)
