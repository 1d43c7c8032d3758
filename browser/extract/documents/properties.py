"""What office documents say of themselves: title, author, dates, language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.extract.dates import iso_date
from browser.extract.documents.composer import Facts

if TYPE_CHECKING:
    from lxml import etree

    from browser.extract.documents.archive import Archive

_CORE = "docProps/core.xml"


def core_properties(archive: Archive) -> Facts:
    """Read the Dublin Core of an Office Open XML file; empty where it has none."""
    root = archive.tree(_CORE)
    return dublin_core(root) if root is not None else Facts()


def dublin_core(root: etree._Element) -> Facts:
    """Read title, creators, dates, language and description, whatever their namespace."""
    return Facts(
        title=_first(root, "title"),
        author=", ".join(dict.fromkeys(_all(root, "creator") or _all(root, "initial-creator")))
        or None,
        published=iso_date(_first(root, "created", "creation-date", "date")),
        modified=iso_date(_first(root, "modified")),
        language=_first(root, "language") or None,
        description=_first(root, "description", "subject") or None,
    )


def _first(root: etree._Element, *names: str) -> str:
    return next((text for name in names for text in _all(root, name)), "")


def _all(root: etree._Element, name: str) -> list[str]:
    texts = (" ".join("".join(map(str, e.itertext())).split()) for e in root.iter(f"{{*}}{name}"))
    return [text for text in texts if text]
