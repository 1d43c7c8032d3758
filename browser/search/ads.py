"""What was paid for: told by the labels that a page itself sets beside its advertisements."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lxml.html import HtmlElement

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
_HEADINGS = (
    "descendant-or-self::*[self::h1 or self::h2 or self::h3 or self::h4 or @role='heading']"
    "[not(ancestor-or-self::a)]"
)
# A label is short; what is longer speaks of advertisements.
_LONGEST = 60
# Above a result, its group and the groups around it are asked what they are called.
_HIGHEST = 6


def unpaid(
    results: Sequence[tuple[HtmlElement, HtmlElement]],
) -> list[tuple[HtmlElement, HtmlElement]]:
    """Leave out of results, each a block with its title's element, those that were paid for.

    They label themselves, or stand in a group that is called so. Where that would be all that is
    left, the group's name is not believed.
    """
    plain = [(block, title) for block, title in results if not _is_labelled(block, title)]
    outside = [(block, title) for block, title in plain if not _is_in_paid_group(block)]
    return outside or plain


def _is_labelled(block: HtmlElement, title: HtmlElement) -> bool:
    """Whether a block has a label; its title may be a word like one, and so may a bold word."""
    named = {title, *title.iterdescendants(), *title.iterancestors()}
    return any(
        _is_called_so(node) or (node not in named and _is_label(node)) for node in block.iter()
    )


def _is_called_so(node: HtmlElement) -> bool:
    return _ABOVE.fullmatch((node.get("aria-label") or "").strip()) is not None


def _is_label(node: HtmlElement) -> bool:
    if not isinstance(node.tag, str):
        return False
    said = _said(node)
    if not said or not (_ALONE.fullmatch(said) or _WITH_HOST.fullmatch(said)):
        return False
    return all(not piece.strip(_SEPARATORS) for piece in _beside(node))


def _said(node: HtmlElement) -> str:
    """The text of an element where it is as short as a label, else ''."""
    pieces: list[str] = []
    length = 0
    for piece in node.itertext():
        length += len(piece)
        if length > _LONGEST:
            return ""
        pieces.append(piece)
    return "".join(pieces).strip(_SEPARATORS)


def _beside(node: HtmlElement) -> Iterator[str]:
    """The text right before and after an element: a bold word within a sentence has some."""
    previous, parent = node.getprevious(), node.getparent()
    if previous is not None:
        yield previous.tail or ""
    elif parent is not None:
        yield parent.text or ""
    yield node.tail or ""


def _is_in_paid_group(block: HtmlElement) -> bool:
    node = block
    for _ in range(_HIGHEST):
        parent = node.getparent()
        if parent is None or parent.tag in {"body", "main"}:
            return False
        heading = next(filter(None, map(_heading_only, node.itersiblings(preceding=True))), "")
        if heading:
            return _ABOVE.fullmatch(heading) is not None
        if _is_called_so(parent):
            return True
        node = parent
    return False


def _heading_only(node: HtmlElement) -> str:
    """The text of an element that is a heading, or holds nothing but one; '' for any other."""
    if not isinstance(node.tag, str):
        return ""
    heading = next(iter(node.xpath(_HEADINGS)), None)
    if heading is None or heading.xpath(".//a[@href]"):
        return ""
    said = _said(node)
    return said if said and said == _said(heading) else ""
