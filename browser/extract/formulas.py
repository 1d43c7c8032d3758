"""Formulas as TeX, or as one line of plain text, from MathML, KaTeX, MathJax and pictures of them.

TeX stands beside a formula where nobody sees it, so it is believed only where it says what is
drawn: letters and digits of the TeX are those of the formula on the page.
"""

from __future__ import annotations

from collections import Counter
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lxml import etree

_TEX = "application/x-tex"
_DRAWN_IN = frozenset(("katex", "MathJax"))
_PICTURED_IN = ("math", "latex", "tex")
# Operators of one line for MathML elements of two parts.
_BETWEEN = {"msup": "^", "msub": "_", "mover": "^", "munder": "_", "mfrac": "/"}
# So much of the TeX may be no part of what is drawn: names of environments, spacing.
_UNDRAWN = 0.2
_LONGEST = 4_000
_DEEPEST = 60


def formula_of(node: etree._Element) -> str | None:
    """The formula that an element is or wraps, with spaces around; None of any other element."""
    names = (node.get("class") or "").split()
    if node.tag == "math":
        return f" {_from_math(node, '')} "
    if node.tag == "img":
        alt = node.get("alt") or ""
        named = any(word in name.lower() for name in names for word in _PICTURED_IN)
        return f" {_tidy(alt)[:_LONGEST]} " if named and alt else None
    if node.tag == "mjx-container" or not _DRAWN_IN.isdisjoint(names):
        math = next(node.iter("math"), None)
        if math is not None:
            apart = {id(part) for part in (math, *math.iterdescendants())}
            drawn = (part.text or "" for part in node.iter() if id(part) not in apart)
            return f" {_from_math(math, ''.join(drawn))} "
    return None


def draws(hidden: etree._Element) -> bool:
    """Whether an element out of sight is the MathML of what its neighbour draws."""
    parent = hidden.getparent()
    math = next(hidden.iter("math"), None)
    if parent is None or math is None:
        return False
    others = (other.itertext() for other in parent if other is not hidden)
    beside = Counter(_signs("".join(str(text) for texts in others for text in texts)))
    return bool(beside) and beside == Counter(_signs(_shown(math)))


def _from_math(math: etree._Element, drawn: str) -> str:
    shown = _shown(math)
    tex = next((e.text or "" for e in math.iter("annotation") if e.get("encoding") == _TEX), "")
    for said in (tex, math.get("alttext") or ""):
        tidy = _tidy(said)
        letters = Counter(_signs(_without_commands(tidy)))
        undrawn = letters - Counter(_signs(drawn or shown))
        if tidy and undrawn.total() <= max(2, _UNDRAWN * letters.total()):
            return tidy[:_LONGEST]
    return " ".join(_line(math, _DEEPEST).split())[:_LONGEST]


def _tidy(tex: str) -> str:
    text = " ".join(tex.split())
    inner = text.removeprefix("{\\displaystyle ")
    return text if inner == text else inner.removesuffix("}").strip()


def _shown(math: etree._Element) -> str:
    """The signs that MathML draws, without its annotations."""
    inside = (e for e in math.iter() if not any(e.iterancestors("annotation", "annotation-xml")))
    return "".join(e.text or "" for e in inside if e.tag not in {"annotation", "annotation-xml"})


def _signs(text: str) -> Iterable[str]:
    return filter(str.isalnum, text)


def _without_commands(tex: str) -> str:
    r"""TeX without `\name`, and without the names of environments and fonts."""
    first, *rest = tex.split("\\")
    kept = [first]
    for part in rest:
        name = "".join(takewhile(str.isalpha, part))
        after = part[len(name) :]
        if name in {"begin", "end", "operatorname", "mathrm"} and after.startswith("{"):
            after = after.partition("}")[2] if name in {"begin", "end"} else after
        kept.append(after)
    return " ".join(kept)


def _line(node: etree._Element, deepest: int) -> str:
    """MathML in one line: `a^2`, `(x + 1)/2`, `√(y)`."""
    tag = node.tag.rpartition("}")[2] if isinstance(node.tag, str) else ""
    if tag in {"annotation", "annotation-xml", ""} or deepest == 0:
        return ""
    parts = [_line(child, deepest - 1) for child in node]
    if not parts:
        return f" {(node.text or '').strip()} " if tag == "mo" else (node.text or "").strip()
    if tag in _BETWEEN and len(parts) == 2:
        return f"{_grouped(parts[0])}{_BETWEEN[tag]}{_grouped(parts[1])}"
    if tag in {"msubsup", "munderover"} and len(parts) == 3:
        return f"{_grouped(parts[0])}_{_grouped(parts[1])}^{_grouped(parts[2])}"
    if tag == "msqrt":
        return f"√({''.join(parts).strip()})"
    return "".join(parts)


def _grouped(part: str) -> str:
    text = part.strip()
    return text if text.isalnum() or len(text) <= 1 else f"({text})"
