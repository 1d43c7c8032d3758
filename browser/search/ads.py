"""What was paid for: told by the labels that a page itself sets beside its advertisements."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bs4.element import NavigableString

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bs4 import Tag

# What engines write, alone, beside what was paid for ...
_LABEL = r"""(?:ads?|advertisements?|sponsored|promoted|anzeigen?|gesponserte?|werbung|annonces?
    |sponsorisé|publicité|anuncios?|patrocinado|annuncio|sponsorizzato|advertentie|gesponsord
    |sponsrad|annons|reklama|sponsorowane|реклама|広告|スポンサー|广告|廣告|광고)"""
# ... and above a row of it.
_ROW = r"(?:results?|links?|listings?|ergebnisse|treffer|inhalte)"
_ROW_FIRST = r"""(?:résultats|liens)\s+sponsorisés|(?:resultados|enlaces)\s+patrocinados
    |(?:risultati|link)\s+sponsorizzati"""
_ALONE = re.compile(rf"{_LABEL}", re.IGNORECASE | re.VERBOSE)
_WITH_HOST = re.compile(rf"{_LABEL}\s*[·•|]\s*[^\s.]+(?:\.[^\s.]+)+", re.IGNORECASE | re.VERBOSE)
_ABOVE = re.compile(rf"{_LABEL}(?:\s+{_ROW})?|{_ROW_FIRST}", re.IGNORECASE | re.VERBOSE)
_SEPARATORS = " \u00a0\t\n·•|:-–—"
_HEADINGS = ["h1", "h2", "h3", "h4"]
# A label is short; what is longer speaks of advertisements.
_LONGEST = 60
# Above a result, its group and the groups around it are asked what they are called.
_HIGHEST = 6


def unpaid(
    results: Sequence[tuple[Tag, Tag]],
) -> list[tuple[Tag, Tag]]:
    """Leave out of results, each a block with its title's element, those that were paid for.

    They label themselves, or stand in a group that is called so. Where that would be all that is
    left, the group's name is not believed.
    """
    plain = [(block, title) for block, title in results if not _is_labelled(block, title)]
    outside = [(block, title) for block, title in plain if not _is_in_paid_group(block)]
    return outside or plain


def _is_labelled(block: Tag, title: Tag) -> bool:
    """Whether a block has a label; its title may be a word like one, and so may a bold word."""
    named = {id(node) for node in (title, *title.find_all(True), *title.parents)}
    return any(
        _is_called_so(node) or (id(node) not in named and _is_label(node))
        for node in (block, *block.find_all(True))
    )


def _is_called_so(node: Tag) -> bool:
    return _ABOVE.fullmatch(str(node.get("aria-label") or "").strip()) is not None


def _is_label(node: Tag) -> bool:
    said = _said(node)
    if not said or not (_ALONE.fullmatch(said) or _WITH_HOST.fullmatch(said)):
        return False
    # A bold word within a sentence has text right before or behind it.
    beside = (node.previous_sibling, node.next_sibling)
    return not any(isinstance(s, NavigableString) and s.strip(_SEPARATORS) for s in beside)


def _said(node: Tag) -> str:
    """The text of an element where it is as short as a label, else ''."""
    pieces: list[str] = []
    length = 0
    for piece in node.strings:
        length += len(piece)
        if length > _LONGEST:
            return ""
        pieces.append(piece)
    return "".join(pieces).strip(_SEPARATORS)


def _is_in_paid_group(block: Tag) -> bool:
    node = block
    for _ in range(_HIGHEST):
        parent = node.parent
        if parent is None or parent.name in {"body", "main", "[document]"}:
            return False
        before = node.find_previous_siblings(True)
        heading = next(filter(None, map(_heading_only, before)), "")
        if heading:
            return _ABOVE.fullmatch(heading) is not None
        if _is_called_so(parent):
            return True
        node = parent
    return False


def _heading_only(node: Tag) -> str:
    """The text of an element that is a heading, or holds nothing but one; '' for any other."""
    said = _said(node)
    if not said:
        return ""
    heading = next((n for n in (node, *node.find_all(True)) if _is_heading(n)), None)
    if heading is None or heading.find("a", href=True) is not None:
        return ""
    return said if said == _said(heading) else ""


def _is_heading(node: Tag) -> bool:
    named = node.name in _HEADINGS or node.get("role") == "heading"
    return named and node.name != "a" and node.find_parent("a") is None
