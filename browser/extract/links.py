"""Reads a page's links, including which one leads to the next page, and its form controls."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urldefrag, urlsplit

from browser.extract.regions import FRAME_TAGS, LANDMARK_ROLES
from browser.extract.tree import finder, text_content
from browser.net.url import join
from browser.text.words import clean
from browser.types import Link

if TYPE_CHECKING:
    from lxml import etree

_NEXT_TEXT = re.compile(
    r"\W*(?:next(?: page)?|older(?: posts| entries)?|more results|weiter|nächste(?: seite)?|"
    r"page suivante|suivante?|siguiente|próxima|avanti|volgende|次へ|下一页)\W*|[›»→>]{1,2}",
    re.IGNORECASE,
)
# A page with more links is an index; its remaining links are left out.
MAX_LINKS = 2_000


def read_links(root: etree._Element, base: str) -> tuple[Link, ...]:
    """Collect `a[href]` and `link[rel=next]`; a link's text may also mark it as `next`."""
    found: dict[str, Link] = {}
    here = urldefrag(base)[0]
    for element in root.iter("a", "area", "link"):
        href = (element.get("href") or "").strip()
        if not href or href.startswith("#"):
            continue
        rel = (element.get("rel") or "").lower().split()
        if element.tag == "link" and "next" not in rel:
            continue
        url = join(base, href)
        same_page = "#" in url and urldefrag(url)[0] == here
        if same_page or not url.startswith(("http://", "https://", "file://")):
            continue
        label = element.get("aria-label") or ""
        text = text_content(element)
        if not text:
            image = next(element.iterdescendants("img"), None)
            alt = image.get("alt") if image is not None else None
            text = clean(" ".join((label or element.get("title") or alt or "").split()))
        is_next = "next" in rel or any(map(_NEXT_TEXT.fullmatch, filter(None, (text, label))))
        link = Link(url, text, "next" if is_next else " ".join(rel))
        known = found.setdefault(url, link)
        if (is_next and known.rel != "next") or (text and not known.text):
            found[url] = link
        if len(found) >= MAX_LINKS:
            break
    return tuple(found.values())


def embedded_pdf(root: etree._Element, base: str) -> str:
    """The address of the first PDF that a page shows in a frame; "" if there is none."""
    for frame in root.iter("embed", "object", "iframe", "frame"):
        source = join(base, (frame.get("src") or frame.get("data") or "").strip())
        parts = urlsplit(source)
        # A PDF viewer takes the file as a parameter.
        named = next(iter(parse_qs(parts.query).get("file", ())), "")
        if named.lower().endswith(".pdf"):
            return join(source, named)
        if parts.path.lower().endswith(".pdf") or frame.get("type") == "application/pdf":
            return source
    return ""


# If a page has more controls, most of them are similar.
_MAX_CONTROLS = 8
_MAX_NAME_CHARS = 80
# Of 491 invisible labels on 250 pages, 19 are longer.
_MAX_LABEL_CHARS = 60
_FRAME_TAGS = FRAME_TAGS | {"header", "th"}
_FRAME_ROLES = LANDMARK_ROLES | {"banner"}
_CONTROL_ROLES = frozenset(
    ("button", "tab", "searchbox", "textbox", "combobox", "switch", "slider")
)
_ROLES = {"select": "select", "textarea": "textbox", "button": "button", "input": "textbox"}
_INPUT_ROLES = {
    "search": "searchbox", "checkbox": "checkbox", "radio": "radio", "number": "spinbutton",
    "submit": "button",
    **dict.fromkeys(("hidden", "button", "image", "reset", "password", "file"), ""),
}  # fmt: skip
_possible_controls = finder("//@role/..", *(f"//{tag}" for tag in _ROLES))


def main_controls(root: etree._Element) -> tuple[str, ...]:
    """List the content's form controls: `searchbox Search the collection`, `select Season: Summer`.

    A visible name is preferred; an invisible one is marked `(label only)`. Controls in the header,
    navigation, footer and table headers are left out, as are search fields outside the main part.
    At most eight controls are listed, without duplicates.
    """
    main = root.find(".//main")
    labels = {e.get("for"): text_content(e) for e in root.iter("label") if e.get("for")}
    found = {}
    for element in _possible_controls(root):
        role = (element.get("role") or "").lower()
        if role not in _CONTROL_ROLES:
            role = _ROLES.get(element.tag, "")
            if element.tag == "input":
                role = _INPUT_ROLES.get((element.get("type") or "").lower(), role)
        if (
            role
            and not _is_outside_content(element, main)
            and (name := _name(element, role, labels))
        ):
            found[f"{role} {name[:_MAX_NAME_CHARS]}"] = True
    return tuple(found)[:_MAX_CONTROLS]


def _is_outside_content(element: etree._Element, main: etree._Element | None) -> bool:
    outside = main is not None
    search = False
    for above in element.iterancestors():
        role = (above.get("role") or "").lower()
        if above is main:
            outside = False
        elif above.tag in _FRAME_TAGS or role in _FRAME_ROLES:
            return True
        search = search or role == "search"
    return outside or (main is None and search)


def _name(element: etree._Element, role: str, labels: dict[str | None, str]) -> str:
    """The control's name; "" if it has none. A select's name includes its options."""
    wrapper = next(element.iterancestors("label"), None)
    label = None
    if wrapper is not None:  # a select's label ends before the options
        label = wrapper.text if role == "select" else text_content(wrapper)
    visible = (
        text_content(element) if role in {"button", "tab"} else "",
        labels.get(element.get("id")) if element.get("id") else "",
        label,
        element.get("placeholder") if not element.get("value") else "",
        element.get("value") if role == "button" else "",
    )
    name = _first_text(*visible)
    if not name and (hidden := _first_text(element.get("aria-label"), element.get("title"))):
        name = f"{hidden[:_MAX_LABEL_CHARS]} (label only)"
    name = name or _first_text(element.get("name"))
    options = [text_content(option) for option in element.iter("option")]
    return f"{name}: {'; '.join(options)}" if name and role == "select" and options else name


def _first_text(*texts: str | None) -> str:
    return next((text.strip() for text in texts if text and text.strip()), "")
