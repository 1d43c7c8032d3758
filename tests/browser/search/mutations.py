"""Result pages as engines may send them next month: the same results in a changed page."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

import random
import re
import string
from typing import TYPE_CHECKING

from lxml import html

if TYPE_CHECKING:
    from collections.abc import Callable

    from lxml.html import HtmlElement

# Where advertisements and panels of the mutants lead; a result that does is one too many.
AD_SITE = "sponsor.example"
# Class names that a build makes: no word, or one with digits or capitals in the middle.
_BUILT = re.compile(r"^(?=.*(?:\d|[a-z][A-Z]|[A-Z]{2}))[\w-]{3,12}$|^svelte-\w+$")
_WRAPPERS = ("search", "rso", "links", "center_col", "main", "web", "results", "b_content")


def renamed(page: HtmlElement, chance: random.Random) -> None:
    """Every generated class name is replaced, consistently across the page."""
    names: dict[str, str] = {}
    for node in page.iter():
        if not isinstance(node.tag, str) or not node.get("class"):
            continue
        words = [
            names.setdefault(word, _word(chance)) if _BUILT.match(word) else word
            for word in node.get("class", "").split()
        ]
        node.set("class", " ".join(words))


def renamed_all(page: HtmlElement, chance: random.Random) -> None:
    """Every class name is replaced, including those chosen by people."""
    names: dict[str, str] = {}
    for node in page.iter():
        if isinstance(node.tag, str) and node.get("class"):
            words = node.get("class", "").split()
            node.set("class", " ".join(names.setdefault(w, _word(chance)) for w in words))


def unwrapped(page: HtmlElement, chance: random.Random) -> None:
    """The elements around the results lose their ids."""
    del chance
    for name in _WRAPPERS:
        for node in page.xpath(f"//*[@id='{name}']"):
            del node.attrib["id"]


def boxed(page: HtmlElement, chance: random.Random) -> None:
    """Headings and links are wrapped once more."""
    for node in page.xpath("//h2 | //h3"):
        parent = node.getparent()
        if parent is None or parent.tag == "a":
            continue
        box = html.Element("div")
        box.set("class", _word(chance))
        box.tail, node.tail = node.tail, None
        parent.replace(node, box)
        box.append(node)


def shuffled(page: HtmlElement, chance: random.Random) -> None:
    """Attributes are reordered, and data attributes are added and removed."""
    for node in page.iter():
        if not isinstance(node.tag, str):
            continue
        pairs = list(node.attrib.items())
        chance.shuffle(pairs)
        node.attrib.clear()
        for key, value in pairs:
            if key not in (
                "data-ved",
                "jscontroller",
                "jsaction",
                "data-hveid",
                "jsname",
                "data-k",
            ):
                node.set(key, value)
        node.set("data-x", _word(chance))


def crowded(page: HtmlElement, chance: random.Random) -> None:
    """Panels appear above, between and below the results: answers, questions, films, news, maps."""
    found = page.xpath("//body")
    if not found:
        return
    body = found[0]
    for module in _MODULES:
        body.insert(0 if chance.random() < 0.5 else len(body), html.fragment_fromstring(module))
    headings = page.xpath("//h2[.//a or ancestor::a] | //h3[.//a or ancestor::a]")
    for place in headings[1::3]:
        block = _block(place, headings)
        if block is not None and block.getparent() is not None:
            block.addprevious(html.fragment_fromstring(chance.choice(_BETWEEN)))


def all_mutations(page: HtmlElement, chance: random.Random) -> None:
    """Everything at once."""
    for mutate in (renamed, unwrapped, boxed, shuffled, crowded):
        mutate(page, chance)


MUTATIONS: dict[str, Callable[[HtmlElement, random.Random], None]] = {
    f.__name__: f
    for f in (renamed, renamed_all, unwrapped, boxed, shuffled, crowded, all_mutations)
}


def mutant(body: str, name: str, seed: int = 7) -> str:
    """Return the page after a mutation, which the seed makes reproducible."""
    page = html.document_fromstring(body.encode("utf-8", "replace"),
                                    html.HTMLParser(encoding="utf-8"))  # fmt: skip
    MUTATIONS[name](page, random.Random(seed))
    return html.tostring(page, encoding="unicode", doctype="<!doctype html>")


def _word(chance: random.Random) -> str:
    return "".join(chance.choices(string.ascii_letters, k=6))


def _block(heading: HtmlElement, headings: list[HtmlElement]) -> HtmlElement | None:
    """Return the largest element that contains only this heading."""
    others, block = {id(h) for h in headings if h is not heading}, None
    for parent in heading.iterancestors():
        if any(id(node) in others for node in parent.iter()):
            return block
        block = parent
    return block


_ANSWER = f"""<div aria-label="AI Overview" data-attrid="AIOverview"><h2>AI Overview</h2><p>Tides rise twice a day, as
<a href="https://{AD_SITE}/cited"><span>Cited source</span></a> says at length in this generated answer.</p></div>"""
_QUESTIONS = f"""<div class="related-question-pair" role="list"><h2>People also ask</h2><div role="button" aria-expanded="false">When is
high tide?</div><div hidden><p>At noon.</p><a href="https://{AD_SITE}/asked"><h3>Answer page</h3></a></div></div>"""
_SHOPPING = f"""<div class="commercial-unit-desktop-top" data-text-ad="1"><h2>Sponsored</h2><div><a href="https://www.google.com/aclk?adurl=https://{AD_SITE}/buy">
<h3>Buy a tide clock</h3></a><p>Cheap and good and here today only for you and yours.</p></div></div>"""
_MAP = """<div data-local="1"><h2>Places</h2><div role="heading">Port Elm Chandlery</div><p>1 Quay, open until 18:00</p></div>"""
_MODULES = (_ANSWER, _QUESTIONS, _SHOPPING, _MAP)
_BETWEEN = (_QUESTIONS, _SHOPPING)
