"""A small CSS engine for a page's own style sheets: selectors, rules, media queries, cascade.

Selectors are made of tags, classes, ids and attributes; combinators are descendant, child and
adjacent. tinycss2 with cssselect2 takes 45 ms per page; this takes 8 ms.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from lxml import etree

_COMPOUND = re.compile(
    r"""(?P<tag>\*|[\w-]+)?(?P<rest>(?:[#.][\w-]+|\[[\w-]+(?:[~|^$*]?=(?:"[^"]*"|'[^']*'|[\w-]+))?\])*)"""
)
_PART = re.compile(
    r"""(?P<name>[#.][\w-]+)|\[(?P<attr>[\w-]+)(?:(?P<op>[~|^$*]?=)(?P<value>"[^"]*"|'[^']*'|[\w-]+))?\]"""
)
_COMBINATOR = re.compile(r"\s*([>+~])\s*|\s+")
# No real selector is longer.
_MAX_COMPOUNDS = 11
_MAX_SELECTOR = 1_000


class Compound(NamedTuple):
    """`tag#id.class[attr=value]`: tag, `#id` and `.class` names; (attribute, operator, value)."""

    names: frozenset[str]
    attributes: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Selector:
    """A subject and, from right to left, its context: each compound with the combinator after it.

    `key` is the subject's rarest name, for the rule index; `above` are the names that the
    subject's ancestors must have.
    """

    subject: Compound
    context: tuple[tuple[str, Compound], ...]
    specificity: tuple[int, int, int]
    key: str
    above: frozenset[str]


@lru_cache(maxsize=8_192)
def compile_selector(text: str) -> Selector | None:
    """Compile a selector; None for pseudo-classes, pseudo-elements and unsupported ones."""
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

# The properties that can make text invisible or visible again; all others are dropped.
_RELEVANT = frozenset(
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
_LAST_CHARACTER = 0x10FFFF  # of Unicode
# A desktop window, in CSS pixels; 16 of them are an em.
_VIEWPORT = 1280.0
_EM = 16.0
# Larger style elements are generated; the rest of their rules is ignored.
_MAX_SHEET = 600_000
# Rules tried on all elements together: a large page needs 100,000; a hostile one has no limit.
_MAX_MATCHES = 2_000_000


class Rule(NamedTuple):
    """One selector of a rule, with the relevant declarations; `order` is its place in the sheets.

    Selectors of the same declaration `block` have its number, which is the first one's position.
    """

    selector: Selector
    normal: Declarations
    important: Declarations
    order: int
    block: int


def parse_declarations(style: str) -> tuple[Declarations, Declarations]:
    """Parse `a: b; c: d !important` into relevant normal and important declarations, lower-case."""
    normal: Declarations = {}
    important: Declarations = {}
    text = _COMMENT.sub("", style) if "/*" in style else style
    if "\\" in text:
        text = _ESCAPE.sub(lambda match: chr(min(int(match[1], 16), _LAST_CHARACTER)), text)
    for part in text.split(";"):
        name, colon, value = part.partition(":")
        key = name.strip().lower()
        if colon and key in _RELEVANT:
            plain, bang, _ = value.lower().partition("!")
            (important if bang else normal)[key] = plain.strip()
    return normal, important


def parse_sheet(text: str, names: frozenset[str], start: int = 0) -> list[Rule]:
    """Parse the desktop-screen rules whose classes and ids are among the page's `names`.

    Unsupported rules are skipped.
    """
    rules: list[Rule] = []
    for prelude, block in _top_level(_COMMENT.sub("", text[:_MAX_SHEET])):
        if prelude.startswith("@"):
            if _at_rule_applies(prelude.lower()):
                rules.extend(parse_sheet(block, names, start + len(rules)))
            continue
        parts = [part for part in prelude.split(",") if names.issuperset(_NAME.findall(part))]
        normal, important = parse_declarations(block) if parts else ({}, {})
        first = start + len(rules)
        for part in parts if normal or important else ():
            if len(part) <= _MAX_SELECTOR and (selector := compile_selector(part.strip())):
                rules.append(Rule(selector, normal, important, start + len(rules), first))
    return rules


def _top_level(text: str) -> Iterator[tuple[str, str]]:
    """Split a sheet into (prelude, block) pairs; nested blocks are not split."""
    position = 0
    while (opening := text.find("{", position)) >= 0:
        prelude = text[position:opening].rpartition(";")[2].strip()
        depth, position = 1, opening + 1
        while depth and (closing := text.find("}", position)) >= 0:
            depth += text.count("{", position, closing) - 1
            position = closing + 1
        end = len(text) if depth else position - 1
        yield prelude, text[opening + 1 : end]
        position = end + 1


def _at_rule_applies(prelude: str) -> bool:
    name, _, condition = prelude.partition(" ")
    if name == "@media":
        return any(_media_holds(query.strip()) for query in condition.split(","))
    return name in {"@supports", "@layer"}


def _media_holds(query: str) -> bool:
    if query.startswith("not") or any(word in query for word in ("print", "prefers-", "portrait")):
        return False
    for bound, number, unit in _WIDTH.findall(query):
        pixels = float(number) * (1.0 if unit == "px" else _EM)
        if pixels > _VIEWPORT if bound == "min" else pixels < _VIEWPORT:
            return False
    return True


class _Index:
    """Rules by their subject's rarest name; results for sets of element names are cached."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._by_key: dict[str, list[Rule]] = {}
        for rule in rules:
            self._by_key.setdefault(rule.selector.key, []).append(rule)
        self._found: dict[frozenset[str], list[Rule]] = {}

    def rules_for(self, names: frozenset[str]) -> list[Rule]:
        """The rules whose subject has no other names than these."""
        found = self._found.get(names)
        if found is None:
            tried = [rule for name in ("*", *names) for rule in self._by_key.get(name, ())]
            found = [rule for rule in tried if rule.selector.subject.names <= names]
            self._found[names] = found
        return found


def names_of(element: etree._Element) -> frozenset[str]:
    """An element's names in simple selectors: its tag, `.class` for each class, `#id`."""
    return _names(element.tag, element.get("class") or "", element.get("id") or "")


@lru_cache(maxsize=8_192)
def _names(tag: str, classes: str, identifier: str) -> frozenset[str]:
    found = [tag, *(f".{name}" for name in classes.split())]
    return frozenset((*found, f"#{identifier}") if identifier else found)


class Cascade:
    """Computes an element's declarations from the page's own style sheets and its attributes.

    `names` are the names of all elements (`names_of`); `hiding` are the rules that may hide the
    elements that they match.
    """

    def __init__(
        self,
        names: Mapping[etree._Element, frozenset[str]],
        rules: Iterable[Rule],
        hiding: Iterable[Rule],
    ) -> None:
        self._names = names
        self._rules = _Index(rules)
        self._hiding = _Index(hiding)
        self._known: dict[etree._Element, Declarations] = {}
        # Equal declarations are computed once.
        self._merged: dict[tuple[object, ...], Declarations] = {}
        self._above: dict[etree._Element, frozenset[str]] = {}
        self._matches_left = _MAX_MATCHES

    def may_hide(self, element: etree._Element) -> bool:
        """Whether a rule that may hide an element matches it."""
        if not self._hiding.rules_for(self._names[element]):  # true for most elements
            return False
        return next(self._matching(element, self._hiding), None) is not None

    def _matching(self, element: etree._Element, index: _Index) -> Iterator[Rule]:
        tried = index.rules_for(self._names[element])
        self._matches_left -= len(tried)
        for rule in tried if self._matches_left > 0 else ():
            selector = rule.selector
            is_bare = not (selector.context or selector.subject.attributes)
            if is_bare or self._matches(element, selector):
                yield rule

    def declared(self, element: etree._Element) -> Declarations:
        """An element's declarations: for each property, the one that wins."""
        known = self._known.get(element)
        if known is None:
            known = self._known[element] = self._merge(element)
        return known

    def _merge(self, element: etree._Element) -> Declarations:
        color = element.get("color") if element.tag == "font" else element.get("text")
        ground, style = element.get("bgcolor"), element.get("style")
        found = list(self._matching(element, self._rules))
        key = (color, ground, style, *(rule.order for rule in found))
        if (known := self._merged.get(key)) is not None:
            return known
        merged = {"color": color.lower()} if color else {}
        merged |= {"background-color": ground.lower()} if ground else {}
        normal, important = parse_declarations(style or "")
        found.sort(key=lambda rule: (rule.selector.specificity, rule.order))
        for layer in (*(r.normal for r in found), normal, *(r.important for r in found), important):
            merged.update(layer)
        self._merged[key] = merged
        return merged

    def _names_above(self, element: etree._Element) -> frozenset[str]:
        """The names of all ancestors of an element; siblings share them."""
        missing: list[etree._Element] = []
        known: frozenset[str] = frozenset()
        for above in element.iterancestors():
            if above in self._above:
                known = self._above[above]
                break
            missing.append(above)
        for above in reversed(missing):
            known = self._above[above] = known | self._names[above]
        return known

    def _matches(self, element: etree._Element, selector: Selector) -> bool:
        if selector.above and not selector.above <= self._names_above(element):
            return False
        # Sets of candidates instead of backtracking, which a page could make exponentially slow.
        subject = selector.subject
        found = [element] if not subject.attributes or _has_attributes(element, subject) else []
        for combinator, compound in selector.context:
            if combinator == " ":
                # The first candidate is the deepest: its ancestors include those of the others.
                related = [ancestor for node in found[:1] for ancestor in node.iterancestors()]
            elif combinator == ">":
                related = [parent for node in found if (parent := node.getparent()) is not None]
            else:
                related = [other for node in found if (other := node.getprevious()) is not None]
            found = [node for node in related if self._matches_compound(node, compound)]
        return bool(found)

    def _matches_compound(self, element: etree._Element, compound: Compound) -> bool:
        return compound.names <= self._names[element] and (
            not compound.attributes or _has_attributes(element, compound)
        )
