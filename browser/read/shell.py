"""Evidence that a page gets its content from scripts, so that only a browser can read it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from browser.extract.tree import parse_html, raw_text, text_content
from browser.text import count_words

if TYPE_CHECKING:
    from lxml import etree

    from browser.types import Document

# A page with so many words reads well without scripts, whatever else they may add.
_ENOUGH_WORDS = 150
# With fewer, a page that runs scripts has shown next to nothing.
_NOTHING_WORDS = 6
_LOADING = re.compile(
    r"\W*(?:loading|please wait|wird geladen|laden|chargement|cargando|one moment)\W*",
    re.IGNORECASE,
)
_NEEDS_SCRIPT = re.compile(
    r"(?:enable|activate|requires?|turn on|need(?:s)? to enable|aktivieren sie|activez)"
    r"[^.]{0,40}java ?script|java ?script[^.]{0,40}(?:is required|is disabled|must be enabled|"
    r"to run this app|aktivieren|benötigt|erforderlich)|(?:without|no) java ?script",
    re.IGNORECASE,
)
_MOUNTS = frozenset(("root", "app", "__next", "__nuxt", "___gatsby", "main", "content", "q-app"))
_CONTAINERS = ("div", "main", "section", "article", "ul", "ol", "tbody", "table", "p", "span", "dl")


def needs_browser(page: str, document: Document) -> str:
    """One line that says why a browser is needed, or an empty string."""
    words = count_words(document.text)
    if words >= _ENOUGH_WORDS:
        return ""
    root = parse_html(page)
    scripts = [element for element in root.iter("script") if _runs(element)]
    if frame := _frame(root):
        return frame
    if not scripts:
        return ""
    return _by_words(root, document.text, words) or _by_holes(root, scripts)


def _by_words(root: etree._Element, text: str, words: int) -> str:
    noscript = " ".join(text_content(element) for element in root.iter("noscript"))
    if _NEEDS_SCRIPT.search(f"{text} {noscript}"):
        return "the page says that it needs JavaScript"
    if words <= _NOTHING_WORDS:
        return f"an empty shell: {words} words without its scripts"
    return ""


def _by_holes(root: etree._Element, scripts: list[etree._Element]) -> str:
    code = "\n".join(script.text or "" for script in scripts)
    for element in root.iter():
        if not isinstance(element.tag, str) or not _is_hole(element):
            continue
        name = element.get("id") or ""
        if "-" in element.tag or name in _MOUNTS or (name and _mentions(code, name)):
            return f"scripts fill <{element.tag}{f' id={name}' if name else ''}>"
    return ""


def _is_hole(element: etree._Element) -> bool:
    if "-" not in element.tag and element.tag not in _CONTAINERS:
        return False
    if any(child.tag not in {"template", "tbody"} for child in element):
        return False
    text = raw_text(element).strip()
    return not text or _LOADING.fullmatch(text) is not None


def _mentions(code: str, name: str) -> bool:
    return re.search(rf"""["'`]#?{re.escape(name)}["'`]""", code) is not None


def _runs(script: etree._Element) -> bool:
    kind = (script.get("type") or "text/javascript").split(";")[0].strip().lower()
    return kind in {"module", ""} or "javascript" in kind or "ecmascript" in kind


def _frame(root: etree._Element) -> str:
    for element in root.iter("iframe", "frame"):
        source = element.get("src") or ""
        local = not re.match(r"(?:[a-z]+:)?//", source, re.IGNORECASE)
        if element.get("srcdoc") or (source and local and not source.startswith("about:")):
            return "its content stands in a frame"
    return ""
