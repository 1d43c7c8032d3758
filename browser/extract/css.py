"""Style sheets, as far as static reading goes: rules, media conditions and the cascade."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from browser.extract.selectors import Selector, compile_selector

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml import etree

Declarations = dict[str, str]

# Properties that can make text invisible, or visible again.
_WATCHED = frozenset(
    """display visibility opacity font-size font color background background-color text-indent
    position left right top bottom margin-left margin-top transform clip clip-path overflow
    overflow-x overflow-y width height max-width max-height filter content-visibility
    -webkit-text-fill-color background-clip -webkit-background-clip background-image""".split()
)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_NAME = re.compile(r"[.#][A-Za-z_-][\w-]*")
_WIDTH = re.compile(r"\((min|max)-width:\s*([\d.]+)(px|em|rem)\)")
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
