"""A PDF's outline: which lines of which page are headings."""

from __future__ import annotations

from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING

import pypdfium2

from browser.text import clean

if TYPE_CHECKING:
    from collections.abc import Mapping

# A book of a thousand pages has a few hundred; one that goes in circles has no end.
_MOST_ENTRIES = 5_000
_DEEPEST = 6


class Outline:
    """The entries of an outline by page."""

    def __init__(self, by_page: Mapping[int, Mapping[str, int]]) -> None:
        self._by_page = by_page

    @classmethod
    def of(cls, pdf: pypdfium2.PdfDocument) -> Outline:
        """Read the outline; an empty one where there is none, or a broken one."""
        found: dict[int, dict[str, int]] = defaultdict(dict)
        try:
            for entry in islice(pdf.get_toc(max_depth=_DEEPEST), _MOST_ENTRIES):
                target = entry.get_dest()
                page = target.get_index() if target else None
                if page is not None:
                    found[page][key(entry.get_title())] = entry.level + 1
        except pypdfium2.PdfiumError:
            return cls({})
        return cls(found)

    def titles(self, page: int) -> Mapping[str, int]:
        """The headings of a page: `key` of their words to their level, from 1."""
        return self._by_page.get(page, {})


def key(text: str) -> str:
    """What two writings of one heading have in common: letters and digits."""
    return "".join(character for character in clean(text).casefold() if character.isalnum())
