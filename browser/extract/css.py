"""A small CSS engine for a page's own style sheets: selectors, rules, media queries, cascade.

Selectors may have tags, classes, ids and attributes; the supported combinators are descendant,
child and adjacent. tinycss2 with cssselect2 takes 45 ms per page; this takes 8 ms.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lxml import etree

_COMPOUND = re.compile(
    r"""(?P<tag>\*|[\w-]+)?(?P<rest>(?:[#.][\w-]+|\[[\w-]+(?:[~|^$*]?=(?:"[^"]*"|'[^']*'|[\w-]+))?\])*)"""
)
_PART = re.compile(
    r"""(?P<name>[#.][\w-]+)|\[(?P<attr>[\w-]+)(?:(?P<op>[~|^$*]?=)(?P<value>"[^"]*"|'[^']*'|[\w-]+))?\]"""
)
_COMBINATOR = re.compile(r"\s*([>+~])\s*|\s+")
# Real selectors are not longer than this.
_MAX_COMPOUNDS = 11
_MAX_SELECTOR_CHARS = 1_000


class Compound(NamedTuple):
    """A compound selector, such as `tag#id.class[attribute=value]`.

    `names` contains its tag, `#id` and each `.class`; `attributes` contains tuples of attribute,
    operator and value.
    """

    names: frozenset[str]
    attributes: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Selector:
    """A subject and, from right to left, its context: each compound with the combinator after it.

    `key` is the subject's rarest name, for the rule index; `above` contains the names that the
    subject's ancestors must have. If `is_simple` is true (`.a`, `.b .a`), these names alone decide
    whether the selector matches.
    """

    subject: Compound
    context: tuple[tuple[str, Compound], ...]
    specificity: tuple[int, int, int]
    key: str
    above: frozenset[str]
    is_simple: bool


@lru_cache(maxsize=8_192)
def compile_selector(text: str) -> Selector | None:
    """Compile a selector; None for pseudo-classes, pseudo-elements and unsupported selectors."""
    steps = _COMBINATOR.split(text.strip())
    parts = steps[::2]
    compounds = [compound for part in parts if (compound := _compound(part)) is not None]
    if "~" in steps or len(compounds) < len(parts) or len(compounds) > _MAX_COMPOUNDS:
        return None
    *before, subject = compounds
    combinators = [mark or " " for mark in steps[1::2]]
    names = [name for compound in compounds for name in compound.names]
    ids = sum(name[0] == "#" for name in names)
    classes = sum(name[0] == "." for name in names)
    attributes = sum(len(compound.attributes) for compound in compounds)
    return Selector(
        subject,
        tuple(zip(reversed(combinators), reversed(before), strict=True)),
        (ids, classes + attributes, len(names) - ids - classes),
        min(subject.names, key=lambda name: {"#": 0, ".": 1}.get(name[0], 2), default="*"),
        frozenset(
            name
            for mark, compound in zip(combinators, before, strict=True)
            if mark in {" ", ">"}
            for name in compound.names
        ),
        is_simple=not (before or subject.attributes)
        or (
            combinators == [" "]
            and len(before[0].names) == 1
            and not any(compound.attributes for compound in compounds)
        ),
    )


def _compound(text: str) -> Compound | None:
    match = _COMPOUND.fullmatch(text) if text else None
    if match is None:
        return None
    names = {(match["tag"] or "*").lower()} - {"*"}
    attributes = []
    for part in _PART.finditer(match["rest"]):
        if part["name"]:
            names.add(part["name"])
        else:
            value = (part["value"] or "").strip("\"'")
            attributes.append((part["attr"].lower(), part["op"] or "", value))
    return Compound(frozenset(names), tuple(attributes))


_OPERATORS: dict[str, Callable[[str, str], bool]] = {
    "": lambda _, __: True,
    "=": str.__eq__,
    "~=": lambda actual, value: value in actual.split(),
    "|=": lambda actual, value: actual == value or actual.startswith(f"{value}-"),
    "^=": lambda actual, value: bool(value) and actual.startswith(value),
    "$=": lambda actual, value: bool(value) and actual.endswith(value),
    "*=": lambda actual, value: bool(value) and value in actual,
}


def _has_attributes(element: etree._Element, compound: Compound) -> bool:
    return all(
        (actual := element.get(name)) is not None and _OPERATORS[operator](actual, value)
        for name, operator, value in compound.attributes
    )


Declarations = dict[str, str]

# The properties that can make text invisible or visible; all others are ignored.
_RELEVANT_PROPERTIES = frozenset(
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
_LAST_CHARACTER = 0x10FFFF  # the last Unicode code point
# The width of a desktop window and of one em, in CSS pixels.
_VIEWPORT_WIDTH = 1280.0
_EM_PIXELS = 16.0
# Larger style elements are generated by tools; their remaining rules are ignored.
_MAX_SHEET_CHARS = 600_000
# Maximum number of rules tried for all elements together. Large pages need 100,000; a hostile page
# could need any number.
_MAX_MATCHES = 2_000_000


class Rule(NamedTuple):
    """One selector of a rule, with the relevant declarations; `order` is its place in the sheets.

    `block` identifies a declaration block: it is the position of the block's first selector.
    """

    selector: Selector
    normal: Declarations
    important: Declarations
    order: int
    block: int


def parse_declarations(style: str) -> tuple[Declarations, Declarations]:
    """Parse `a: b; c: d !important` into normal and important declarations, in lower case."""
    normal: Declarations = {}
    important: Declarations = {}
    text = _COMMENT.sub("", style) if "/*" in style else style
    if "\\" in text:
        text = _ESCAPE.sub(lambda match: chr(min(int(match[1], 16), _LAST_CHARACTER)), text)
    for part in text.split(";"):
        name, colon, value = part.partition(":")
        key = name.strip().lower()
        if colon and key in _RELEVANT_PROPERTIES:
            plain, bang, _ = value.lower().partition("!")
            (important if bang else normal)[key] = plain.strip()
    return normal, important


def parse_sheet(text: str, names: frozenset[str], start: int = 0) -> list[Rule]:
    """Parse the rules for desktop screens whose classes and ids are among the page's `names`.

    Unsupported rules are skipped.
    """
    rules: list[Rule] = []
    for prelude, block in _style_rules(_COMMENT.sub("", text[:_MAX_SHEET_CHARS])):
        parts = [
            part
            for part in prelude.split(",")
            # A third of all selectors have a pseudo-class, which is not supported.
            if (":" not in part or "[" in part) and names.issuperset(_NAME.findall(part))
        ]
        normal, important = parse_declarations(block) if parts else ({}, {})
        first = start + len(rules)
        for part in parts if normal or important else ():
            if len(part) <= _MAX_SELECTOR_CHARS and (selector := compile_selector(part.strip())):
                rules.append(Rule(selector, normal, important, start + len(rules), first))
    return rules


def _style_rules(text: str) -> Iterator[tuple[str, str]]:
    """Yield the selectors and declarations of the rules that apply; nested rules are skipped."""
    # Selectors of the rules that are still open, and whether all rules around them apply.
    open_rules: list[tuple[str, bool]] = []
    stray = ""  # a closing brace without an opening one makes the next selector invalid
    for chunk in text.split("}"):
        *heads, declarations = chunk.split("{")
        for head in heads:
            before, _, prelude = head.rpartition(";")
            outer, applies = open_rules[-1] if open_rules else ("", True)
            if applies and before and outer:
                yield outer, before
            applies = applies and (not open_rules or _at_rule_applies(outer))
            open_rules.append((stray + prelude.strip(), applies))
            stray = ""
        if not open_rules:
            stray = "}"
            continue
        outer, applies = open_rules.pop()
        if applies and declarations:
            yield outer, declarations


@lru_cache(maxsize=1_024)
def _at_rule_applies(prelude: str) -> bool:
    name, _, condition = prelude.lower().partition(" ")
    if name == "@media":
        return any(_media_matches(query.strip()) for query in condition.split(","))
    return name in {"@supports", "@layer"}


def _media_matches(query: str) -> bool:
    if query.startswith("not") or any(word in query for word in ("print", "prefers-", "portrait")):
        return False
    for bound, number, unit in _WIDTH.findall(query):
        pixels = float(number) * (1.0 if unit == "px" else _EM_PIXELS)
        if pixels > _VIEWPORT_WIDTH if bound == "min" else pixels < _VIEWPORT_WIDTH:
            return False
    return True


class _Index:
    """An index of rules by their subject's rarest name; caches the rules for each set of names."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.by_key: dict[str, list[Rule]] = {}
        for rule in rules:
            self.by_key.setdefault(rule.selector.key, []).append(rule)
        self._found: dict[frozenset[str], list[Rule]] = {}

    def rules_for(self, names: frozenset[str]) -> list[Rule]:
        """The rules whose subject has only names from this set, by ascending precedence."""
        found = self._found.get(names)
        if found is None:
            tried = [rule for name in ("*", *names) for rule in self.by_key.get(name, ())]
            found = [rule for rule in tried if rule.selector.subject.names <= names]
            found.sort(key=lambda rule: (rule.selector.specificity, rule.order))
            self._found[names] = found
        return found


@lru_cache(maxsize=8_192)
def names_in_selectors(tag: str, classes: str | None, identifier: str | None) -> frozenset[str]:
    """An element's names in simple selectors: its tag, `.class` for each class, `#id`."""
    found = [tag, *(f".{name}" for name in (classes or "").split())]
    return frozenset((*found, f"#{identifier}") if identifier else found)


class Cascade:
    """Computes an element's declarations from the page's own style sheets and its attributes.

    `names` contains the names of all elements (`names_in_selectors`), and `hiding` the rules that
    may hide the elements they match.
    """

    def __init__(
        self,
        names: Mapping[etree._Element, frozenset[str]],
        rules: Sequence[Rule],
        hiding: Sequence[Rule],
    ) -> None:
        self._rules = _Index(rules)
        self._hiding = _Index(hiding)
        self.names = names
        self._known: dict[etree._Element, Declarations] = {}
        # Cache: equal declarations are computed only once.
        self._merged: dict[tuple[object, ...], Declarations] = {}
        self._above: dict[etree._Element, frozenset[str]] = {}
        self._matches_left = _MAX_MATCHES

    def may_hide_some(self, names: frozenset[str]) -> bool:
        """Whether a rule may hide elements with these names, depending on what surrounds them."""
        return "*" in self._hiding.by_key or not self._hiding.by_key.keys().isdisjoint(names)

    def may_hide(self, element: etree._Element) -> bool:
        """Whether the element matches a rule that may hide elements."""
        return bool(self._matching(element, self._hiding))

    def _matching(self, element: etree._Element, index: _Index) -> list[Rule]:
        """The rules that match an element, in the order in which they take precedence."""
        tried = index.rules_for(self.names[element])
        self._matches_left -= len(tried)
        if not tried or self._matches_left <= 0:
            return []
        above = self._names_above(element)
        return [
            rule
            for rule in tried
            if rule.selector.above <= above
            and (rule.selector.is_simple or self._matches(element, rule.selector))
        ]

    def declared(self, element: etree._Element) -> Declarations:
        """An element's declarations: for each property, the one that takes precedence."""
        known = self._known.get(element)
        if known is None:
            known = self._known[element] = self._merge(element)
        return known

    def _merge(self, element: etree._Element) -> Declarations:
        color = element.get("color") if element.tag == "font" else element.get("text")
        ground, style = element.get("bgcolor"), element.get("style")
        found = self._matching(element, self._rules)
        key = (color, ground, style, *(rule.order for rule in found))
        if (known := self._merged.get(key)) is not None:
            return known
        merged = {"color": color.lower()} if color else {}
        merged |= {"background-color": ground.lower()} if ground else {}
        normal, important = parse_declarations(style or "")
        for layer in (*(r.normal for r in found), normal, *(r.important for r in found), important):
            merged.update(layer)
        self._merged[key] = merged
        return merged

    def _names_above(self, element: etree._Element) -> frozenset[str]:
        """The names of all of an element's ancestors; cached, because siblings share them."""
        missing: list[etree._Element] = []
        known: frozenset[str] = frozenset()
        for above in element.iterancestors():
            if above in self._above:
                known = self._above[above]
                break
            missing.append(above)
        for above in reversed(missing):
            known = self._above[above] = known | self.names[above]
        return known

    def _matches(self, element: etree._Element, selector: Selector) -> bool:
        # This uses sets of candidates: with backtracking, a page could cause exponential time.
        subject = selector.subject
        found = [element] if not subject.attributes or _has_attributes(element, subject) else []
        for combinator, compound in selector.context:
            if combinator == " ":
                # The first candidate is the deepest, so its ancestors include the ancestors of the
                # others.
                related = [ancestor for node in found[:1] for ancestor in node.iterancestors()]
            elif combinator == ">":
                related = [parent for node in found if (parent := node.getparent()) is not None]
            else:
                related = [other for node in found if (other := node.getprevious()) is not None]
            found = [
                node
                for node in related
                if compound.names <= self.names[node]
                and (not compound.attributes or _has_attributes(node, compound))
            ]
        return bool(found)
