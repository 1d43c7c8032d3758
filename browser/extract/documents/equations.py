"""Equations of Office documents (OMML, ISO/IEC 29500-1 §22.1) as linear TeX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml import etree

M: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
# Signs of sums and accents that TeX writes as commands; all other letters stay as they are.
_SUMS = {"∑": r"\sum", "∏": r"\prod", "∫": r"\int", "∬": r"\iint", "∮": r"\oint", "⋃": r"\bigcup"}
_ACCENTS = {
    "\u0302": r"\hat", "\u0303": r"\tilde", "\u0304": r"\bar", "\u0305": r"\overline",
    "\u0307": r"\dot", "\u0308": r"\ddot", "\u20d7": r"\vec",
}  # fmt: skip


def tex(element: etree._Element) -> str:
    """Give an `m:oMath`, or any part of one, as TeX; structures without a form keep their text."""
    return "".join(_pieces(element))


def _pieces(element: etree._Element) -> Iterator[str]:
    for node in element:
        if isinstance(node.tag, str) and node.tag.endswith("}t"):
            yield node.text or ""
        elif isinstance(node.tag, str) and not node.tag.endswith("Pr"):
            yield _structure(node)


def _structure(node: etree._Element) -> str:  # noqa: PLR0911 - one form a structure
    match node.tag.removeprefix(M):
        case "f":
            over, under = _part(node, "num"), _part(node, "den")
            return f"({over})/({under})" if _value(node, "type") == "lin" else _frac(over, under)
        case "sSup" | "sSub" | "sSubSup" | "sPre":
            scripts = _script("_", _part(node, "sub")) + _script("^", _part(node, "sup"))
            base = _part(node, "e")
            return f"{{}}{scripts}{base}" if node.tag == f"{M}sPre" else f"{base}{scripts}"
        case "rad":
            degree = _part(node, "deg")
            return rf"\sqrt{f'[{degree}]' if degree else ''}{{{_part(node, 'e')}}}"
        case "nary":
            sign = _value(node, "chr", "∫")
            limits = _script("_", _part(node, "sub")) + _script("^", _part(node, "sup"))
            return f"{_SUMS.get(sign, sign)}{limits} {_part(node, 'e')}"
        case "d":
            inner = _value(node, "sepChr", "|").join(tex(e) for e in node.findall(f"{M}e"))
            return f"{_value(node, 'begChr', '(')}{inner}{_value(node, 'endChr', ')')}"
        case "func":
            return f"{_part(node, 'fName')} {_part(node, 'e')}"
        case "limLow" | "limUpp":
            mark = "_" if node.tag == f"{M}limLow" else "^"
            return _part(node, "e") + _script(mark, _part(node, "lim"))
        case "acc" | "bar":
            sign = _value(node, "chr", "\u0302" if node.tag == f"{M}acc" else "\u0305")
            return f"{_ACCENTS.get(sign, sign)}{{{_part(node, 'e')}}}"
        case "m" | "eqArr":
            rows = node.findall(f"{M}mr") or node.findall(f"{M}e")
            cells = (" & ".join(map(tex, row.findall(f"{M}e"))) or tex(row) for row in rows)
            body = r" \\ ".join(cells)
            return rf"\begin{{matrix}}{body}\end{{matrix}}"
    return tex(node)


def _frac(over: str, under: str) -> str:
    return rf"\frac{{{over}}}{{{under}}}"


def _part(node: etree._Element, name: str) -> str:
    part = node.find(f"{M}{name}")
    return tex(part).strip() if part is not None else ""


def _script(mark: str, text: str) -> str:
    return f"{mark}{{{text}}}" if len(text) > 1 else f"{mark}{text}" if text else ""


def _value(node: etree._Element, name: str, default: str = "") -> str:
    """The value of a property; one that is there without a value is an empty sign."""
    found = node.find(f"{M}{node.tag.removeprefix(M)}Pr/{M}{name}")
    return default if found is None else found.get(f"{M}val", "")
