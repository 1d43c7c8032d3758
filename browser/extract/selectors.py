"""CSS selectors over an lxml tree: tags, classes, ids, attributes; descendant, child, adjacent."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml import etree

_COMPOUND = re.compile(
    r"""(?P<tag>\*|[\w-]+)?(?P<rest>(?:[#.][\w-]+|\[[\w-]+(?:[~|^$*]?=(?:"[^"]*"|'[^']*'|[\w-]+))?\])*)$"""
)
_PART = re.compile(
    r"""(?P<mark>[#.])(?P<name>[\w-]+)|\[(?P<attr>[\w-]+)(?:(?P<op>[~|^$*]?=)(?P<value>"[^"]*"|'[^']*'|[\w-]+))?\]"""
)
# Selectors are written by hand or by tools, four or five compounds long at most.
_MOST_STEPS = 21
# What is longer was not written to be matched; most come again on the next page of a site.
_LONGEST_KEPT = 1_000
_STEP = re.compile(r"\s*([>+~])\s*|\s+")


@dataclass(frozen=True, slots=True)
class Compound:
    """`tag#id.class[attr=value]`; an empty tag matches all."""

    tag: str
    ids: tuple[str, ...]
    classes: tuple[str, ...]
    attributes: tuple[tuple[str, str, str], ...]

    def matches(self, element: etree._Element) -> bool:
        """Whether the element itself fits."""
        if self.tag and element.tag != self.tag:
            return False
        if self.ids and any(element.get("id") != name for name in self.ids):
            return False
        if self.classes:
            names = (element.get("class") or "").split()
            if any(name not in names for name in self.classes):
                return False
        return all(_has(element, *attribute) for attribute in self.attributes)


@dataclass(frozen=True, slots=True)
class Selector:
    """Compounds from right to left, each but the first with the combinator on its right.

    `own` is what the subject must carry of tags, `.class` and `#id` names, `needs` what its
    ancestors must: sets by which most elements drop out.
    """

    subject: Compound
    context: tuple[tuple[str, Compound], ...]
    specificity: tuple[int, int, int]
    own: frozenset[str]
    needs: frozenset[str]

    @property
    def key(self) -> str:
        """The rarest thing an element must have for the subject to match: for an index of rules."""
        return next(iter(_names(self.subject)), "*")

    def matches(self, element: etree._Element) -> bool:
        """Whether the selector matches an element that carries `own`."""
        return all(_has(element, *a) for a in self.subject.attributes) and (
            not self.context or _context_holds(element, self.context)
        )


def compile_selector(text: str) -> Selector | None:
    """Compile one selector; None for pseudo-classes, pseudo-elements and what is not understood."""
    return _compiled(text) if len(text) <= _LONGEST_KEPT else None


@lru_cache(maxsize=8_192)
def _compiled(text: str) -> Selector | None:
    steps = _STEP.split(text.strip())
    if "~" in steps or len(steps) > _MOST_STEPS:
        return None
    compounds = [_compound(part) for part in steps[::2]]
    if not compounds or any(compound is None for compound in compounds):
        return None
    known = [compound for compound in compounds if compound is not None]
    combinators = [mark or " " for mark in steps[1::2]]
    context = tuple(zip(reversed(combinators), reversed(known[:-1]), strict=True))
    specificity = (
        sum(len(c.ids) for c in known),
        sum(len(c.classes) + len(c.attributes) for c in known),
        sum(bool(c.tag) for c in known),
    )
    own = frozenset(_names(known[-1]))
    return Selector(known[-1], context, specificity, own, _needs(context))


def _compound(text: str) -> Compound | None:
    match = _COMPOUND.match(text) if text else None
    if match is None:
        return None
    ids: list[str] = []
    classes: list[str] = []
    attributes: list[tuple[str, str, str]] = []
    for part in _PART.finditer(match["rest"]):
        if part["mark"]:
            (ids if part["mark"] == "#" else classes).append(part["name"])
        else:
            value = (part["value"] or "").strip("\"'")
            attributes.append((part["attr"].lower(), part["op"] or "", value))
    tag = (match["tag"] or "").lower().replace("*", "")
    return Compound(tag, tuple(ids), tuple(classes), tuple(attributes))


def _names(compound: Compound) -> list[str]:
    """What an element must carry to fit: `#id`, `.class` and tag, the rarest first."""
    names = [f"#{name}" for name in compound.ids] + [f".{name}" for name in compound.classes]
    return [*names, compound.tag] if compound.tag else names


def _needs(context: tuple[tuple[str, Compound], ...]) -> frozenset[str]:
    """What the ancestors of the subject must carry between them, by which most rules drop out."""
    names: list[str] = []
    for combinator, compound in context:
        if combinator not in " >":
            break
        names.extend(_names(compound))
    return frozenset(names)


def _context_holds(element: etree._Element, context: tuple[tuple[str, Compound], ...]) -> bool:
    """Follow the combinators by sets of candidates: no backtracking that a page could blow up."""
    found = [element]
    for combinator, compound in context:
        # Ancestors of the deepest candidate, which comes first, are those of all the others too.
        nodes = found[:1] if combinator == " " else found
        found = [o for node in nodes for o in _related(node, combinator) if compound.matches(o)]
        if not found:
            return False
    return True


def _related(element: etree._Element, combinator: str) -> Iterator[etree._Element]:
    if combinator == " ":
        yield from element.iterancestors()
        return
    other = element.getparent() if combinator == ">" else element.getprevious()
    if other is not None:
        yield other


def _has(element: etree._Element, name: str, operator: str, value: str) -> bool:
    actual = element.get(name)
    if actual is None:
        return False
    checks = {
        "": True,
        "=": actual == value,
        "~=": value in actual.split(),
        "|=": actual == value or actual.startswith(f"{value}-"),
        "^=": bool(value) and actual.startswith(value),
        "$=": bool(value) and actual.endswith(value),
        "*=": bool(value) and value in actual,
    }
    return checks[operator]
