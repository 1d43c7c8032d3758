"""Engines that answer in HTML: layouts, advertisements, walls and honest emptiness."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from browser.net.http import PAGE_HEADERS
from browser.search.base import Provider
from browser.search.dom import parse_html, text
from browser.search.layouts import ANY_PAGE, Headings, Layout
from browser.search.outcomes import WALL_WORDS, wall_of
from browser.types import Outcome, SearchPage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bs4 import Tag


class HtmlProvider(Provider):
    """An engine read from its result page: the first layout that yields results is taken.

    `ads` are removed beforehand. `containers` find the elements that hold results: where one
    stands without a link in it, nothing was found; `nothing` matches the sentence that says so,
    `nothing_at` finds the element that does.
    `shell` matches a page that would only draw itself with scripts: `shell_outcome` says whether
    that is how this engine turns away robots.
    """

    is_api = False
    layouts: tuple[Layout | Headings, ...] = ()
    ads: ClassVar[str] = ""
    containers: ClassVar[str] = ""
    nothing: ClassVar[re.Pattern[str] | None] = None
    nothing_at: ClassVar[str] = ""
    shell: ClassVar[re.Pattern[str] | None] = None
    shell_outcome: ClassVar[Outcome] = Outcome.ERROR

    def headers(self, lang: str | None) -> dict[str, str]:
        """Ask as a browser does, in the language of the query."""
        language = f"{lang},en;q=0.5" if lang and lang != "en" else "en-US,en;q=0.9"
        return {**PAGE_HEADERS, "Accept-Language": language}

    def refusal(
        self, body: str, status: int, url: str, headers: Mapping[str, str]
    ) -> SearchPage | None:
        """Recognise, beside the usual refusals, a redirect to a consent page."""
        if re.match(r"https?://consent\.", url):
            return SearchPage(Outcome.BLOCKED, detail="a consent page")
        return super().refusal(body, status, url, headers)

    def parse(self, body: str, url: str) -> SearchPage:
        """Read the first layout that yields results; tell nothing found from a changed page."""
        tree = parse_html(body)
        if tree is None:
            return SearchPage(Outcome.ERROR, detail="the answer is no page")
        base = self.url or url
        for paid in tree.select(self.ads) if self.ads else ():
            paid.extract()
        for layout in self.layouts:
            results = tuple(layout.read(tree, base))
            if results:
                return SearchPage(Outcome.OK, results)
        return self.without_results(tree, body, base)

    def without_results(self, tree: Tag, body: str, base: str) -> SearchPage:
        """Say why a page has no results: a wall, none found, scripts, or a new layout."""
        said = text(tree)
        if self._says_nothing(tree, said):
            return SearchPage(Outcome.EMPTY)
        wall = wall_of(body) or ("a check for robots" if WALL_WORDS.search(said) else "")
        if wall:
            return SearchPage(Outcome.BLOCKED, detail=wall)
        holders = tree.select(self.containers) if self.containers else []
        shell = self.shell is not None and self.shell.search(body)
        if holders and not shell and not any(holder.select_one("a[href]") for holder in holders):
            return SearchPage(Outcome.EMPTY)
        for layout in ANY_PAGE:
            results = tuple(layout.read(tree, base))
            if results:
                return SearchPage(Outcome.OK, results)
        if shell:
            return SearchPage(self.shell_outcome, detail="a page that needs JavaScript")
        return SearchPage(Outcome.ERROR, detail="no result could be read; changed layout?")

    def _says_nothing(self, tree: Tag, said: str) -> bool:
        if self.nothing_at and tree.select_one(self.nothing_at):
            return True
        return self.nothing is not None and bool(self.nothing.search(said))
