"""The form controls of a page's content: what a person could work there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.extract.tree import text_content

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml import etree

MOST = 8
"""Controls that are named; a page with more is a list of one kind."""
LONGEST = 80
"""Characters of a control's name."""

_FRAMES = frozenset(("nav", "header", "footer", "aside"))
_FRAME_ROLES = frozenset(("navigation", "banner", "contentinfo", "complementary"))
_ROLES = frozenset(("button", "tab", "searchbox", "textbox", "combobox", "switch", "slider"))
_UNTYPED = frozenset(("hidden", "submit", "button", "image", "reset", "password", "file"))
_BY_TYPE = {"search": "searchbox", "checkbox": "checkbox", "radio": "radio", "number": "spinbutton"}

_CONTROLS = frozenset(("input", "select", "textarea", "button"))


def main_controls(root: etree._Element) -> tuple[str, ...]:
    """Name them as `searchbox Search the collection`, `select Season: Summer; Winter`, in order.

    Those of header, navigation and footer are left out, searches that stand outside the main
    part, and what sorts a table by its header; at most `MOST`, each once.
    """
    main = root.find(".//main")
    elements = (e for e in root.iter() if e.tag in _CONTROLS or e.get("role"))
    labels = {e.get("for"): text_content(e) for e in root.iter("label") if e.get("for")}
    found = (
        f"{role} {name[:LONGEST]}"
        for element in elements
        if (role := _role(element)) and not _framed(element, main)
        for name in _name(element, role, labels)
    )
    return tuple(dict.fromkeys(found))[:MOST]


def _role(element: etree._Element) -> str:
    role = (element.get("role") or "").lower()
    if role in _ROLES:
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


def _label(around: etree._Element, role: str) -> str:
    """What a label says around its control; of a select's only what stands before the options."""
    return (around.text or "") if role == "select" else text_content(around)


def _name(element: etree._Element, role: str, labels: dict[str | None, str]) -> Iterator[str]:
    """The control's name, where it has one; a select with its options."""
    options = [text_content(option) for option in element.iter("option")]
    around = next(element.iterancestors("label"), None)
    label = _label(around, role) if around is not None else ""
    own = text_content(element) if role in {"button", "tab"} else ""
    spoken = (
        element.get("aria-label"),
        labels.get(element.get("id")) if element.get("id") else "",
        label,
        own,
        element.get("placeholder"),
        element.get("title"),
        element.get("value") if role == "button" else "",
        element.get("name"),
    )
    name = next((text.strip() for text in spoken if text and text.strip()), "")
    if name and role == "select" and options:
        name = f"{name}: {'; '.join(options)}"
    if name:
        yield name
