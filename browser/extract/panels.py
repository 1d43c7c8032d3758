"""Finds the panels that the user can unfold: accordions, tabs, and other collapsed sections.

One click shows the text of such a panel, so it belongs to the page, and it is marked as folded.
`<details>` needs no search: `blocks` marks its content. Hidden text without a control is no panel;
neither are menus, dialogs, search boxes, filters and tooltips, although a control opens them.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, NamedTuple

from browser.extract.tree import BLOCK_TAGS, FOLDED_MARK, LABEL_MARK, finder, raw_text
from browser.extract.weighing import MAJORITY, unlinked_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lxml import etree

_find_controls = finder(
    *(f"//@{name}/.." for name in ("aria-controls", "aria-expanded", "data-toggle")),
    "//@data-bs-toggle/..",
)
_find_ids = finder("//@id/..")
_find_fields = finder(".//input[not(@type='hidden')]", ".//select", ".//textarea")
_HEADING_TAGS = frozenset("h1 h2 h3 h4 h5 h6 dt".split())
# Bootstrap's controls that open a part of the page; its others open menus, dialogs and tooltips.
_TAB_TOGGLES = frozenset(("tab", "pill"))
_TOGGLES = _TAB_TOGGLES | {"collapse"}
_TARGET_ATTRIBUTES = ("data-bs-target", "data-target", "href")
# A panel with the first class and none of the others is closed.
_CLOSED_CLASSES = (
    ("collapse", frozenset(("in", "show"))), ("tab-pane", frozenset(("active",))),
)  # fmt: skip
_FIELD_TAGS = frozenset("input select textarea".split())
_NEVER_CONTROLS = frozenset("combobox searchbox menuitem textbox listbox option".split())
# Rows and cells cannot be marked as folded, because a table is one block.
_NEVER_PANELS = frozenset(
    """html body main tbody thead tr td th dialog template script style noscript head svg iframe
    object button""".split()
)
# Limits: controls on a page, elements around a control, and elements that enclose only one panel.
_MAX_CONTROLS = 500
_MAX_ANCESTORS = 64
_MAX_WRAPPERS = 4
_WORD = re.compile(r"\w")


class _PanelKind(NamedTuple):
    """The elements that count as a panel, none if it is not content; and whether it is links."""

    wrappers: frozenset[etree._Element] = frozenset()
    is_mostly_links: bool = False


def find_panels(
    root: etree._Element,
    is_hidden: Callable[[etree._Element], bool],
    is_frame: Callable[[etree._Element], bool],
) -> set[etree._Element]:
    """Return the panels of a page that a visible control opens, except in frames.

    An element that encloses nothing but a panel counts as the panel, as the page may hide either.
    Panels that their control reports as closed are marked as folded, whether `is_hidden` finds that
    they are hidden or not: an external style sheet, which is not fetched, may hide them.
    """
    controls = [c for c in _find_controls(root)[:_MAX_CONTROLS] if _may_open_content(c)]
    by_id = {e.get("id"): e for e in reversed(_find_ids(root))} if controls else {}
    kinds: dict[etree._Element, _PanelKind] = {}
    closed: dict[etree._Element, bool] = {}
    panels: set[etree._Element] = set()
    for control in controls:
        around = list(itertools.islice(control.iterancestors(), _MAX_ANCESTORS))
        if any(e not in panels and is_hidden(e) for e in (control, *around)):
            continue
        named = by_id.get(_target(control))
        panel = _next_panel(control, is_hidden) if named is None else named
        if panel is None or panel in around:
            continue
        if panel not in kinds:
            kinds[panel] = _kind(panel, is_frame)
        if not _opens_content(control, kinds[panel], is_frame):
            continue
        panels.update(wrappers := kinds[panel].wrappers)
        if _element_after(control) in wrappers:
            control.set(LABEL_MARK, "")
        if named is not None:  # a panel of several tabs is closed if none of them is selected
            closed[panel] = closed.get(panel, True) and _is_closed(control, panel)
    for panel in (panel for panel, is_closed in closed.items() if is_closed):
        mark_folded(panel)
    return panels


def mark_folded(panel: etree._Element) -> None:
    """Mark a panel's text as text that the user can unfold; it becomes a block of its own."""
    if panel.tag not in BLOCK_TAGS:
        panel.tag = "div"
    panel.set(FOLDED_MARK, "")


def _may_open_content(control: etree._Element) -> bool:
    """Whether an element with words is a control that may open a part of the article."""
    if control.tag in _FIELD_TAGS or control.get("role") in _NEVER_CONTROLS:
        return False
    if control.get("aria-haspopup", "false") != "false":
        return False
    heading = _heading(control)
    return (
        heading is not None
        or control.get("role") == "tab"
        or control.get("aria-expanded") in {"true", "false"}
        or _toggle(control) in _TOGGLES
    ) and _WORD.search(raw_text(control if heading is None else heading)) is not None


def _heading(control: etree._Element) -> etree._Element | None:
    around = itertools.islice(control.iterancestors(), 2)
    return next((e for e in around if e.tag in _HEADING_TAGS), None)


def _toggle(control: etree._Element) -> str:
    return control.get("data-bs-toggle") or control.get("data-toggle") or ""


def _target(control: etree._Element) -> str | None:
    """The id of the element that a control opens."""
    if name := control.get("aria-controls"):
        return name
    if _toggle(control) not in _TOGGLES:
        return None
    targets = (control.get(name) or "" for name in _TARGET_ATTRIBUTES)
    return next((target[1:] for target in targets if target.startswith("#")), None)


def _is_closed(control: etree._Element, panel: etree._Element) -> bool:
    """Whether a control reports its panel as closed, or Bootstrap's classes do."""
    if state := control.get("aria-selected" if control.get("role") == "tab" else "aria-expanded"):
        return state == "false"
    names = (panel.get("class") or "").split()
    return any(name in names and shown.isdisjoint(names) for name, shown in _CLOSED_CLASSES)


def _next_panel(
    control: etree._Element, is_hidden: Callable[[etree._Element], bool]
) -> etree._Element | None:
    """The hidden element after a control that names none."""
    if control.get("aria-expanded") is None:
        return None
    after = _element_after(control)
    return after if after is not None and is_hidden(after) else None


def _element_after(control: etree._Element) -> etree._Element | None:
    """The element after a control, or after what encloses only the control."""
    *_, outermost = _around(control)
    return outermost.getnext()


def _around(element: etree._Element) -> Iterator[etree._Element]:
    """An element, and the elements around it that contain no other text."""
    yield element
    for around in itertools.islice(element.iterancestors(), _MAX_WRAPPERS):
        if around.tag in _NEVER_PANELS or not _has_only(around, element):
            return
        yield around
        element = around


def _has_only(parent: etree._Element, child: etree._Element) -> bool:
    """Whether a child contains all of its parent's text; stops at the first other text."""
    others = (e for e in parent if e is not child and isinstance(e.tag, str))
    texts = itertools.chain(
        itertools.chain.from_iterable(e.itertext() for e in others),
        [parent.text or ""],
        (e.tail or "" for e in parent),
    )
    return not any(text.strip() for text in texts)


def _wrappers(panel: etree._Element) -> Iterator[etree._Element]:
    """A panel, and the elements around it and in it that have the same text."""
    yield from _around(panel)
    for _ in range(_MAX_WRAPPERS):
        inner = next((e for e in panel if isinstance(e.tag, str) and _has_only(panel, e)), None)
        if inner is None or inner.tag in _NEVER_PANELS:
            return
        yield inner
        panel = inner


def _kind(panel: etree._Element, is_frame: Callable[[etree._Element], bool]) -> _PanelKind:
    """Describe a panel, once for all of its controls."""
    if (
        panel.tag in _NEVER_PANELS
        or panel.get("popover") is not None
        or not _WORD.search(raw_text(panel))
        or _find_fields(panel)
        or is_frame(panel)
    ):
        return _PanelKind()
    return _PanelKind(frozenset(_wrappers(panel)), _is_mostly_links(panel))


def _opens_content(
    control: etree._Element, kind: _PanelKind, is_frame: Callable[[etree._Element], bool]
) -> bool:
    """Whether a control opens a part of the article: no navigation, form or list of links."""
    is_tab = control.get("role") == "tab" or _toggle(control) in _TAB_TOGGLES
    is_named = is_tab or _heading(control) is not None
    if not kind.wrappers or (kind.is_mostly_links and not is_named):
        return False
    return is_tab or not is_frame(control)  # lists of tabs may be named `nav`


def _is_mostly_links(panel: etree._Element) -> bool:
    """Whether most of a panel's text is in links and controls."""
    chars = sum(len("".join(text.split())) for text in unlinked_texts([panel]))
    return chars < MAJORITY * len("".join(raw_text(panel).split()))
