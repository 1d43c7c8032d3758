"""The links of a page, with the next page marked, and the form controls of its content."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urldefrag

from browser.extract.tree import text_content
from browser.net.url import join
from browser.text.words import clean
from browser.types import Link

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml import etree

_NEXT_TEXT = re.compile(
    r"\W*(?:next(?: page)?|older(?: posts| entries)?|more results|weiter|nächste(?: seite)?|"
    r"page suivante|suivante?|siguiente|próxima|avanti|volgende|次へ|下一页)\W*|[›»→>]{1,2}",
    re.IGNORECASE,
)
_NEXT_CLASS = re.compile(r"(?:^|[\s_-])next(?:$|[\s_-])", re.IGNORECASE)
# Pages with more links than this are indexes; a reader follows none of the later ones.
_MOST_LINKS = 2_000


def read_links(root: etree._Element, base: str) -> tuple[Link, ...]:
    """Collect `a[href]` and `link[rel=next]`; rel is `next` where the page or its words say so."""
    found: dict[str, Link] = {}
    for element in root.iter("a", "area", "link"):
        url = _target(element, base)
        if url is None:
            continue
        text = text_content(element) or _label(element)
        link = Link(url, text, _rel(element, text))
        known = found.get(url)
        if known is None or _better(link, known):
            found[url] = link
        if len(found) >= _MOST_LINKS:
            break
    return tuple(found.values())


def _target(element: etree._Element, base: str) -> str | None:
    href = (element.get("href") or "").strip()
    if not href or href.startswith("#"):
        return None
    if element.tag == "link" and "next" not in (element.get("rel") or "").lower().split():
        return None
    url = join(base, href)
    if not url.lower().startswith(("http://", "https://", "file://")):
        return None
    same_page = urldefrag(url)[0] == urldefrag(base)[0] and "#" in url
    return None if same_page else url


def _label(element: etree._Element) -> str:
    image = next(element.iterdescendants("img"), None)
    alt = image.get("alt") if image is not None else None
    return clean(" ".join((element.get("aria-label") or element.get("title") or alt or "").split()))


def _rel(element: etree._Element, text: str) -> str:
    declared = (element.get("rel") or "").lower().split()
    named = (
        _NEXT_CLASS.search(f"{element.get('class') or ''} {element.get('id') or ''}") is not None
    )
    label = element.get("aria-label") or ""
    if (
        "next" in declared
        or _NEXT_TEXT.fullmatch(text)
        or _NEXT_TEXT.fullmatch(label)
        or (named and len(text) < 30)
    ):
        return "next"
    return " ".join(declared)


def _better(link: Link, known: Link) -> bool:
    if link.rel == "next" and known.rel != "next":
        return True
    return bool(link.text) and not known.text


MOST_CONTROLS = 8
"""Controls that are named; a page with more is a list of one kind."""
LONGEST_NAME = 80
"""Characters of a control's name."""
LONGEST_LABEL = 60
"""Characters of a name that no person sees; of 491 such on 250 pages 19 are longer."""

_FRAMES = frozenset(("nav", "header", "footer", "aside"))
_FRAME_ROLES = frozenset(("navigation", "banner", "contentinfo", "complementary"))
_CONTROL_ROLES = frozenset(
    ("button", "tab", "searchbox", "textbox", "combobox", "switch", "slider")
)
_UNTYPED = frozenset(("hidden", "submit", "button", "image", "reset", "password", "file"))
_BY_TYPE = {"search": "searchbox", "checkbox": "checkbox", "radio": "radio", "number": "spinbutton"}

_CONTROLS = frozenset(("input", "select", "textarea", "button"))


def main_controls(root: etree._Element) -> tuple[str, ...]:
    """Name them as `searchbox Search the collection`, `select Season: Summer; Winter`, in order.

    What a person sees names them first; a name that nobody sees is marked `(label only)`.
    Those of header, navigation and footer are left out, searches that stand outside the main
    part, and what sorts a table by its header; at most `MOST_CONTROLS`, each once.
    """
    main = root.find(".//main")
    elements = (e for e in root.iter() if e.tag in _CONTROLS or e.get("role"))
    labels = {e.get("for"): text_content(e) for e in root.iter("label") if e.get("for")}
    found = (
        f"{role} {name[:LONGEST_NAME]}"
        for element in elements
        if (role := _role(element)) and not _framed(element, main)
        for name in _control_name(element, role, labels)
    )
    return tuple(dict.fromkeys(found))[:MOST_CONTROLS]


def _role(element: etree._Element) -> str:
    role = (element.get("role") or "").lower()
    if role in _CONTROL_ROLES:
        return role
    kind = (element.get("type") or "").lower()
    if element.tag == "input":
        return _BY_TYPE.get(kind, "button" if kind == "submit" else _text_role(kind))
    return {"select": "select", "textarea": "textbox", "button": "button"}.get(element.tag, "")


def _text_role(kind: str) -> str:
    return "" if kind in _UNTYPED else "textbox"


def _framed(element: etree._Element, main: etree._Element | None) -> bool:
    outside = main is not None
    search = False
    for above in element.iterancestors():
        role = (above.get("role") or "").lower()
        if above is main:
            outside = False
        elif above.tag in _FRAMES or role in _FRAME_ROLES or above.tag == "th":
            return True
        search = search or role == "search"
    return outside or (main is None and search)


def _label_around(around: etree._Element, role: str) -> str:
    """What a label says around its control; of a select's only what stands before the options."""
    return (around.text or "") if role == "select" else text_content(around)


def _control_name(
    element: etree._Element, role: str, labels: dict[str | None, str]
) -> Iterator[str]:
    """The control's name, where it has one; a select with its options."""
    options = [text_content(option) for option in element.iter("option")]
    around = next(element.iterancestors("label"), None)
    label = _label_around(around, role) if around is not None else ""
    own = text_content(element) if role in {"button", "tab"} else ""
    hint = element.get("placeholder") if not element.get("value") else ""
    seen = (own, labels.get(element.get("id")) if element.get("id") else "", label, hint)
    drawn = element.get("value") if role == "button" else ""
    unseen = (element.get("aria-label"), element.get("title"))
    name = _first(*seen, drawn)
    if not name and (only := _first(*unseen)):
        name = f"{only[:LONGEST_LABEL]} (label only)"
    name = name or _first(element.get("name"))
    if name and role == "select" and options:
        name = f"{name}: {'; '.join(options)}"
    if name:
        yield name


def _first(*texts: str | None) -> str:
    return next((text.strip() for text in texts if text and text.strip()), "")
