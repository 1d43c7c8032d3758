"""Text that is in the page but that nobody sees."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from browser.extract.colors import Color, indistinct, parse_color
from browser.extract.css import Cascade, parse_sheet
from browser.extract.formulas import draws
from browser.extract.invisible import hides, hides_own_text, resets
from browser.extract.tree import raw_text, remove

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lxml import etree

    from browser.extract.css import Declarations, Rule

# Inline styles without any of these hide nothing.
_SUSPECT = re.compile(
    r"none|hidden|collapse|opacity|color|background|font|indent|clip|position|transform|filter"
    r"|margin|height|width",
    re.IGNORECASE,
)
_UNSEEN_CLASSES = frozenset(
    """sr-only visually-hidden visuallyhidden screen-reader-text screen-reader-only screenreader
    a11y-hidden u-hidden-visually element-invisible offscreen off-screen sronly vh
    screenreader-only hidden-visually""".split()
)
# Elements without words of their own to hide.
_TEXTLESS = frozenset(
    """head title meta link base script style br hr img source svg path use g rect circle polygon
    input option iframe noscript col""".split()
)
_GROUNDS = ("background-color", "background", "background-image")
_WHITE: Color = (255, 255, 255)
_BLACK: Color = (0, 0, 0)
# More than this share of a page is no hidden note: its scripts show it once they run.
_WHOLE_PAGE = 0.5


def strip_hidden(root: etree._Element, elements: Sequence[etree._Element]) -> None:
    """Remove what the page's markup and its own styles show to be invisible.

    `elements` are all of the root's, in document order. Covers `hidden`, closed dialogs and
    popovers, classes for screen readers only, and, from attributes and style elements, display,
    visibility, opacity, size, colour, place and clipping. No external style sheet is fetched.
    """
    rules = _own_rules(elements)
    view = _View(root, Cascade(rules))
    for element in _suspects(elements, Cascade(_able_to_hide(rules))):
        view.judge(element)


def _own_rules(elements: Sequence[etree._Element]) -> list[Rule]:
    names = _names(elements)
    rules: list[Rule] = []
    for style in elements:
        if style.tag == "style" and "print" not in (style.get("media") or ""):
            rules.extend(parse_sheet(raw_text(style), names, len(rules)))
    return rules


def _names(elements: Sequence[etree._Element]) -> frozenset[str]:
    found = set()
    for element in elements:
        if name := element.get("id"):
            found.add(f"#{name}")
        if names := element.get("class"):
            found.update(f".{name}" for name in names.split())
    return frozenset(found)


def _able_to_hide(rules: list[Rule]) -> list[Rule]:
    """Rules that hide by themselves, or that set text and ground to colours that meet elsewhere."""
    declared = [(rule, {**rule.normal, **rule.important}) for rule in rules]
    texts = {_BLACK} | {c for _, d in declared if (c := parse_color(d.get("color", "")))}
    grounds = {_WHITE} | {c for _, d in declared if (c := parse_color(_ground_value(d)))}
    return [
        rule
        for rule, own in declared
        if hides(own)
        or hides_own_text(own)
        or parse_color(own.get("color", "")) in grounds
        or parse_color(_ground_value(own)) in texts
    ]


def _ground_value(declared: Declarations) -> str:
    return " ".join(declared[name] for name in _GROUNDS if name in declared)


def _suspects(elements: Sequence[etree._Element], able: Cascade) -> list[etree._Element]:
    return [e for e in elements if e.tag not in _TEXTLESS and _is_suspect(e, able)]


def _is_suspect(element: etree._Element, able: Cascade) -> bool:
    style = element.get("style")
    return (
        (style is not None and _SUSPECT.search(style) is not None)
        or _is_unseen(element)
        or element.get("bgcolor") is not None
        or (element.tag == "font" and element.get("color") is not None)
        or next(able.rules_for(element), None) is not None
    )


def _is_unseen(element: etree._Element) -> bool:
    if element.get("hidden") is not None and element.get("hidden") != "until-found":
        return True
    if element.tag == "dialog" and element.get("open") is None:
        return True
    if element.get("popover") is not None:
        return True
    return not _UNSEEN_CLASSES.isdisjoint((element.get("class") or "").split())


class _View:
    """What stands out of sight on one page, and taking it out."""

    def __init__(self, root: etree._Element, cascade: Cascade) -> None:
        self._cascade = cascade
        self._chars = len(raw_text(root))
        self._foreign = any(
            "stylesheet" in (link.get("rel") or "").lower() for link in root.iter("link")
        )

    def judge(self, element: etree._Element) -> None:
        """Remove the element, or blank its text, where it cannot be seen."""
        declared = self._cascade.declared(element)
        if _is_unseen(element) or hides(declared):
            if not self._is_page(element) and not draws(element):
                remove(element)
        elif (hides_own_text(declared) or self._is_camouflaged(element)) and not self._is_page(
            element
        ):
            self._blank(element, declared)

    def _is_page(self, element: etree._Element) -> bool:
        if element.tag in {"html", "body"}:
            return True
        holds_page = next(element.iterdescendants("h1", "main", "article"), None) is not None
        return holds_page and len(raw_text(element)) > _WHOLE_PAGE * self._chars

    def _blank(self, element: etree._Element, hidden: Declarations) -> None:
        element.text = None
        for child in element:
            child.tail = None
            if not resets(self._cascade.declared(child), hidden):
                self._blank(child, hidden)

    def _is_camouflaged(self, element: etree._Element) -> bool:
        declared = self._cascade.declared(element)
        if declared.keys().isdisjoint(("color", *_GROUNDS)):
            return False
        text, ground = self._color(element), self._ground(element)
        return text is not None and ground is not None and indistinct(text, ground)

    def _color(self, element: etree._Element) -> Color | None:
        for node in (element, *element.iterancestors()):
            if value := self._cascade.declared(node).get("color"):
                return parse_color(value)
        return None if self._foreign else _BLACK

    def _ground(self, element: etree._Element) -> Color | None:
        for node in (element, *element.iterancestors()):
            declared = self._cascade.declared(node)
            values = [declared[name] for name in _GROUNDS if name in declared]
            if values and not all(value in {"none", "transparent", "inherit"} for value in values):
                return parse_color(" ".join(values))
        return None if self._foreign else _WHITE
