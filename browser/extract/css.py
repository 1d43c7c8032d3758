"""The page's own style sheets, as far as static reading goes: selectors, rules, media, cascade.

Selectors are tags, classes, ids and attributes; descendant, child and adjacent. tinycss2 with
cssselect2 takes 45 ms a page for the 8 of this.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
_LONGEST_SELECTOR = 1_000
_STEP = re.compile(r"\s*([>+~])\s*|\s+")


@dataclass(frozen=True, slots=True)
class Compound:
    """`tag#id.class[attr=value]`: `#id` and `.class` names and tag, the rarest first, or none."""

    names: tuple[str, ...]
    attributes: tuple[tuple[str, str, str], ...]

    def matches(self, element: etree._Element) -> bool:
        """Whether the element itself fits."""
        carried = _keys(element)
        return all(name in carried for name in self.names) and self.has_attributes(element)

    def has_attributes(self, element: etree._Element) -> bool:
        """Whether an element has the attributes that are asked for."""
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
        return next(iter(self.subject.names), "*")

    def matches(self, element: etree._Element) -> bool:
        """Whether the selector matches an element that carries `own`."""
        return self.subject.has_attributes(element) and _context_holds(element, self.context)


def compile_selector(text: str) -> Selector | None:
    """Compile one selector; None for pseudo-classes, pseudo-elements and what is not understood."""
    return _compiled(text) if len(text) <= _LONGEST_SELECTOR else None


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
    kinds = Counter(name[0] if name[0] in "#." else "" for c in known for name in c.names)
    attributes = sum(len(c.attributes) for c in known)
    specificity = (kinds["#"], kinds["."] + attributes, kinds[""])
    return Selector(known[-1], context, specificity, frozenset(known[-1].names), _needs(context))


def _compound(text: str) -> Compound | None:
    match = _COMPOUND.match(text) if text else None
    if match is None:
        return None
    names: dict[str, list[str]] = {"#": [], ".": []}
    attributes: list[tuple[str, str, str]] = []
    for part in _PART.finditer(match["rest"]):
        if part["mark"]:
            names[part["mark"]].append(part["mark"] + part["name"])
        else:
            value = (part["value"] or "").strip("\"'")
            attributes.append((part["attr"].lower(), part["op"] or "", value))
    tag = (match["tag"] or "").lower().replace("*", "")
    return Compound((*names["#"], *names["."], *([tag] if tag else [])), tuple(attributes))


def _needs(context: tuple[tuple[str, Compound], ...]) -> frozenset[str]:
    """What the ancestors of the subject must carry between them, by which most rules drop out."""
    names: list[str] = []
    for combinator, compound in context:
        if combinator not in " >":
            break
        names.extend(compound.names)
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


Declarations = dict[str, str]

# Properties that can make text invisible, or visible again.
_WATCHED = frozenset(
    """display visibility opacity font-size font color background background-color text-indent
    position left right top bottom margin-left margin-top transform clip clip-path overflow
    overflow-x overflow-y width height max-width max-height filter content-visibility
    scale translate zoom mask mask-image -webkit-text-fill-color background-clip
    -webkit-background-clip background-image inset inset-inline-start inset-block-start block-size
    max-block-size""".split()
)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_ESCAPE = re.compile(r"\\([0-9a-f]{1,6})\s?", re.IGNORECASE)
_NAME = re.compile(r"[.#][A-Za-z_-][\w-]*")
_WIDTH = re.compile(r"\((min|max)-width:\s*([\d.]+)(px|em|rem)\)")
_LAST_CHARACTER = 0x10FFFF
# A desktop window, in CSS pixels; 16 of them are an em.
_VIEWPORT = 1280.0
_EM = 16.0
# Style elements beyond this are generated; their rules are not worth the time.
_LONGEST_SHEET = 600_000
# Declarations up to this length come again, on the page and on the next one of its site.
_LONGEST_KEPT = 400
# Rules tried on elements, all told: a large page takes 100,000, a hostile one has no end.
_MOST_MATCHES = 2_000_000


@dataclass(frozen=True, slots=True)
class Rule:
    """One selector of a rule, with what of its declarations matters, by importance."""

    selector: Selector
    normal: Declarations
    important: Declarations
    order: int


def parse_declarations(style: str) -> tuple[Declarations, Declarations]:
    """Read `a: b; c: d !important` into watched normal and important declarations, lower-case.

    What is given back may be given again: it is not to be changed.
    """
    return _declared(style) if len(style) <= _LONGEST_KEPT else _declared.__wrapped__(style)


@lru_cache(maxsize=8_192)
def _declared(style: str) -> tuple[Declarations, Declarations]:
    normal: Declarations = {}
    important: Declarations = {}
    if "/*" in style:
        style = _COMMENT.sub("", style)
    if "\\" in style:
        style = _ESCAPE.sub(lambda match: chr(min(int(match[1], 16), _LAST_CHARACTER)), style)
    for part in style.split(";"):
        name, colon, value = part.partition(":")
        key = name.strip().lower()
        if not colon or key not in _WATCHED:
            continue
        text, bang, _ = value.strip().lower().partition("!")
        (important if bang else normal)[key] = text.strip()
    return normal, important


def parse_sheet(text: str, names: frozenset[str], start: int = 0) -> list[Rule]:
    """Read the rules that apply on a desktop screen to a page with these `.class` and `#id` names.

    What is not understood is skipped.
    """
    rules: list[Rule] = []
    for prelude, block in _top_level(_COMMENT.sub("", text[:_LONGEST_SHEET])):
        if prelude.startswith("@"):
            if _applies(prelude):
                rules.extend(parse_sheet(block, names, start + len(rules)))
            continue
        parts = [part for part in prelude.split(",") if names.issuperset(_NAME.findall(part))]
        normal, important = parse_declarations(block) if parts else ({}, {})
        if not normal and not important:
            continue
        for part in parts:
            if selector := compile_selector(part.strip()):
                rules.append(Rule(selector, normal, important, start + len(rules)))
    return rules


class Cascade:
    """Which declarations an element gets from the page's own style sheets and its attributes."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._by_key: dict[str, list[Rule]] = {}
        for rule in rules:
            self._by_key.setdefault(rule.selector.key, []).append(rule)
        self._known: dict[etree._Element, Declarations] = {}
        self._left = _MOST_MATCHES
        self._lines: dict[etree._Element, frozenset[str]] = {}

    def rules_for(self, element: etree._Element) -> Iterator[Rule]:
        """The rules whose selector matches."""
        keys = _keys(element)
        tried = [rule for key in keys if key in self._by_key for rule in self._by_key[key]]
        if not tried:
            return
        self._left -= len(tried)
        carried = frozenset(keys)
        rules = [rule for rule in tried if rule.selector.own <= carried]
        if rules and self._left > 0:
            line = self._line(element)
            for rule in rules:
                if rule.selector.needs <= line and rule.selector.matches(element):
                    yield rule

    def declared(self, element: etree._Element) -> Declarations:
        """What is declared for an element: the strongest declaration of each property."""
        known = self._known.get(element)
        if known is None:
            known = self._known[element] = self._merge(element)
        return known

    def _line(self, element: etree._Element) -> frozenset[str]:
        """What the element's ancestors carry: tags, `.class` and `#id` names."""
        line: frozenset[str] = frozenset()
        missing = []
        for ancestor in element.iterancestors():
            if ancestor in self._lines:
                line = self._lines[ancestor]
                break
            missing.append(ancestor)
        for ancestor in reversed(missing):
            line = self._lines[ancestor] = line.union(_keys(ancestor))
        return line

    def _merge(self, element: etree._Element) -> Declarations:
        matching = sorted(
            self.rules_for(element), key=lambda rule: (rule.selector.specificity, rule.order)
        )
        merged = _attributes(element)
        normal, important = parse_declarations(element.get("style") or "")
        for rule in matching:
            merged.update(rule.normal)
        merged.update(normal)
        for rule in matching:
            merged.update(rule.important)
        merged.update(important)
        return merged


def _keys(element: etree._Element) -> list[str]:
    keys = ["*", element.tag]
    if name := element.get("id"):
        keys.append(f"#{name}")
    if names := element.get("class"):
        keys += [f".{name}" for name in names.split()]
    return keys


def _attributes(element: etree._Element) -> Declarations:
    declared: Declarations = {}
    color = element.get("color") if element.tag == "font" else element.get("text")
    if color:
        declared["color"] = color.lower()
    if background := element.get("bgcolor"):
        declared["background-color"] = background.lower()
    return declared


def _top_level(text: str) -> Iterator[tuple[str, str]]:
    """Cut a sheet into (prelude, block) pairs; nested blocks stay whole."""
    position = 0
    while (opening := text.find("{", position)) >= 0:
        prelude = text[position:opening].rpartition(";")[2].strip()
        end = _closing(text, opening)
        yield prelude, text[opening + 1 : end]
        position = end + 1


def _closing(text: str, opening: int) -> int:
    depth, position = 1, opening + 1
    while depth and position < len(text):
        closing = text.find("}", position)
        if closing < 0:
            return len(text)
        depth += text.count("{", position, closing) - 1
        position = closing + 1
    return position - 1


def _applies(prelude: str) -> bool:
    name, _, condition = prelude.lower().partition(" ")
    if name in {"@supports", "@layer"}:
        return True
    if name != "@media":
        return False
    return any(_media_holds(query) for query in condition.split(","))


def _media_holds(query: str) -> bool:
    if "print" in query or query.strip().startswith("not") or "prefers-" in query:
        return False
    for bound, number, unit in _WIDTH.findall(query):
        pixels = float(number) * (1.0 if unit == "px" else _EM)
        if (bound == "min" and pixels > _VIEWPORT) or (bound == "max" and pixels < _VIEWPORT):
            return False
    return "orientation: portrait" not in query and "orientation:portrait" not in query
