"""Pages on which each clickable element is labelled, and which elements get a ref.

Elements whose click reaches a handler on the page have `data-click="yes"`, including those in
shadow roots, frames and under delegated listeners.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from browser.page import injected

if TYPE_CHECKING:
    from browser.page.tab import Tab
    from browser.session.session import Browser
    from tests.browser.page.pages import Pages

FOLDER = Path(__file__).parent / "labelled"
INNER = "frames-inner.html"  # shown inside another page
_ROOTS = """<script>{ const attach = Element.prototype.attachShadow;
Element.prototype.attachShadow = function (options) {
  return this.root = attach.call(this, options); } }</script>"""
"""Gives this test access to closed roots, which stay closed to everyone else."""
_LABELLED = """() => { const found = [], scopes = [document];
  while (scopes.length) for (const element of scopes.pop().querySelectorAll('*')) {
    if (element.dataset?.click === 'yes') found.push(element);
    if (element.root) scopes.push(element.root);
  }
  return found; }"""
_TEXT = "e => e.tagName + ' ' + (e.textContent || e.id || e.className.baseVal || e.className)"


@dataclass(frozen=True)
class Labels:
    """One page: how many elements are labelled, those without a ref, and refs beyond the labels."""

    page: str
    labelled: int
    missed: tuple[str, ...]
    refs: int


async def labels(browser: Browser, pages: Pages) -> list[Labels]:
    """Examine every labelled page."""
    for path in FOLDER.glob("*.html"):
        text = path.read_text(encoding="utf-8").replace("OTHER", f"{pages.other}/labelled")
        pages.put(text.replace("</title>", f"</title>{_ROOTS}", 1), f"/labelled/{path.name}")
    names = sorted(path.name for path in FOLDER.glob("*.html") if path.name != INNER)
    return [await _labels_of(browser, f"{pages.base}/labelled/{name}") for name in names]


async def _labels_of(browser: Browser, url: str) -> Labels:
    tab = await browser.open(url)
    try:
        snapshot = await tab.snapshot(budget=None)
        shown = set(re.findall(r"\[((?:f\d+)?e\d+)\b", snapshot.text))
        labelled, missed = await _missed(tab, shown)
    finally:
        await browser.close(tab)
    return Labels(url.rpartition("/")[2], labelled, tuple(missed), len(snapshot.refs))


async def _missed(tab: Tab, shown: set[str]) -> tuple[int, list[str]]:
    count, missed = 0, []
    for frame in tab.page.frames:
        listed = await frame.evaluate_handle(_LABELLED)
        for handle in (await listed.get_properties()).values():
            element = handle.as_element()
            assert element
            count += 1
            if await injected.call(frame, "known", element) not in shown:
                missed.append(str(await element.evaluate(_TEXT))[:60])
    return count, missed
