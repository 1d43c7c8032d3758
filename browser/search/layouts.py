"""Describes where the results are on a result page: in a known layout, or below headings."""

from __future__ import annotations

from dataclasses import dataclass

MIN_HEADINGS = 3
"""A page with fewer linked headings may be a notice or a help page, or the headings may be in its
footer.
"""


@dataclass(frozen=True, slots=True)
class Layout:
    """CSS selectors for a result (`item`) and for the parts within it.

    `link` selects the element whose `href` is the target, `title` the title (if empty, the link
    itself), `snippet` the snippet (if empty, the longest text). `beside` is how many following
    siblings may contain the snippet.
    """

    item: str
    link: str
    title: str = ""
    snippet: str = ""
    beside: int = 0


@dataclass(frozen=True, slots=True)
class Headings:
    """Results in an unknown layout: headings that link to other sites, and the text around them.

    Class names change every month; headings do not. `heading` selects them; a page with fewer than
    `min_headings` of them has no results.
    """

    heading: str = "h2, h3, [role=heading]"
    min_headings: int = MIN_HEADINGS
